package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"mkfs/internal/ondisk"
)

// dumper describes a filesystem image in lines of text. It finds its way by
// the image's own superblock and knows nothing of what ought to be there, so
// that it serves images of any origin. Fields that are zero are left out, and
// things that say the same (the headers of AGs, the inodes of a chunk) appear
// once, under a title with all their numbers.
type dumper struct {
	data io.ReaderAt
	sb   ondisk.Superblock
	out  strings.Builder
}

// dumpImage describes a data section and the log in it.
func dumpImage(data io.ReaderAt) string {
	d := &dumper{data: data}
	raw := d.read(0, sector)
	var ok bool
	if d.sb, ok = ondisk.DecodeSuperblock(raw); !ok {
		return "no superblock\n"
	}
	if d.sb.SectorSize == 0 || d.sb.BlockSize == 0 || d.sb.InodeSize == 0 || d.sb.AGCount > 1<<20 {
		return "superblock makes no sense:\n" + fields(d.sb, nil)
	}
	raw = d.read(0, int64(d.sb.SectorSize))
	d.section("superblock 0", fields(d.sb, d.seal(raw, ondisk.SuperblockCRC)))
	d.grouped("superblock", 1, d.sb.AGCount, ", where it differs from 0", d.secondary)
	d.grouped("ag", 0, d.sb.AGCount, "", d.ag)
	d.inodes()
	if d.sb.LogStart != 0 {
		d.out.WriteString(dumpLog(data, d.fsblock(d.sb.LogStart)))
	}
	return d.out.String()
}

// dumpLog describes the first record of a log that starts at off.
func dumpLog(data io.ReaderAt, off int64) string {
	d := &dumper{data: data}
	const block, most = 512, 512 << 10
	raw := d.read(off, most)
	r, ok := ondisk.DecodeLogRecord(raw)
	if !ok {
		return "no log record\n"
	}
	headers := 1
	if r.Version == 2 {
		headers = max(1, min(8, int(r.Size/(32<<10))))
	}
	stamped := 0
	for at := block; at < most && binary.BigEndian.Uint32(raw[at:]) == r.Cycle; at += block {
		stamped++
	}
	text := fields(r, nil)
	text += fmt.Sprintf("Operation % x\n", raw[headers*block:][:24])
	text += fmt.Sprintf("BlocksOfCycle %d\n", stamped)
	d.section("log record", text)
	return d.out.String()
}

// dumpRealtime describes the superblock that a realtime device may begin with.
func dumpRealtime(data io.ReaderAt) string {
	d := &dumper{data: data}
	r, ok := ondisk.DecodeRTSuper(d.read(0, sector))
	if !ok {
		return "no realtime superblock\n"
	}
	d.section("realtime superblock", fields(r, nil))
	return d.out.String()
}

// read reads n bytes, zeros where the image ends early.
func (d *dumper) read(off, n int64) []byte {
	b := make([]byte, n)
	d.data.ReadAt(b, off) // what cannot be read shows as zeros
	return b
}

func (d *dumper) section(title, text string) {
	fmt.Fprintf(&d.out, "%s:\n", title)
	for line := range strings.Lines(text) {
		fmt.Fprintf(&d.out, "  %s", line)
	}
}

// grouped describes things numbered first to end-1, those alike together.
func (d *dumper) grouped(name string, first, end uint32, tail string, describe func(uint32) string) {
	var texts []string
	members := map[string][]uint32{}
	for n := first; n < end; n++ {
		text := describe(n)
		if members[text] == nil {
			texts = append(texts, text)
		}
		members[text] = append(members[text], n)
	}
	for _, text := range texts {
		d.section(name+" "+sequence(members[text])+tail, text)
	}
}

// words are texts for fields, by name, in place of their values.
type words map[string]string

// seal tells whether a V5 structure's checksum is right.
func (d *dumper) seal(raw []byte, field int) words {
	w := words{}
	if d.sb.IsV5() {
		w["CRC"] = "BAD"
		if ondisk.Sealed(raw, field) {
			w["CRC"] = "good"
		}
	}
	return w
}

