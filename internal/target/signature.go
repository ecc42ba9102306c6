package target

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/google/uuid"
)

// Signature is something on a target that ought not to be overwritten unasked.
type Signature struct {
	Name   string // as blkid(8) has it: "xfs", "ext4", "crypto_LUKS", "gpt"
	Offset int64  // of its magic number, in bytes

	// UUID is that of the filesystem for an XFS, and for the external log or
	// the realtime device of one. It is zero for all others.
	UUID [16]byte

	// PartitionTable is set for partition tables. Everything else is a file
	// system, swap, a member of something larger, or a Container.
	PartitionTable bool

	// Container is set for the image formats of virtual machines, and for dumps
	// of filesystems: files that look like disks to people only. mkfs.xfs writes
	// over them.
	Container bool
}

// xfsParts are what an XFS may have on devices of their own.
var xfsParts = map[string]string{"xfs_external_log": "the log", "xfs_realtime": "the realtime section"}

// PartOf reports whether it is the external log or the realtime device of one of
// the filesystems with these UUIDs.
func (s Signature) PartOf(ids ...[16]byte) bool {
	return xfsParts[s.Name] != "" && slices.Contains(ids, s.UUID)
}

// Of reports whether it is the XFS with that UUID, or a part of it.
func (s Signature) Of(id [16]byte) bool {
	return s.PartOf(id) || s.Name == "xfs" && s.UUID == id
}

// String says what it is and where: "a filesystem (ext4, at byte 1080)".
func (s Signature) String() string {
	what, whose := "a filesystem", ""
	switch {
	case s.PartitionTable:
		what = "a partition table"
	case s.Container:
		what = "a disk image of another format"
	case xfsParts[s.Name] != "":
		what = xfsParts[s.Name] + " of an XFS"
		whose = fmt.Sprintf(", UUID %v", uuid.UUID(s.UUID))
	}
	return fmt.Sprintf("%s (%s, at byte %d%s)", what, s.Name, s.Offset, whose)
}

// Signatures returns what is on the size bytes of r, empty if there is nothing.
// Partition tables and then containers come last; apart from that the order is
// that in which blkid(8) looks, so that the first name is the one it gives.
//
// A signature is more than a magic number: where a format has a checksum,
// sizes or positions that must fit, they are looked at, since disks are full
// of what is left of earlier use. What is accepted here is what libblkid 2.42
// accepts, which mkfs.xfs asks, with few exceptions on the strict side, and
// formats of XFS's own tools that it does not know.
//
// An error means that not all could be read, so nothing is known for sure.
func Signatures(r io.ReaderAt, size int64) ([]Signature, error) {
	return newView(r, size).signatures()
}

func (v *view) signatures() ([]Signature, error) {
	var found []Signature
	for i := range formats {
		f := &formats[i]
		if v.size <= 1024 && !f.container {
			continue // as libblkid does; a container may be a few lines of text
		}
		off, ok := f.find(v)
		if v.err != nil {
			return nil, fmt.Errorf("cannot look for %s: %w", f.name, v.err)
		}
		if ok {
			found = append(found, f.signature(v, off))
		}
	}
	return found, nil
}

// format is one row of the table formats: what to look for.
type format struct {
	name    string
	minSize int64 // a smaller target cannot have it

	// magics are the places where it may start, one of which must match.
	// Without any, search finds the place on its own.
	magics []magic
	// check looks at the rest of the structure at sb, if it is set.
	check func(v *view, sb int64, m magic) bool
	// search returns the offset of the format, for those that are not at a
	// fixed place.
	search func(v *view) (off int64, ok bool)

	partitionTable, container bool

	// whole returns all that a target of a size may have of the format, where a
	// part of it is enough for some probers and its copies are known.
	whole func(size int64) []Window

	// uuid is how far behind the magic number an XFS's UUID is; 0 for none.
	uuid int64
}

