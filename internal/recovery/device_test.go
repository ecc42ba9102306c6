package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"mkfs/internal/aginit"
	"mkfs/internal/aio"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/target"
)

const page = 4096

// disk is a device in memory that keeps only what is not zero. Copies share
// pages, which are never changed.
type disk struct {
	size  int64
	pages map[int64][]byte
}

func (d *disk) clone() *disk { return &disk{d.size, maps.Clone(d.pages)} }

func (d *disk) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if at >= d.size {
			return n, io.EOF
		}
		part := p[n:min(len(p), n+int(page-at%page))]
		clear(part)
		if b := d.pages[at/page]; b != nil {
			copy(part, b[at%page:])
		}
		n += len(part)
	}
	return n, nil
}

func (d *disk) WriteAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if at >= d.size {
			return n, io.ErrShortWrite
		}
		b := make([]byte, page)
		copy(b, d.pages[at/page])
		n += copy(b[at%page:], p[n:])
		d.pages[at/page] = b
	}
	return n, nil
}

var noPage = make([]byte, page)

// differs lists the pages in which two devices differ.
func (d *disk) differs(o *disk) (list []int64) {
	for at, b := range d.pages {
		have := o.pages[at]
		if have == nil {
			have = noPage
		}
		if &b[0] != &have[0] && !bytes.Equal(b, have) {
			list = append(list, at)
		}
	}
	for at, b := range o.pages {
		if d.pages[at] == nil && !bytes.Equal(b, noPage) {
			list = append(list, at)
		}
	}
	slices.Sort(list)
	return list
}

// write is one that has reached a device, or a flush if it has no data.
type write struct {
	off  int64
	data []byte
}

// part is how much of a write has been done when all ends: whole blocks, as all
// of XFS relies on.
func part(r *rand.Rand, off int64, n int) int {
	end := (off + int64(r.IntN(n))) &^ (page - 1)
	return int(max(0, end-off))
}

var errFault = errors.New("a fault of the test")

// testRing is a Ring over a disk. Requests complete in an order that follows
// from the seed. After the first error it takes none, as an aio.Ring.
type testRing struct {
	d       *disk
	depth   int
	rand    *rand.Rand
	flying  []func()
	err     error
	log     *[]write
	running bool

	reads, writes, syncs          int
	failRead, failWrite, failSync int // the request that fails, from 1
	most                          int // in flight
}

func newRing(d *disk, seed uint64) *testRing {
	return &testRing{d: d, depth: 16, rand: rand.New(rand.NewPCG(seed, 1))}
}

func (r *testRing) take(f func()) error {
	if r.running {
		panic("a request from within a completion")
	}
	for len(r.flying) >= r.depth && r.err == nil {
		r.some(1)
	}
	if r.err != nil {
		return r.err
	}
	r.flying = append(r.flying, f)
	r.most = max(r.most, len(r.flying))
	return nil
}

func (r *testRing) some(n int) {
	for ; n > 0 && len(r.flying) > 0; n-- {
		i := r.rand.IntN(len(r.flying))
		f := r.flying[i]
		r.flying = slices.Delete(r.flying, i, i+1)
		r.running = true
		f()
		r.running = false
	}
}

func (r *testRing) fail(done func(error)) {
	r.err = errFault
	done(errFault)
}

func (r *testRing) Read(off int64, vec [][]byte, done func(error)) error {
	vec = slices.Clone(vec)
	r.reads++
	bad := r.reads == r.failRead
	return r.take(func() {
		if bad {
			r.fail(done)
			return
		}
		for at := off; len(vec) > 0; vec = vec[1:] {
			if _, err := r.d.ReadAt(vec[0], at); err != nil {
				r.err = fmt.Errorf("reading %d bytes at byte %d: %w", len(vec[0]), at, err)
				done(r.err)
				return
			}
			at += int64(len(vec[0]))
		}
		done(nil)
	})
}

