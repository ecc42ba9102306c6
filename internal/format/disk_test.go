package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/aginit"
	"mkfs/internal/aio"
	"mkfs/internal/aio/aiotest"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

const pageSize = 4096

// disk is a Device in memory. It keeps only pages that were written, records
// what is done to it and fails where it is told to.
type disk struct {
	name  string
	size  int64
	junk  byte // what a page that was never written is full of
	pages map[int64][]byte

	seed   uint64
	faults aiotest.Faults

	failZero  int // this call fails, from 1
	failSync  bool
	failOpen  bool
	failClose bool

	failDiscard bool
	unit        int64 // of what is discarded
	rate        int64 // bytes a second that are zeroed or discarded; 0 for no limit

	zeros   int
	events  []event
	journal *journal // nil if no one else wants to know
	opened  int
	closed  int
}

// event is something that was done to a disk, when it took effect.
type event struct {
	what   string // write, sync, zero, discard, request
	off, n int64
	data   []byte // of a write
}

func newDisk(size int64) *disk {
	return &disk{name: "/dev/fake", size: size, pages: map[int64][]byte{}}
}

// copyOf is another disk of the same contents.
func (d *disk) copyOf() *disk {
	c := newDisk(d.size)
	c.junk = d.junk
	for at, p := range d.pages {
		c.pages[at] = bytes.Clone(p)
	}
	return c
}

var errZero = errors.New("zeroing fails")
var (
	errSync  = errors.New("flushing fails")
	errOpen  = errors.New("opening fails")
	errClose = errors.New("closing fails")
)

func (d *disk) Name() string { return d.name }
func (d *disk) Size() int64  { return d.size }
func (d *disk) Whole() int64 { return d.size }

func (d *disk) note(e event) {
	d.events = append(d.events, e)
	if d.journal != nil {
		*d.journal = append(*d.journal, entry{d, e})
	}
}

func (d *disk) page(at int64) []byte {
	p, ok := d.pages[at]
	if !ok {
		p = bytes.Repeat([]byte{d.junk}, pageSize)
		d.pages[at] = p
	}
	return p
}

func (d *disk) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		if off >= d.size {
			return n, io.EOF
		}
		at, from := off/pageSize, off%pageSize
		m := int(min(int64(len(p)-n), pageSize-from, d.size-off))
		if page, ok := d.pages[at]; ok {
			copy(p[n:n+m], page[from:])
		} else if d.junk == 0 {
			clear(p[n : n+m])
		} else {
			copy(p[n:n+m], bytes.Repeat([]byte{d.junk}, m))
		}
		n, off = n+m, off+int64(m)
	}
	return n, nil
}

func (d *disk) WriteAt(p []byte, off int64) (n int, err error) {
	d.note(event{"write", off, int64(len(p)), bytes.Clone(p)})
	return d.put(p, off)
}

func (d *disk) put(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		if off >= d.size {
			return n, unix.ENOSPC
		}
		at, from := off/pageSize, off%pageSize
		m := int(min(int64(len(p)-n), pageSize-from, d.size-off))
		copy(d.page(at)[from:], p[n:n+m])
		n, off = n+m, off+int64(m)
	}
	return n, nil
}

func (d *disk) Zero(off, n int64) error {
	d.zeros++
	if d.zeros == d.failZero {
		return errZero
	}
	if off < 0 || n < 0 || off+n > d.size {
		return fmt.Errorf("zeroing bytes %d to %d of %d", off, off+n, d.size)
	}
	d.delay(n)
	d.note(event{what: "zero", off: off, n: n})
	for n > 0 {
		m := min(n, pageSize-off%pageSize)
		switch {
		case m == pageSize && d.junk == 0:
			delete(d.pages, off/pageSize)
		case m == pageSize:
			d.pages[off/pageSize] = make([]byte, pageSize)
		default:
			clear(d.page(off / pageSize)[off%pageSize:][:m])
		}
		off, n = off+m, n-m
	}
	return nil
}