// signature is what is said of the format when its magic number is at off.
func (f *format) signature(v *view, off int64) Signature {
	s := Signature{Name: f.name, Offset: off, PartitionTable: f.partitionTable, Container: f.container}
	if f.uuid > 0 {
		copy(s.UUID[:], v.at(off+f.uuid, 16))
	}
	return s
}

// magic is a magic number: bytes at skip in the structure that starts at, which
// is counted from the end of the target if it is negative.
type magic struct {
	at, skip int64
	bytes    string
}

// find returns where the format is on the target.
func (f *format) find(v *view) (off int64, ok bool) {
	if v.size < f.minSize {
		return 0, false
	}
	if f.search != nil {
		return f.search(v)
	}
	for _, m := range f.magics {
		sb := m.at
		if sb < 0 {
			sb += v.size
		}
		if v.is(sb+m.skip, m.bytes) && (f.check == nil || f.check(v, sb, m)) {
			return sb + m.skip, true
		}
	}
	return 0, false
}

// chunkSize is how much a view reads at once.
const chunkSize = 64 << 10

// view reads the target for all formats, each chunk once. The first read error
// stays: after it nothing is found any more.
type view struct {
	r      io.ReaderAt
	size   int64
	err    error
	chunks map[int64][]byte // by offset

	// below is what is read instead of r, with over laid on it, if it is set.
	below *view
	over  []Laid
}

func newView(r io.ReaderAt, size int64) *view {
	return &view{r: r, size: size, chunks: map[int64][]byte{}}
}

// at returns the n bytes at off, which must not be changed, or nil if they do
// not all lie on the target or cannot be read.
func (v *view) at(off, n int64) []byte {
	if !v.has(off, n) {
		return nil
	}
	first := off - off%chunkSize
	if off+n-first <= chunkSize {
		c := v.chunk(first)
		if c == nil {
			return nil
		}
		return c[off-first:][:n:n]
	}
	b := make([]byte, 0, n)
	for int64(len(b)) < n {
		c := v.chunk(first)
		if c == nil {
			return nil
		}
		pos := off + int64(len(b)) - first
		b = append(b, c[pos:min(int64(len(c)), pos+n-int64(len(b)))]...)
		first += chunkSize
	}
	return b
}

// has reports whether [off, off+n) lies on the target.
func (v *view) has(off, n int64) bool { return off >= 0 && n >= 0 && off <= v.size-n }

// is reports whether s is at off.
func (v *view) is(off int64, s string) bool { return string(v.at(off, int64(len(s)))) == s }

// chunk returns the chunk at off, which is shorter at the end.
func (v *view) chunk(off int64) []byte {
	c, ok := v.chunks[off]
	if ok || v.err != nil {
		return c
	}
	if v.below != nil {
		c, v.err = overlaid(v.over, v.below.chunk(off), off), v.below.err
		v.chunks[off] = c
		return c
	}
	c = make([]byte, min(chunkSize, v.size-off))
	n, err := v.r.ReadAt(c, off)
	if n < len(c) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // it has become shorter
		}
		v.err = fmt.Errorf("read of %d bytes at %d: %w", len(c), off, err)
		c = nil
	}
	v.chunks[off] = c
	return c
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rawCRC is the CRC-32 of b as the shift register has it: started with seed, and
// not inverted before or after, as hash/crc32 does.
func rawCRC(seed uint32, table *crc32.Table, b []byte) uint32 {
	return ^crc32.Update(^seed, table, b)
}

// without returns a copy of b with the bytes [off, off+n) set to fill, which is
// how checksums leave out their own field.
func without(b []byte, off, n int, fill byte) []byte {
	c := append([]byte(nil), b...)
	for i := range n {
		c[off+i] = fill
	}
	return c
}

// powerOfTwo reports whether n is 1, 2, 4, ...
func powerOfTwo[T uint8 | uint16 | uint32 | uint64](n T) bool { return n != 0 && n&(n-1) == 0 }