// own says so where a field has its structure's own number or the
// filesystem's own UUID, as it ought to; structures that differ in nothing
// else are then alike.
func own[T comparable](w words, field string, have, want T) words {
	if have == want {
		w[field] = "own"
	}
	return w
}

// v5 is seal and own for the two fields that V5 gives each structure.
func (d *dumper) v5(raw []byte, crc int, id ondisk.UUID) words {
	if !d.sb.IsV5() {
		return words{}
	}
	return own(d.seal(raw, crc), "UUID", id, d.sb.UUID)
}

func (d *dumper) agOffset(agno uint32) int64 {
	return int64(agno) * int64(d.sb.AGBlocks) * int64(d.sb.BlockSize)
}

// fsblock is the offset of a block whose address has the AG's number in its upper bits.
func (d *dumper) fsblock(fsb uint64) int64 {
	agbno := fsb & (1<<d.sb.AGBlockLog - 1)
	return d.agOffset(uint32(fsb>>d.sb.AGBlockLog)) + int64(agbno)*int64(d.sb.BlockSize)
}

func (d *dumper) secondary(agno uint32) string {
	raw := d.read(d.agOffset(agno), int64(d.sb.SectorSize))
	s, ok := ondisk.DecodeSuperblock(raw)
	if !ok {
		return "none\n"
	}
	var text strings.Builder
	was, is := reflect.ValueOf(d.sb), reflect.ValueOf(s)
	for i := range was.NumField() {
		name := was.Type().Field(i).Name
		if name != "CRC" && was.Field(i).Interface() != is.Field(i).Interface() {
			fmt.Fprintf(&text, "%s %s\n", name, value(is.Field(i)))
		}
	}
	if state, ok := d.seal(raw, ondisk.SuperblockCRC)["CRC"]; ok {
		fmt.Fprintf(&text, "CRC %s\n", state)
	}
	return text.String()
}

// ag describes the headers and btrees of an AG.
func (d *dumper) ag(agno uint32) string {
	var sub dumper
	at, sector := d.agOffset(agno), int64(d.sb.SectorSize)
	raw := d.read(at+sector, sector)
	agf, ok := ondisk.DecodeAGF(raw)
	if !ok {
		return "no AGF\n"
	}
	sub.section("agf", fields(agf, own(d.v5(raw, ondisk.AGFCRC, agf.UUID), "Seqno", agf.Seqno, agno)))
	raw = d.read(at+2*sector, sector)
	agi, ok := ondisk.DecodeAGI(raw)
	if !ok {
		return sub.out.String() + "no AGI\n"
	}
	sub.section("agi", fields(agi, own(d.v5(raw, ondisk.AGICRC, agi.UUID), "Seqno", agi.Seqno, agno)))
	sub.section("agfl", d.freeList(agno, at+3*sector))
	for _, tree := range []struct {
		name        string
		root, level uint32
		records     func(b []byte, sparse bool) string
		size        int
	}{
		{"bnobt", agf.BnoRoot, agf.BnoLevel, allocRecord, ondisk.AllocRecordSize},
		{"cntbt", agf.CntRoot, agf.CntLevel, allocRecord, ondisk.AllocRecordSize},
		{"inobt", agi.Root, agi.Level, inodeRecord, ondisk.InodeRecordSize},
		{"finobt", agi.FreeRoot, agi.FreeLevel, inodeRecord, ondisk.InodeRecordSize},
		{"rmapbt", agf.RmapRoot, agf.RmapLevel, rmapRecord, ondisk.RmapRecordSize},
		{"refcountbt", agf.RefcountRoot, agf.RefcountLevel, refcountRecord, ondisk.RefcountRecordSize},
	} {
		if tree.root != 0 {
			title := fmt.Sprintf("%s, block %d", tree.name, tree.root)
			sub.section(title, d.btree(agno, tree.root, tree.size, tree.records))
		}
	}
	return sub.out.String()
}

