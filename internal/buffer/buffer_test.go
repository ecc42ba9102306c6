package buffer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"mkfs/internal/aio"
	"mkfs/internal/aio/aiotest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// setup makes a cache over a device in memory.
func setup(t testing.TB, cfg Config, faults aiotest.Faults) (*Cache, *aiotest.Mem, *aio.Ring) {
	t.Helper()
	mem := aiotest.NewMem(4 << 20)
	ring, err := aiotest.Open(mem, 1, faults)
	must(t, err)
	cfg.Device = "disk"
	cfg.Place = func(off int64) int64 { return off >> 20 }
	cfg.Memory = aio.NewSlab
	c := New(ring, cfg)
	return c, mem, ring
}

// summed has a checksum in its first bytes, and its name behind that.
func summed(name string) *Kind {
	seal := func(b []byte) { binary.BigEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:])) }
	return &Kind{Name: name, Seal: seal, Check: func(b []byte, off int64) error {
		switch {
		case string(b[4:8]) != name:
			return fmt.Errorf("its magic number is %q", b[4:8])
		case binary.BigEndian.Uint32(b) != crc32.ChecksumIEEE(b[4:]):
			return errors.New("a bad checksum")
		}
		return nil
	}}
}

func make4(t testing.TB, c *Cache, off int64, k *Kind, fill byte) {
	t.Helper()
	b, err := c.Fresh(off, 4096, k)
	must(t, err)
	copy(b.Data[4:], k.Name)
	b.Data[100] = fill
	c.Dirty(b)
	c.Unpin(b)
}

// What goes to disk has its checksum, and what comes from there is checked once. A block
// that is asked for as another kind is looked at again.
func TestKinds(t *testing.T) {
	c, mem, _ := setup(t, Config{}, aiotest.Faults{})
	one, two := summed("one "), summed("two ")
	make4(t, c, 1<<20, one, 7)
	for range 2 {
		_, err := c.Get(1<<20, 4096, two)
		const want = `AG 1 two  at byte 1048576: its magic number is "one "`
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	alike := *one
	b, err := c.Get(1<<20, 4096, &alike) // though it is changed, and its checksum old
	must(t, err)
	c.Unpin(b)
	must(t, c.Flush())
	if err := one.Check(mem.B[1<<20:][:4096], 0); err != nil || mem.B[1<<20+100] != 7 {
		t.Errorf("on disk: %v", err)
	}
	c.Forget(1<<20, 4096)
	mem.B[1<<20+200]++
	if _, err = c.Get(1<<20, 4096, one); err == nil || err.Error() != "AG 1 one  at byte 1048576: a bad checksum" {
		t.Error(err)
	}
	mem.B[1<<20+200]--
	b, err = c.Get(1<<20, 4096, one) // what was wrong is not in the cache
	must(t, err)
	c.Unpin(b)
	if s := c.Stats(); s.Reads != 2 || s.Writes != 1 || s.Changes != 1 {
		t.Errorf("%+v", s)
	}
}

// A block that many operations change is written once it is old, or wanted, or in the end.
func TestPolicies(t *testing.T) {
	for _, p := range []struct {
		age  int64
		want int64 // writes of 1000 operations that change one of 10 blocks each, and one that all change
	}{{AtOnce, 2000}, {AtEnd, 11}, {100, 11 * 10}} {
		c, mem, _ := setup(t, Config{Age: p.age}, aiotest.Faults{})
		if p.age > 0 {
			c.least = 11 * 4096
		}
		for op := range 1000 {
			for _, off := range []int64{0, int64(1+op%10) * 4096} {
				b, err := c.Get(off, 4096, plain)
				must(t, err)
				c.Dirty(b)
				c.Dirty(b)
				b.Data[op%4096] = 1
				c.Unpin(b)
			}
			must(t, c.Tick())
		}
		must(t, c.Flush())
		s := c.Stats()
		if s.Changes != 2000 || s.Writes > p.want || s.Writes < p.want*9/10 || s.Saved() != 2000-s.Writes {
			t.Errorf("age %d: %+v", p.age, s)
		}
		if n := bytes.Count(mem.B, []byte{1}); n != 2000 {
			t.Errorf("age %d: %d of 2000 bytes", p.age, n)
		}
	}
}

// A pinned block is not written before it is unpinned, but for Flush.
func TestPinned(t *testing.T) {
	c, mem, _ := setup(t, Config{Age: AtOnce}, aiotest.Faults{})
	b, err := c.Get(0, 4096, plain)
	must(t, err)
	c.Dirty(b)
	must(t, c.Tick())
	b.Data[0] = 1 // half of a change
	c.Dirty(b)
	must(t, c.Tick())
	if c.Stats().Writes != 0 {
		t.Error("a pinned block was written")
	}
	must(t, c.Flush())
	if mem.B[0] != 1 {
		t.Error("Flush has not written a pinned block")
	}
	c.Unpin(b)
	for name, f := range map[string]func(){
		"not pinned":                      func() { c.Tick(); c.Dirty(b) },
		"unpinned more often":             func() { c.Unpin(b) },
		"0 bytes at byte 0 are no block":  func() { c.Get(0, 0, plain) },
		"a block of 65537 bytes":          func() { c.Fresh(0, 65537, plain) },
		"8 bytes at byte -4 are no block": func() { c.Fresh(-4, 8, plain) },
	} {
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); !strings.Contains(s, name) {
					t.Errorf("panic %q, want %q", s, name)
				}
			}()
			f()
		}()
	}
}

