package ondisk

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// place is where a field of a structure lies, in bytes.
type place struct {
	field    string
	at, size int
}

// structure describes one on-disk structure: what the format says of it, and
// how this package writes and reads it. Offsets are those of the XFS format,
// not of the code.
type structure struct {
	name  string
	size  int
	magic []byte // at offset 0
	base  any    // a value to start from, a pointer
	put   func(any, []byte)
	get   func([]byte) (any, bool)
	// sets overrides the marker of fields that change the structure's shape.
	sets   map[string]uint64
	fields []place
}

// numV5Super is how many fields only a V5 superblock has.
const numV5Super = 15

func superblockFields() []place {
	return []place{
		{"BlockSize", 4, 4}, {"DataBlocks", 8, 8}, {"RealtimeBlocks", 16, 8}, {"RealtimeExtents", 24, 8},
		{"UUID", 32, 16}, {"LogStart", 48, 8}, {"RootInode", 56, 8}, {"BitmapInode", 64, 8},
		{"SummaryInode", 72, 8}, {"RealtimeExtent", 80, 4}, {"AGBlocks", 84, 4}, {"AGCount", 88, 4},
		{"BitmapBlocks", 92, 4}, {"LogBlocks", 96, 4}, {"Version", 100, 2}, {"SectorSize", 102, 2},
		{"InodeSize", 104, 2}, {"InodesPerBlock", 106, 2}, {"Label", 108, 12}, {"BlockLog", 120, 1},
		{"SectorLog", 121, 1}, {"InodeLog", 122, 1}, {"InodeBlockLog", 123, 1}, {"AGBlockLog", 124, 1},
		{"RealtimeLog", 125, 1}, {"InProgress", 126, 1}, {"MaxInodePercent", 127, 1},
		{"InodeCount", 128, 8}, {"FreeInodes", 136, 8}, {"FreeBlocks", 144, 8}, {"FreeExtents", 152, 8},
		{"UserQuota", 160, 8}, {"GroupQuota", 168, 8}, {"QuotaFlags", 176, 2}, {"Flags", 178, 1},
		{"SharedVersion", 179, 1}, {"InodeAlign", 180, 4}, {"StripeUnit", 184, 4}, {"StripeWidth", 188, 4},
		{"DirBlockLog", 192, 1}, {"LogSectorLog", 193, 1}, {"LogSectorSize", 194, 2}, {"LogStripeUnit", 196, 4},
		{"Features2", 200, 4}, {"BadFeatures2", 204, 4},
		{"Compat", 208, 4}, {"ROCompat", 212, 4}, {"Incompat", 216, 4}, {"LogIncompat", 220, 4},
		{"CRC", 224, 4}, {"SparseAlign", 228, 4}, {"ProjectQuota", 232, 8}, {"LSN", 240, 8},
		{"MetaUUID", 248, 16}, {"MetadirInode", 264, 8}, {"GroupCount", 272, 4}, {"GroupExtents", 276, 4},
		{"GroupLog", 280, 1}, {"RTStart", 288, 8}, {"RTReserved", 296, 8},
	}
}

// numV3Inode is how many fields only an inode of version 3 has.
const numV3Inode = 8

func inodeFields() []place {
	return []place{
		{"Mode", 2, 2}, {"Version", 4, 1}, {"Format", 5, 1}, {"Metadata", 6, 2}, {"UID", 8, 4}, {"GID", 12, 4}, {"Nlink", 16, 4},
		{"ProjectID", 20, 4}, {"BigExtents", 24, 8}, {"Atime", 32, 8}, {"Mtime", 40, 8}, {"Ctime", 48, 8},
		{"Size", 56, 8}, {"Blocks", 64, 8}, {"ExtentSize", 72, 4}, {"Extents", 76, 4}, {"AttrExtents", 80, 2},
		{"ForkOffset", 82, 1}, {"AttrFormat", 83, 1}, {"DataMigration", 84, 6}, {"Flags", 90, 2}, {"Generation", 92, 4}, {"NextUnlinked", 96, 4},
		{"CRC", 100, 4}, {"ChangeCount", 104, 8}, {"LSN", 112, 8}, {"Flags2", 120, 8}, {"CowExtent", 128, 4},
		{"Crtime", 144, 8}, {"Number", 152, 8}, {"UUID", 160, 16},
	}
}