func (d *dumper) freeList(agno uint32, off int64) string {
	raw := d.read(off, int64(d.sb.SectorSize))
	text := ""
	if d.sb.IsV5() {
		agfl, ok := ondisk.DecodeAGFL(raw)
		if !ok {
			return "none\n"
		}
		text = fields(agfl, own(d.v5(raw, ondisk.AGFLCRC, agfl.UUID), "Seqno", agfl.Seqno, agno))
	}
	list := ondisk.FreeList(raw, d.sb.IsV5())
	slots := make([]uint32, len(list)/4)
	for i := range slots {
		slots[i] = ondisk.FreeListEntry(list, i)
	}
	return text + "Slots " + sequence(slots) + "\n"
}

// btree describes a leaf: its records, and what removed ones left behind them.
func (d *dumper) btree(agno, root uint32, size int, record func([]byte, bool) string) string {
	off := d.agOffset(agno) + int64(root)*int64(d.sb.BlockSize)
	raw := d.read(off, int64(d.sb.BlockSize))
	v5 := d.sb.IsV5()
	h, _ := ondisk.DecodeBtreeBlock(raw, v5)
	special, at := d.v5(raw, ondisk.BtreeCRC, h.UUID), ondisk.BtreeHeaderV4
	if v5 {
		own(special, "Owner", h.Owner, agno)
		own(special, "Blkno", h.Blkno, uint64(off)/512)
		at = ondisk.BtreeHeader
	}
	special["Magic"] = fmt.Sprintf("%q", binary.BigEndian.AppendUint32(nil, uint32(h.Magic)))
	text := strings.ReplaceAll(strings.TrimSpace(fields(h, special)), "\n", ", ") + "\n"
	if h.Level > 0 {
		return text + nodeSlots(raw[at:], h)
	}
	sparse := d.sb.Incompat&ondisk.IncompatSparse != 0
	for i := 0; at+size <= len(raw); i, at = i+1, at+size {
		slot := raw[at : at+size]
		kind := "record"
		if i >= int(h.Records) {
			if slices.Max(slot) == 0 {
				break
			}
			kind = "remains"
		}
		text += fmt.Sprintf("%s %s\n", kind, record(slot, sparse))
	}
	return text
}

// nodeSlots describes the keys and pointers of a node.
func nodeSlots(entries []byte, h ondisk.BtreeBlock) (text string) {
	key := ondisk.InodeKeySize
	if h.Magic == ondisk.RmapMagic {
		key = 2 * ondisk.RmapKeySize
	}
	keys, pointers := ondisk.BtreeNode(entries, key, ondisk.BtreePointerSize)
	for i := 0; (i+1)*key <= len(keys); i++ {
		slot, below := keys[i*key:][:key], binary.BigEndian.Uint32(pointers[ondisk.BtreePointerSize*i:])
		kind := "key"
		if i >= int(h.Records) {
			if below == 0 && slices.Max(slot) == 0 {
				break
			}
			kind = "remains"
		}
		text += fmt.Sprintf("%s %x block %d\n", kind, slot, below)
	}
	return text
}

func allocRecord(b []byte, _ bool) string {
	r := ondisk.DecodeAllocRecord(b)
	return fmt.Sprintf("start %d blocks %d", r.Start, r.Blocks)
}

func inodeRecord(b []byte, sparse bool) string {
	r := ondisk.DecodeInodeRecord(b, sparse)
	if !sparse {
		return fmt.Sprintf("start %d free %d mask %#x", r.Start, r.FreeCount, r.Free)
	}
	return fmt.Sprintf("start %d holes %#x count %d free %d mask %#x", r.Start, r.HoleMask, r.Count, r.FreeCount, r.Free)
}

func rmapRecord(b []byte, _ bool) string {
	r := ondisk.DecodeRmapRecord(b)
	return fmt.Sprintf("start %d blocks %d owner %d offset %d", r.Start, r.Blocks, int64(r.Owner), r.Offset)
}