// The least recently used goes first; a dirty one is written for it, and others with it.
func TestEviction(t *testing.T) {
	c, mem, _ := setup(t, Config{Limit: 8 * 4096}, aiotest.Faults{})
	touch := func(i int, dirty bool) {
		t.Helper()
		b, err := c.Get(int64(i)*4096, 4096, plain)
		must(t, err)
		if dirty {
			c.Dirty(b)
			b.Data[0] = byte(i)
		}
		c.Unpin(b)
		must(t, c.Tick())
	}
	for i := range 8 {
		touch(i, false)
	}
	touch(0, false)
	touch(8, false)
	for i, want := range []bool{true, false, true} {
		if got := c.index.find(int64(i)*4096) != nil; got != want {
			t.Errorf("block %d in memory: %v", i, got)
		}
	}
	if s := c.Stats(); s.Evicted != 1 || s.Reread != 0 {
		t.Errorf("%+v", s)
	}
	for i := 1; i < 9; i++ {
		touch(i, i > 4)
	}
	for i := 10; i < 16; i++ {
		touch(i, false)
	}
	s := c.Stats()
	if s.Writes != 4 || s.Promoted != 4 || s.Reread == 0 || c.list.Issued() != 1 {
		t.Errorf("%+v, %d batches", s, c.list.Issued())
	}
	touch(5, false)
	must(t, c.Flush())
	for i := 5; i < 9; i++ {
		if mem.B[i*4096] != byte(i) {
			t.Errorf("block %d is not on disk", i)
		}
	}
	if c.Bytes() != 8*4096 {
		t.Errorf("%d bytes", c.Bytes())
	}
}

// What is dirty has no room if it may not be written.
func TestReadOnly(t *testing.T) {
	c, mem, _ := setup(t, Config{Limit: 4 * 4096, ReadOnly: true, Age: AtOnce}, aiotest.Faults{})
	for i := range int64(5) {
		b, err := c.Get(i*4096, 4096, plain)
		if i == 4 {
			if !errors.Is(err, ErrFull) {
				t.Error(err)
			}
			break
		}
		must(t, err)
		c.Dirty(b)
		b.Data[0] = 1
		c.Unpin(b)
		must(t, c.Tick())
	}
	if _, err := c.Get(0, 512, plain); !errors.Is(err, ErrFull) {
		t.Errorf("a block of another size: %v", err)
	}
	n := 0
	c.Changed(0, 3*4096, func(*Buf) { n++ })
	must(t, c.Flush())
	if n != 3 || mem.B[0] != 0 {
		t.Errorf("%d blocks changed; %d on disk", n, mem.B[0])
	}
	p, err := c.Peek(4096, 4)
	if err != nil || p[0] != 1 {
		t.Errorf("%v, %v", p, err)
	}
	if p, _ := c.Peek(4095, 4); p != nil {
		t.Error("bytes of two blocks")
	}
}

// In a stream of blocks those that were not used for longest make room.
func TestStream(t *testing.T) {
	c, _, _ := setup(t, Config{Limit: 4 * 4096, Stream: true}, aiotest.Faults{})
	for i := range int64(10) {
		if room, err := c.Ahead(i*4096, 4096); err != nil || !room {
			t.Errorf("block %d: room %v, %v", i, room, err)
		}
	}
	if c.Bytes() != 4*4096 || c.index.find(5*4096) != nil || c.index.find(6*4096) == nil {
		t.Errorf("%d bytes", c.Bytes())
	}
}