func (d *disk) WriteZeros(off, n int64) error {
	if err := d.Zero(off, n); err != nil {
		return err
	}
	d.events[len(d.events)-1].what = "zeros"
	return nil
}

// delay waits as long as n bytes take.
func (d *disk) delay(n int64) {
	if d.rate > 0 {
		time.Sleep(time.Duration(float64(n) / float64(d.rate) * float64(time.Second)))
	}
}

func (d *disk) Discard(off, n int64) error {
	if d.failDiscard {
		return unix.EIO
	}
	d.delay(n)
	d.note(event{what: "discard", off: off, n: n})
	return nil
}

func (d *disk) DiscardUnit() int64 { return d.unit }

func (d *disk) Sync() error {
	if d.failSync {
		return errSync
	}
	d.note(event{what: "sync"})
	return nil
}

func (d *disk) Open() (Ring, error) {
	d.opened++
	if d.failOpen {
		return nil, errOpen
	}
	r, err := aiotest.Open(d, d.seed, d.faults)
	return &requests{r, d}, err
}

// requests is a Ring that records what it is asked for, and that it is closed.
type requests struct {
	*aio.Ring
	d *disk
}

func (r *requests) Write(off int64, vec [][]byte, done func(error)) error {
	n := 0
	for _, p := range vec {
		n += len(p)
	}
	err := r.Ring.Write(off, vec, done)
	if err == nil {
		r.d.note(event{what: "request", off: off, n: int64(n)})
	}
	return err
}

func (r *requests) Close() error {
	r.d.closed++
	if err := r.Ring.Close(); err != nil || !r.d.failClose {
		return err
	}
	return errClose
}

// count is the number of events of a kind.
func (d *disk) count(what string) (n int) {
	for _, e := range d.events {
		if e.what == what {
			n++
		}
	}
	return n
}

// same compares contents.
func (d *disk) same(o *disk) error {
	for _, pair := range [][2]*disk{{d, o}, {o, d}} {
		for at := range pair[0].pages {
			var a, b [pageSize]byte
			d.ReadAt(a[:], at*pageSize)
			o.ReadAt(b[:], at*pageSize)
			if a == b {
				continue
			}
			for i := range a {
				if a[i] != b[i] {
					return fmt.Errorf("byte %d is %#x, want %#x", at*pageSize+int64(i), a[i], b[i])
				}
			}
		}
	}
	return nil
}

// finished tells whether there is a primary superblock that is complete.
func (d *disk) finished() bool {
	var sector [32 << 10]byte
	d.ReadAt(sector[:], 0)
	s, ok := ondisk.DecodeSuperblock(sector[:])
	return ok && s.InProgress == 0 && (!s.IsV5() || ondisk.Sealed(sector[:s.SectorSize], ondisk.SuperblockCRC))
}

const (
	testSize   = 300 << 20
	testAGSize = 16 << 20 // makes 18 AGs

	testRealtime = 64 << 20
)

// testGeometry is a filesystem of so many bytes in AGs of so many.
func testGeometry(t testing.TB, size, agSize int64, ask ...func(*geometry.Spec)) *geometry.Geometry {
	t.Helper()
	spec := geometry.Spec{SmallAllowed: true}
	spec.Data.AGSize = geometry.Given(geometry.Size{Count: agSize, Limits: geometry.Limits{Max: 1 << 62}})
	for _, f := range ask {
		f(&spec)
	}
	dev := geometry.Device{Size: geometry.Bytes(size), LogicalSector: 512, PhysicalSector: 512}
	dev.Log.Size, dev.Log.LogicalSector = 16<<20, 512
	dev.RT.Size = testRealtime
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// testJob formats disks.
func testJob(g *geometry.Geometry, d *disk) Job {
	generation := uint32(0)
	return Job{
		Geometry: g, Data: d,
		Identity: aginit.Identity{
			UUID: ondisk.UUID{1, 2, 3}, Seconds: 1e9,
			Generation: func() uint32 { generation++; return generation },
		},
	}
}