func refcountRecord(b []byte, _ bool) string {
	r := ondisk.DecodeRefcountRecord(b)
	return fmt.Sprintf("start %d blocks %d count %d", r.Start, r.Blocks, r.Count)
}

// inodes describes the chunk that begins with the root inode.
func (d *dumper) inodes() {
	inopblog := d.sb.InodeBlockLog
	off := d.fsblock(d.sb.RootInode >> inopblog)
	d.grouped("inode root +", 0, max(64, uint32(d.sb.InodesPerBlock)), "", func(n uint32) string {
		size := int64(d.sb.InodeSize)
		raw := d.read(off+int64(n)*size, size)
		i, ok := ondisk.DecodeInode(raw)
		if !ok {
			return "none\n"
		}
		special := d.v5(raw, ondisk.InodeCRC, i.UUID)
		if d.sb.IsV5() {
			own(special, "Number", i.Number, d.sb.RootInode+uint64(n))
		}
		special["Mode"] = fmt.Sprintf("%#o", i.Mode)
		text := fields(i, special)
		literal := raw[ondisk.CoreSize(d.sb.IsV5()):]
		if i.Format == ondisk.FormatLocal {
			if parent, ok := ondisk.DecodeEmptyDir(literal); ok {
				text += fmt.Sprintf("directory, parent %d\n", parent)
			} else {
				text += "directory that is not empty\n"
			}
		}
		if i.ForkOffset != 0 {
			attrs, ok := ondisk.DecodeAttrs(literal[int(i.ForkOffset)*8:])
			if !ok {
				text += "attributes make no sense\n"
			}
			for _, a := range attrs {
				text += fmt.Sprintf("attribute flags %#x %q = %q\n", a.Flags, a.Name, a.Value)
			}
		}
		return text
	})
}

// fields is a line for each field of a struct that is not zero, and for each
// that special has a text for.
func fields(structure any, special words) string {
	var text strings.Builder
	v := reflect.ValueOf(structure)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if s, ok := special[name]; ok {
			fmt.Fprintf(&text, "%s %s\n", name, s)
		} else if name != "CRC" && !v.Field(i).IsZero() {
			fmt.Fprintf(&text, "%s %s\n", name, value(v.Field(i)))
		}
	}
	return text.String()
}

// value prints flags in hexadecimal and numbers in decimal, those of nothing
// but ones as null.
func value(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case ondisk.UUID:
		return uuid.UUID(x).String()
	case [12]byte:
		return fmt.Sprintf("%q", strings.TrimRight(string(x[:]), "\x00"))
	case ondisk.Version, ondisk.Features2, ondisk.ROCompat, ondisk.Incompat, ondisk.InodeFlags, ondisk.InodeFlags2:
		return fmt.Sprintf("%#x", x)
	case uint32:
		return number(x)
	case uint64:
		if x == math.MaxUint64 {
			return "null"
		}
	case [64]uint32:
		return sequence(x[:])
	}
	return fmt.Sprint(v.Interface())
}

func number(n uint32) string {
	if n == math.MaxUint32 {
		return "null"
	}
	return fmt.Sprint(n)
}

// sequence prints numbers in their order, with those that count up as 3-7 and
// equal ones as 0*5.
func sequence(list []uint32) string {
	var text []string
	for len(list) > 0 {
		same, up := 1, 1
		for same < len(list) && list[same] == list[0] {
			same++
		}
		for up < len(list) && list[up-1] < math.MaxUint32-1 && list[up] == list[0]+uint32(up) {
			up++
		}
		switch {
		case same > 1:
			text = append(text, fmt.Sprintf("%s*%d", number(list[0]), same))
			list = list[same:]
		case up > 1:
			text = append(text, fmt.Sprintf("%d-%d", list[0], list[up-1]))
			list = list[up:]
		default:
			text = append(text, number(list[0]))
			list = list[1:]
		}
	}
	return strings.Join(text, " ")
}
