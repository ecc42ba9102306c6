package target

import (
	"fmt"
	"io"
	"slices"
)

// Table is a partition table.
type Table struct {
	Kind       string // as Signature.Name: "gpt" or "dos"
	Sector     int    // what it counts in: the sectors of the disk, in bytes
	Partitions []Partition
	// Own is where the table itself is, copies included.
	Own []Window
}

// Partition is an entry of a table.
type Partition struct {
	Number int // as Linux counts
	Window
	Extended bool // it holds other partitions and nothing else
}

// Partitions reads the partition table on the size bytes of r, nil if there is
// none of a known kind. It counts in sectors of the device's size; for a file,
// with sector 0, in those of the disk that it is the image of, as far as that
// shows: only a GPT tells.
//
// Partitions that do not lie on the disk, as of an image that was cut, are
// listed too.
func Partitions(r io.ReaderAt, size int64, sector int) (*Table, error) {
	v := newView(r, size)
	t := readGPT(v, int64(sector))
	if t == nil && v.err == nil {
		t = readDOS(v, max(512, int64(sector)))
	}
	if v.err != nil {
		return nil, fmt.Errorf("cannot look for partitions: %w", v.err)
	}
	return t, nil
}

// Find returns a partition by its number.
func (t *Table) Find(number int) (Partition, bool) {
	i := slices.IndexFunc(t.Partitions, func(p Partition) bool { return p.Number == number })
	if i < 0 {
		return Partition{}, false
	}
	return t.Partitions[i], true
}

// readGPT takes the first header that fits together.
func readGPT(v *view, sector int64) *Table {
	if !hasProtective(v) {
		return nil
	}
	for _, s := range []int64{512, 4096} {
		if sector != 0 && s != sector || v.size < 2*s {
			continue
		}
		last := v.size/s - 1
		for _, lba := range []int64{1, last} {
			if isGPT(v, s, lba, last) {
				return gptTable(v, s, lba)
			}
		}
	}
	return nil
}

// gptTable reads the entries that a header that was checked speaks of.
func gptTable(v *view, sector, lba int64) *Table {
	h := v.at(lba*sector, 92)
	first, end := int64(le.Uint64(h[40:])), int64(le.Uint64(h[48:]))+1 // of what partitions may use
	t := &Table{Kind: "gpt", Sector: int(sector), Own: []Window{{0, first * sector}, {end * sector, v.size - end*sector}}}
	entries := v.at(int64(le.Uint64(h[72:]))*sector, int64(le.Uint32(h[80:]))*128)
	for i := 0; i+128 <= len(entries); i += 128 {
		e := entries[i:][:128]
		from, to := le.Uint64(e[32:]), le.Uint64(e[40:])
		if zero(e[:16]) || to < from || to >= uint64(v.size/sector) {
			continue // unused, or Linux does not take it either
		}
		t.Partitions = append(t.Partitions, Partition{
			Number: i/128 + 1, Window: Window{int64(from) * sector, int64(to-from+1) * sector},
		})
	}
	return t
}

// The types of partitions that are chains of others.
var extendedTypes = []byte{0x05, 0x0f, 0x85}

// dosEntry is one of four in a table. Its start is counted from something else.
type dosEntry struct {
	start, length int64 // in sectors
	extended      bool
}

// dosEntries are those of the table in a sector; ok is false if there is none.
func dosEntries(v *view, off int64) (list [4]dosEntry, ok bool) {
	b := v.at(off, 512)
	if b == nil || string(b[510:]) != "\x55\xaa" {
		return list, false
	}
	for i := range list {
		e := b[dosTable+16*i:][:16]
		list[i] = dosEntry{int64(le.Uint32(e[8:])), int64(le.Uint32(e[dosLength:])), slices.Contains(extendedTypes,
			e[dosType])}
	}
	return list, true
}

// firstLogical is the number of the first partition within an extended one.
const firstLogical = 5

// readDOS reads the table of a PC: four entries, and chains of more in those
// that are extended.
func readDOS(v *view, sector int64) *Table {
	if !checkDOS(v, 0, magic{}) {
		return nil
	}
	entries, ok := dosEntries(v, 0)
	if !ok {
		return nil
	}
	t := &Table{Kind: "dos", Sector: int(sector), Own: []Window{{0, sector}}}
	for i, e := range entries {
		if e.length > 0 {
			t.Partitions = append(t.Partitions, Partition{i + 1, Window{e.start * sector, e.length * sector}, e.extended})
		}
	}
	next := firstLogical
	for _, e := range entries {
		if e.length > 0 && e.extended {
			t.readLogical(v, sector, e, &next)
		}
	}
	return t
}

// mostLogical ends chains that bite their own tail.
const mostLogical = 256

// readLogical follows the chain in an extended partition. Each link is a
// table of its own: a partition, counted from the link, and the next link,
// counted from the chain's start. Entries of other uses count if they lie
// within their link and the chain, as Linux has it.
func (t *Table) readLogical(v *view, sector int64, chain dosEntry, next *int) {
	link, length := chain.start, chain.length
	for range mostLogical {
		entries, ok := dosEntries(v, link*sector)
		if !ok {
			return
		}
		t.Own = append(t.Own, Window{link * sector, sector})
		more := -1
		for i, e := range entries {
			start := link + e.start
			switch {
			case e.length == 0:
			case e.extended:
				if more < 0 {
					more = i
				}
			case i >= 2 && (e.start+e.length > length || start < chain.start || start+e.length > chain.start+chain.length):
			default:
				t.Partitions = append(t.Partitions, Partition{*next, Window{start * sector, e.length * sector}, false})
				*next++
			}
		}
		if more < 0 {
			return
		}
		link, length = chain.start+entries[more].start, entries[more].length
	}
}
