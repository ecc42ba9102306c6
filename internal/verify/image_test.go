package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"mkfs/internal/aginit"
	"mkfs/internal/aio"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/target"
)

// gib is the size of test images unless it matters.
const gib = 1 << 30

// plan makes a geometry of an image of a size.
func plan(t testing.TB, size int64, change func(*geometry.Spec)) *geometry.Geometry {
	t.Helper()
	spec := geometry.Spec{CPUs: 1}
	if change != nil {
		change(&spec)
	}
	g, _, err := geometry.Plan(spec, geometry.Device{Size: geometry.Bytes(size), LogicalSector: 512, PhysicalSector: 512})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// image is a filesystem in a file with edits that only readers see.
type image struct {
	g     *geometry.Geometry
	base  io.ReaderAt
	size  int64
	edits []edit
}

type edit struct {
	off  int64
	data []byte
}

func testID(n byte) aginit.Identity {
	return aginit.Identity{UUID: ondisk.UUID{n, 2, 3}, Seconds: 1, Generation: func() uint32 { return 7 }}
}

// make formats a sparse file.
func newImage(t testing.TB, size int64, id byte, change func(*geometry.Spec)) *image {
	t.Helper()
	g := plan(t, size, change)
	path := filepath.Join(t.TempDir(), "img")
	dev, err := target.Open(path, target.Options{Write: true, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := dev.Grow(size); err != nil {
		t.Fatal(err)
	}
	job := format.Job{Geometry: g, Identity: testID(id), Data: format.On(dev, size, aio.Config{Engine: aio.Sync})}
	if _, err := format.Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &image{g: g, base: f, size: size}
}

func (m *image) ReadAt(p []byte, off int64) (int, error) {
	if off >= m.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > m.size-off
	if short {
		p = p[:m.size-off]
	}
	n, err := m.base.ReadAt(p, off)
	for _, e := range m.edits {
		if e.off < off+int64(len(p)) && off < e.off+int64(len(e.data)) {
			copy(p[max(0, e.off-off):], e.data[max(0, off-e.off):])
		}
	}
	if short && err == nil {
		err = io.EOF
	}
	return n, err
}

// bytes reads n bytes.
func (m *image) bytes(t testing.TB, off int64, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := m.ReadAt(b, off); err != nil {
		t.Fatal(err)
	}
	return b
}

// with is the image with one more edit.
func (m *image) with(off int64, data []byte) *image {
	c := *m
	c.edits = append(append([]edit(nil), m.edits...), edit{off, bytes.Clone(data)})
	return &c
}

// part is a structure of an AG.
type part struct {
	off  int64
	size int
	crc  int
}

func (m *image) part(agno geometry.AGNumber, p place) part {
	start := int64(m.g.Offset(agno, 0))
	sector := int(m.g.SectorSize)
	if p < placeRoots {
		crc := [...]int{ondisk.SuperblockCRC, ondisk.AGFCRC, ondisk.AGICRC, ondisk.AGFLCRC}[p]
		return part{start + int64(p)*int64(sector), sector, crc}
	}
	r := m.g.Roots()
	at := []geometry.AGBlock{r.Bno, r.Cnt, r.Ino, r.Fino, r.Rmap, r.Refcount}[p-placeRoots]
	return part{int64(m.g.Offset(agno, at)), int(m.g.BlockSize), ondisk.BtreeCRC}
}

// changed is the image with a structure changed and sealed again.
func (m *image) changed(t testing.TB, agno geometry.AGNumber, p place, change func(b []byte)) *image {
	t.Helper()
	at := m.part(agno, p)
	b := m.bytes(t, at.off, at.size)
	change(b)
	if m.g.Features.CRC {
		ondisk.Seal(b, at.crc)
	}
	return m.with(at.off, b)
}

// verify runs over the image, with reads that complete in any order.
func (m *image) verify(t testing.TB, change func(*Options)) Report {
	t.Helper()
	r, err := m.run(change)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (m *image) run(change func(*Options)) (Report, error) {
	opts := Options{Data: Device{Reader: newReader(m, 8, 1), Size: m.size}, Depth: 8, MaxFaults: 100}
	if change != nil {
		change(&opts)
	}
	return Run(context.Background(), opts)
}

// reader is a Reader that completes in random order, as late as it may.
type reader struct {
	src   io.ReaderAt
	depth int
	queue []request
	rand  *rand.Rand
	first error
}

type request struct {
	off  int64
	vec  [][]byte
	done func(error)
}

func newReader(src io.ReaderAt, depth int, seed uint64) *reader {
	return &reader{src: src, depth: depth, rand: rand.New(rand.NewPCG(seed, 0))}
}

func (r *reader) Read(off int64, vec [][]byte, done func(error)) error {
	for len(r.queue) >= r.depth {
		r.complete()
	}
	if r.first != nil {
		return r.first
	}
	r.queue = append(r.queue, request{off, append([][]byte(nil), vec...), done})
	return nil
}

func (r *reader) Reap(least int) error {
	for ; least > 0 && len(r.queue) > 0; least-- {
		r.complete()
	}
	return r.first
}

func (r *reader) complete() {
	i := r.rand.IntN(len(r.queue))
	q := r.queue[i]
	r.queue = append(r.queue[:i], r.queue[i+1:]...)
	var err error
	for _, p := range q.vec {
		var n int
		if n, err = r.src.ReadAt(p, q.off); n == len(p) {
			err = nil
		}
		q.off += int64(n)
		if err != nil {
			break
		}
	}
	if err != nil && r.first == nil {
		r.first = err
	}
	q.done(err)
}

// field makes a change that stores a number of 1, 2, 4 or 8 bytes.
func field(at, size int, v uint64) func([]byte) {
	return func(b []byte) {
		var full [8]byte
		binary.BigEndian.PutUint64(full[:], v)
		copy(b[at:at+size], full[8-size:])
	}
}

// sized asks for blocks of a size.
func sized(block int64) func(*geometry.Spec) {
	return func(s *geometry.Spec) { s.BlockSize = geometry.Given(block) }
}