func (r *testRing) Write(off int64, vec [][]byte, done func(error)) error {
	vec = slices.Clone(vec)
	r.writes++
	bad := r.writes == r.failWrite
	before := bytes.Join(vec, nil)
	return r.take(func() {
		data := bytes.Join(vec, nil)
		if !bytes.Equal(data, before) {
			panic("memory was changed while it was being written")
		}
		if bad {
			r.d.WriteAt(data[:part(r.rand, off, len(data))], off)
			r.fail(done)
			return
		}
		if r.log != nil {
			*r.log = append(*r.log, write{off, data})
		}
		_, err := r.d.WriteAt(data, off)
		done(err)
	})
}

func (r *testRing) Reap(n int) error {
	if n > 0 {
		r.some(n + r.rand.IntN(3))
	}
	return r.err
}

func (r *testRing) Sync() error {
	r.some(len(r.flying))
	if r.syncs++; r.syncs == r.failSync && r.err == nil {
		r.err = errFault
	}
	if r.err == nil && r.log != nil {
		*r.log = append(*r.log, write{})
	}
	return r.err
}

// memory hands out slabs, and spoils those that are given back.
func memory(n int) ([]byte, func() error, error) {
	b := make([]byte, n)
	return b, func() error {
		for i := range b {
			b[i] = 0xdb
		}
		return nil
	}, nil
}

// attempt is a run of recovery.
type attempt struct {
	seed   uint64
	change func(o *Options)
	ring   func(r *testRing)
}

func (a attempt) run(t testing.TB, d *disk, log *disk) (Report, error) {
	t.Helper()
	data := newRing(d, a.seed)
	opts := Options{Data: Device{Name: "data", Ring: data, Size: d.size, Align: 512}, Depth: 7, Memory: memory}
	rings := []*testRing{data}
	if log != nil {
		r := newRing(log, a.seed+1)
		rings = append(rings, r)
		opts.Log = &Device{Name: "log", Ring: r, Size: log.size, Align: 512}
	}
	if a.change != nil {
		a.change(&opts)
	}
	for _, r := range rings {
		if a.ring != nil {
			a.ring(r)
		}
	}
	rep, err := Run(context.Background(), opts)
	for _, r := range rings {
		if n := len(r.flying); n > 0 {
			t.Errorf("%d requests are in flight after the end (%v)", n, err)
		}
	}
	return rep, err
}

var (
	imagesLock sync.Mutex
	images     = map[string]*disk{}
)

// formatted is a new filesystem, and its log's device if it is external.
func formatted(t testing.TB, name string, size int64, change func(s *geometry.Spec)) (*disk, *disk) {
	t.Helper()
	imagesLock.Lock()
	defer imagesLock.Unlock()
	if images[name] == nil {
		images[name], images[name+" log"] = makeImage(t, size, change)
	}
	d, l := images[name].clone(), images[name+" log"]
	if l != nil {
		l = l.clone()
	}
	return d, l
}

func makeImage(t testing.TB, size int64, change func(s *geometry.Spec)) (*disk, *disk) {
	spec := geometry.Spec{CPUs: 1, SmallAllowed: true}
	if change != nil {
		change(&spec)
	}
	dev := geometry.Device{Size: geometry.Bytes(size), LogicalSector: 512, PhysicalSector: 512}
	dev.Log.Size, dev.Log.LogicalSector = 16<<20, 512
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	id := aginit.Identity{UUID: ondisk.UUID{7, 2, 3}, Seconds: 1, Generation: func() uint32 { return 7 }}
	job := format.Job{Geometry: g, Identity: id}
	var paths []string
	open := func(name string, size int64) format.Device {
		path := filepath.Join(t.TempDir(), name)
		paths = append(paths, path)
		dev, err := target.Open(path, target.Options{Write: true, Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dev.Close() })
		if err := dev.Grow(size); err != nil {
			t.Fatal(err)
		}
		return format.On(dev, size, aio.Config{Engine: aio.Sync})
	}
	job.Data = open("data", size)
	if g.Log.External {
		job.Log = open("log", int64(dev.Log.Size))
	}
	if _, err := format.Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	disks := make([]*disk, 2)
	for i, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		disks[i] = &disk{size: int64(len(b)), pages: map[int64][]byte{}}
		for at := 0; at < len(b); at += page {
			if p := b[at:min(len(b), at+page)]; !bytes.Equal(p, noPage[:len(p)]) {
				disks[i].pages[int64(at/page)] = bytes.Clone(p)
			}
		}
	}
	return disks[0], disks[1]
}