// Reading ahead does not let go of what was read ahead before; reading does.
func TestAheadWithoutRoom(t *testing.T) {
	c, _, _ := setup(t, Config{Limit: 4 * 4096, Depth: 3}, aiotest.Faults{})
	for i := range int64(5) {
		room, err := c.Ahead(i*4096, 4096)
		if err != nil || room != (i < 3) {
			t.Errorf("block %d: room %v, %v", i, room, err)
		}
	}
	c.cfg.Depth = 0
	for i := range int64(5) {
		if room, err := c.Ahead(i*4096, 4096); err != nil || room != (i < 4) {
			t.Errorf("block %d: room %v, %v", i, room, err)
		}
	}
	if c.Reading() != 4 {
		t.Errorf("%d blocks are being read", c.Reading())
	}
	b, err := c.Get(4*4096, 4096, plain)
	must(t, err)
	c.Unpin(b)
	if c.index.find(0) != nil || c.Stats().Reads != 5 {
		t.Errorf("the first block is still there, after %d reads", c.Stats().Reads)
	}
}

// holding counts how often somebody waits for a ring.
type holding struct {
	*aio.Ring
	waits int
}

func (h *holding) Reap(n int) error {
	if n > 0 {
		h.waits++
	}
	return h.Ring.Reap(n)
}

// What is freed while it is being written does not come back over what its place becomes,
// nor is its place read before that is written.
func TestForgetInFlight(t *testing.T) {
	for _, n := range []int{512, 4096, 8192} {
		mem := aiotest.NewMem(1 << 20)
		ring, err := aiotest.Open(mem, 1, aiotest.Faults{})
		must(t, err)
		h := &holding{Ring: ring}
		c := New(h, Config{Age: AtOnce})
		make4(t, c, 8192, summed("old "), 1)
		must(t, c.Tick())
		c.Forget(8192, 4096)
		if !c.list.Flying(8192, 4096) || h.waits > 0 {
			t.Fatal("it is not in flight")
		}
		if room, err := c.Ahead(8192, n); err != nil || room {
			t.Errorf("it is read while it is in flight: %v, %v", room, err)
		}
		b, err := c.Fresh(8192, n, plain)
		must(t, err)
		b.Data[0] = 9
		c.Dirty(b)
		c.Unpin(b)
		if h.waits > 0 {
			t.Error("there was no need to wait")
		}
		must(t, c.Tick()) // at once: it is waited for
		c.Forget(8192, 8192)
		b, err = c.Get(8192, n, plain)
		must(t, err)
		if b.Data[0] != 9 || c.Stats().Reads != 1 {
			t.Errorf("%d bytes: %d, %d reads", n, b.Data[0], c.Stats().Reads)
		}
		c.Unpin(b)
		must(t, c.Flush())
		if mem.B[8192] != 9 || mem.B[8192+100] != 0 {
			t.Errorf("%d bytes: the old content is on disk", n)
		}
	}
}

// Copies stay as they are while they are in flight, however much is written: the ring
// of the test looks at that.
func TestSlabsTakeTurns(t *testing.T) {
	c, mem, _ := setup(t, Config{Age: AtOnce}, aiotest.Faults{})
	c.cfg.Batch = 8192
	for i := range 90 {
		make4(t, c, int64(i)*8192, plain, byte(i))
		must(t, c.Tick())
	}
	must(t, c.Flush())
	for i := range 90 {
		if mem.B[i*8192+100] != byte(i) {
			t.Fatalf("block %d", i)
		}
	}
	if n := c.list.Issued(); n != 90 {
		t.Errorf("%d batches", n)
	}
}

// A block in several places is one in memory.
func TestSpans(t *testing.T) {
	c, mem, _ := setup(t, Config{}, aiotest.Faults{})
	spans := []Span{{1 << 20, 8192}, {4096, 4096}, {2 << 20, 4096}}
	k := summed("dir ")
	b, err := c.FreshSpans(spans, k)
	must(t, err)
	copy(b.Data[4:], k.Name)
	b.Data[8192], b.Data[12288] = 2, 3
	c.Dirty(b)
	c.Unpin(b)
	again, err := c.GetSpans(spans, k)
	must(t, err)
	if again != b || b.Off != 1<<20 {
		t.Error("it is another block")
	}
	c.Unpin(b)
	must(t, c.Flush())
	if mem.B[4096] != 2 || mem.B[2<<20] != 3 {
		t.Error("not written")
	}
	if c.Forget(0, 2<<20); c.index.n != 3 {
		t.Error("a block was dropped that does not lie in one range")
	}
	b, err = c.Get(4096, 4096, plain) // of another shape
	must(t, err)
	if b.Data[0] != 2 || c.index.find(1<<20) != nil {
		t.Error("the block of another shape is there")
	}
	c.Unpin(b)
	b, err = c.GetSpans(spans, k)
	must(t, err)
	c.Unpin(b)
	if _, err := c.GetSpans([]Span{{0, 4096}, {2048, 4096}}, k); err == nil || !strings.Contains(err.Error(), "two parts") {
		t.Error(err)
	}
}