func btreeFields() []place {
	return []place{
		{"Magic", 0, 4}, {"Level", 4, 2}, {"Records", 6, 2}, {"Left", 8, 4}, {"Right", 12, 4},
		{"Blkno", 16, 8}, {"LSN", 24, 8}, {"UUID", 32, 16}, {"Owner", 48, 4}, {"CRC", 52, 4},
	}
}

// mark sets a field to a value whose bytes all differ, and returns the bytes
// that are to appear on disk.
func mark(f reflect.Value, size int, override uint64) []byte {
	want := make([]byte, size)
	for i := range want {
		want[i] = byte(i*7 + 0x21)
	}
	switch f.Kind() {
	case reflect.Array:
		n := size / f.Len()
		for i := range f.Len() {
			f.Index(i).SetUint(number(want[i*n:][:n]))
		}
	default:
		v := number(want)
		if override != 0 {
			v = override
			for i := range want {
				want[i] = byte(v >> (8 * (size - 1 - i)))
			}
		}
		f.SetUint(v)
	}
	return want
}

func number(b []byte) (v uint64) {
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// clone makes a copy of what base points to.
func clone(base any) (ptr any, elem reflect.Value) {
	v := reflect.New(reflect.TypeOf(base).Elem())
	v.Elem().Set(reflect.ValueOf(base).Elem())
	return v.Interface(), v.Elem()
}

// written encodes a value over two backgrounds and returns the bytes that do
// not depend on it, and how many there are from the start without a gap.
func (s *structure) written(v any) (b []byte, size int) {
	const room = 512
	b, other := bytes.Repeat([]byte{0xaa}, room), bytes.Repeat([]byte{0x55}, room)
	s.put(v, b)
	s.put(v, other)
	for size < room && b[size] == other[size] {
		size++
	}
	for i := size; i < room; i++ {
		if b[i] == other[i] {
			panic(fmt.Sprintf("%s: byte %d is written, byte %d is not", s.name, i, size))
		}
	}
	return b, size
}

// crcSetByEncoder tells whether Put writes the checksum field; others leave it to Seal.
func crcSetByEncoder(s *structure) bool { return s.name == "log record" }

func TestLayout(t *testing.T) {
	for _, s := range structures() {
		t.Run(s.name, func(t *testing.T) {
			base, size := s.written(s.base)
			if size != s.size {
				t.Errorf("%d bytes are written, want %d", size, s.size)
			}
			if !bytes.HasPrefix(base, s.magic) {
				t.Errorf("begins with %q, want %q", base[:len(s.magic)], s.magic)
			}
			for _, f := range s.fields {
				t.Run(f.field, func(t *testing.T) { s.checkField(t, f, base[:s.size]) })
			}
		})
	}
}

// checkField encodes the structure with one field marked and looks which bytes
// change, and decodes it with the bytes marked and looks which field changes.
func (s *structure) checkField(t *testing.T, f place, base []byte) {
	ptr, elem := clone(s.base)
	want := mark(elem.FieldByName(f.field), f.size, s.sets[f.field])
	if f.field == "ProjectID" && f.at == 20 { // the lower half comes first
		want[0], want[1], want[2], want[3] = want[2], want[3], want[0], want[1]
	}
	if f.field == "CRC" { // the only little-endian fields
		slices.Reverse(want)
	}
	got, _ := s.written(ptr)
	got = got[:s.size]
	expect := bytes.Clone(base)
	if f.field != "CRC" || crcSetByEncoder(s) {
		copy(expect[f.at:], want)
	}
	if !bytes.Equal(got, expect) {
		t.Errorf("marked bytes, with any other that changed:\n got %s\nwant %s", changes(base, got), changes(base, expect))
	}

	copy(expect[f.at:], want)
	back, ok := s.get(append(expect, make([]byte, 512)...))
	if !ok {
		t.Fatal("does not decode")
	}
	if !reflect.DeepEqual(back, ptr) {
		t.Errorf("decoded\n got %+v\nwant %+v", back, ptr)
	}
}

func changes(a, b []byte) string {
	text := ""
	for i := range a {
		if a[i] != b[i] {
			text += fmt.Sprintf("[%d]=%02x ", i, b[i])
		}
	}
	return text
}

// A field that no row describes would go untested.
func TestLayoutIsComplete(t *testing.T) {
	known := map[reflect.Type]map[string]bool{}
	for _, s := range structures() {
		typ := reflect.TypeOf(s.base).Elem()
		if known[typ] == nil {
			known[typ] = map[string]bool{"Sparse": typ == reflect.TypeFor[InodeRecord]()}
		}
		for _, f := range s.fields {
			known[typ][f.field] = true
		}
	}
	for typ, fields := range known {
		for i := range typ.NumField() {
			if name := typ.Field(i).Name; !fields[name] {
				t.Errorf("%v.%s is in no table", typ, name)
			}
		}
	}
}

// The constants by which other packages find their way.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"SuperblockCRC", SuperblockCRC, 224},
		{"InProgressField", InProgressField, 126},
		{"AGFSize", AGFSize, 224}, {"AGFCRC", AGFCRC, 216},
		{"AGISize", AGISize, 344}, {"AGICRC", AGICRC, 312},
		{"AGFLSize", AGFLSize, 36}, {"AGFLCRC", AGFLCRC, 32},
		{"BtreeHeader", BtreeHeader, 56}, {"BtreeHeaderV4", BtreeHeaderV4, 16},
		{"BtreeBlkno", BtreeBlkno, 16}, {"BtreeOwner", BtreeOwner, 48}, {"BtreeCRC", BtreeCRC, 52},
		{"AllocRecordSize", AllocRecordSize, 8}, {"InodeRecordSize", InodeRecordSize, 16},
		{"RmapRecordSize", RmapRecordSize, 24}, {"RefcountRecordSize", RefcountRecordSize, 12},
		{"InodeCore", InodeCore, 176}, {"InodeCoreV2", InodeCoreV2, 100}, {"InodeCRC", InodeCRC, 100},
		{"CoreSize(V5)", CoreSize(true), 176}, {"CoreSize(V4)", CoreSize(false), 100},
		{"LogRecordSize", LogRecordSize, 328},
		{"EmptyDirSize", EmptyDirSize, 6},
		{"FreeList V5", 512 - len(FreeList(make([]byte, 512), true)), 36},
		{"FreeList V4", 512 - len(FreeList(make([]byte, 512), false)), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestFileExtentLayout(t *testing.T) {
	for _, c := range []struct {
		e    FileExtent
		want string
	}{
		// A flag, 54 bits of offset, 52 of start, 21 of length.
		{FileExtent{Blocks: 1}, "0000000000000000 0000000000000001"},
		{FileExtent{Offset: 1, Start: 1, Blocks: 1<<21 - 1}, "0000000000000200 00000000003fffff"},
		{FileExtent{Offset: 1<<54 - 1, Start: 1<<52 - 1, Blocks: 0}, "7fffffffffffffff ffffffffffe00000"},
		{FileExtent{Offset: 1, Start: 1, Blocks: 1, Unwritten: true}, "8000000000000200 0000000000200001"},
		{FileExtent{Offset: 8388608, Start: 147486, Blocks: 1}, "0000000100000000 0000004803c00001"},
	} {
		b := make([]byte, FileExtentSize)
		c.e.Put(b)
		if got := fmt.Sprintf("%x %x", b[:8], b[8:]); got != c.want {
			t.Errorf("%+v: %s, want %s", c.e, got, c.want)
		}
		if got := DecodeFileExtent(b); got != c.e {
			t.Errorf("%+v is read as %+v", c.e, got)
		}
	}
}

func TestRTWord(t *testing.T) {
	b := make([]byte, 8)
	PutRTWord(b, 0x01020304, true)
	PutRTWord(b[4:], 0x01020304, false)
	if got := fmt.Sprintf("%x", b); got != "0102030404030201" {
		t.Errorf("words of groups and of others: %s", got)
	}
}

// Renumbering finds the same fields as encoding.
func TestPatchedFields(t *testing.T) {
	a, b := make([]byte, 512), make([]byte, 512)
	check := func(name string) {
		t.Helper()
		if !bytes.Equal(a, b) {
			t.Errorf("%s: patched %s", name, changes(b, a))
		}
		clear(a)
		clear(b)
	}
	(&AGF{Length: 7}).Put(a)
	SetAGFSeqno(a, 0xfedcba98)
	(&AGF{Length: 7, Seqno: 0xfedcba98}).Put(b)
	check("AGF")
	(&AGI{Length: 7}).Put(a)
	SetAGISeqno(a, 0xfedcba98)
	(&AGI{Length: 7, Seqno: 0xfedcba98}).Put(b)
	check("AGI")
	(&AGFL{LSN: 7}).Put(a)
	SetAGFLSeqno(a, 0xfedcba98)
	(&AGFL{LSN: 7, Seqno: 0xfedcba98}).Put(b)
	check("AGFL")
	(&BtreeBlock{Magic: BnoMagic, Left: 7}).Put(a, true)
	SetBtreeAddress(a, 0x123456789abcdef0, 0xfedcba98)
	(&BtreeBlock{Magic: BnoMagic, Left: 7, Blkno: 0x123456789abcdef0, Owner: 0xfedcba98}).Put(b, true)
	check("btree block")
}

func TestEmptyDirLayout(t *testing.T) {
	for _, c := range []struct {
		parent uint64
		want   string
	}{
		{0x80, "00 00 00000080"},
		{0xffffffff, "00 00 ffffffff"},
		{0x100000000, "00 01 0000000100000000"},
		{0x123456789abcdef0, "00 01 123456789abcdef0"},
	} {
		b := make([]byte, 10)
		n := PutEmptyDir(b, c.parent)
		if got := fmt.Sprintf("%x %x %x", b[:1], b[1:2], b[2:n]); got != c.want {
			t.Errorf("parent %#x: %s, want %s", c.parent, got, c.want)
		}
	}
}

func TestAttrsLayout(t *testing.T) {
	// totsize (2), count (1), padding (1); namelen, valuelen, flags, name, value
	const want = "\x00\x12\x02\x00" + "\x03\x02\x02abcXY" + "\x01\x02\x00z01"
	attrs := []Attr{{Flags: AttrRoot, Name: "abc", Value: "XY"}, {Name: "z", Value: "01"}}
	b := make([]byte, AttrsSize(attrs))
	PutAttrs(b, attrs)
	if string(b) != want {
		t.Errorf("got  %q\nwant %q", b, want)
	}
}

func TestFreeListLayout(t *testing.T) {
	b := bytes.Repeat([]byte{0xaa}, 4*5+3)
	PutFreeList(b, []uint32{^uint32(0), 0x01020304, 0x05060708})
	const want = "\xff\xff\xff\xff\x01\x02\x03\x04\x05\x06\x07\x08\xff\xff\xff\xff\xff\xff\xff\xff\xaa\xaa\xaa"
	if string(b) != want {
		t.Errorf("got  %q\nwant %q", b, want)
	}
	if got := FreeListEntry(b, 2); got != 0x05060708 {
		t.Errorf("entry 2 is %#x", got)
	}
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		sec       int64
		nsec      uint32
		old, wide uint64
	}{
		{0, 0, 0, 2147483648 * 1e9},
		{1, 2, 1<<32 | 2, 2147483649*1e9 + 2},
		{-1 << 31, 0, 0x80000000 << 32, 0},
		{-1, 999999999, 0xffffffff<<32 | 999999999, 2147483647*1e9 + 999999999},
		{16299260425, 709551615, 0, 1<<64 - 1}, // the last of the format
	} {
		if got := TimeClassic(c.sec, c.nsec); c.sec < 1<<31 && got != c.old {
			t.Errorf("TimeClassic(%d, %d) = %#x, want %#x", c.sec, c.nsec, got, c.old)
		}
		if got := TimeBig(c.sec, c.nsec); got != c.wide {
			t.Errorf("TimeBig(%d, %d) = %d, want %d", c.sec, c.nsec, got, c.wide)
		}
		if sec, nsec := ClassicTime(c.old); c.sec < 1<<31 && (sec != c.sec || nsec != c.nsec) {
			t.Errorf("ClassicTime(%#x) = %d, %d, want %d, %d", c.old, sec, nsec, c.sec, c.nsec)
		}
		if sec, nsec := BigTime(c.wide); sec != c.sec || nsec != c.nsec {
			t.Errorf("BigTime(%d) = %d, %d, want %d, %d", c.wide, sec, nsec, c.sec, c.nsec)
		}
	}
}
