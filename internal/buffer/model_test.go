package buffer

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/aio"
	"mkfs/internal/aio/aiotest"
)

const deviceSize = 128 << 10

// plain is a kind that nothing is known of.
var plain = &Kind{Name: "plain"}

// machine is a cache and what it should show.
type machine struct {
	c     *Cache
	mem   *aiotest.Mem
	ring  *aio.Ring
	rnd   *rand.Rand
	want  []byte
	free  []bool // bytes that were forgotten: whatever is there is right
	held  []*Buf
	limit int64
}

func newMachine(t *rapid.T) *machine {
	seed := rapid.Uint64().Draw(t, "seed")
	m := &machine{
		mem: aiotest.NewMem(deviceSize), rnd: rand.New(rand.NewPCG(seed, 1)), want: make([]byte, deviceSize),
		free: make([]bool, deviceSize), limit: rapid.SampledFrom([]int64{512, 8 << 10, 40 << 10, 1 << 20}).Draw(t, "limit"),
	}
	for i := range m.want {
		m.want[i] = byte(m.rnd.Uint32())
	}
	copy(m.mem.B, m.want)
	faults := aiotest.Faults{Depth: rapid.IntRange(1, 20).Draw(t, "depth")}
	if rapid.Bool().Draw(t, "rough") {
		faults.Short, faults.Retry, faults.Busy, faults.Now = 20, 10, 10, 20
	}
	var err error
	if m.ring, err = aiotest.Open(m.mem, seed, faults); err != nil {
		t.Fatal(err)
	}
	age := rapid.SampledFrom([]int64{AtOnce, AtEnd, 1, 5, 40}).Draw(t, "age")
	m.c = New(m.ring, Config{Limit: m.limit, Age: age, Depth: 8})
	// Slabs and batches that are soon full.
	m.c.cfg.Batch = rapid.SampledFrom([]int{4 << 10, 8 << 10, 64 << 10}).Draw(t, "batch")
	if age != AtOnce {
		m.c.least = int64(m.c.cfg.Batch)
	}
	return m
}

// spans draws the places of a block of up to 4 KiB.
func (m *machine) spans(t *rapid.T) []Span {
	n := rapid.SampledFrom([]int{512, 1024, 2048, 4096}).Draw(t, "size")
	off := func(n int) int64 { return int64(rapid.IntRange(0, (deviceSize-n)/512).Draw(t, "at") * 512) }
	if rapid.IntRange(0, 9).Draw(t, "split") > 0 || n == 512 {
		return []Span{{off(n) / int64(n) * int64(n), n}} // most blocks are aligned, and meet each other
	}
	list := []Span{{off(512), 512}, {off(n - 512), n - 512}}
	if a, b := list[0], list[1]; a.Off < b.Off+int64(b.Len) && b.Off < a.Off+int64(a.Len) {
		return list[:1]
	}
	return list
}

func eachByte(spans []Span, f func(i int, at int64)) {
	i := 0
	for _, s := range spans {
		for k := range s.Len {
			f(i, s.Off+int64(k))
			i++
		}
	}
}

// hindered tells whether a block of another shape is pinned across a place.
func (m *machine) hindered(spans []Span) bool {
	for _, b := range m.held {
		if b.gone || b.is(spans) {
			continue
		}
		for _, s := range spans {
			for i := range b.count() {
				if p := b.part(i); p.Off < s.Off+int64(s.Len) && s.Off < p.Off+int64(len(p.Data)) {
					return true
				}
			}
		}
	}
	return false
}

// took checks what was got, changes some of it perhaps, and lets go of it perhaps.
func (m *machine) took(t *rapid.T, b *Buf, spans []Span, err error) bool {
	if m.hindered(spans) {
		if err == nil || !strings.Contains(err.Error(), "in use") {
			t.Fatalf("%v across a pinned block: %v", spans, err)
		}
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

func (m *machine) change(t *rapid.T, b *Buf, spans []Span) {
	if rapid.Bool().Draw(t, "change") {
		m.c.Dirty(b)
		i := m.rnd.IntN(len(b.Data))
		b.Data[i] = byte(m.rnd.Uint32())
		eachByte(spans, func(k int, at int64) {
			if k == i {
				m.want[at] = b.Data[i]
			}
		})
	}
	if len(m.held) < 4 && rapid.IntRange(0, 3).Draw(t, "hold") == 0 {
		m.held = append(m.held, b)
		return
	}
	m.c.Unpin(b)
}

func (m *machine) get(t *rapid.T) {
	spans := m.spans(t)
	b, err := m.c.GetSpans(spans, plain)
	if !m.took(t, b, spans, err) {
		return
	}
	eachByte(spans, func(i int, at int64) {
		if m.free[at] {
			m.free[at], m.want[at] = false, b.Data[i]
		} else if b.Data[i] != m.want[at] {
			t.Fatalf("byte %d is %d, want %d", at, b.Data[i], m.want[at])
		}
	})
	m.change(t, b, spans)
}

func (m *machine) fresh(t *rapid.T) {
	spans := m.spans(t)
	b, err := m.c.FreshSpans(spans, plain)
	if !m.took(t, b, spans, err) {
		return
	}
	if bytes.Count(b.Data, []byte{0}) != len(b.Data) {
		t.Fatal("not fresh")
	}
	m.c.Dirty(b)
	eachByte(spans, func(i int, at int64) {
		b.Data[i] = byte(m.rnd.Uint32())
		m.want[at], m.free[at] = b.Data[i], false
	})
	m.change(t, b, spans)
}

// forget frees whole pages: a block that reaches into them from outside is written.
func (m *machine) forget(t *rapid.T) {
	const page = 4096
	off := int64(rapid.IntRange(0, deviceSize/page-1).Draw(t, "page") * page)
	n := int64(page * rapid.IntRange(1, 2).Draw(t, "pages"))
	m.c.Forget(off, n)
	for i := off; i < min(off+n, deviceSize); i++ {
		m.free[i] = true
	}
	// What was not within the pages is what it was.
	for _, p := range m.c.index.across(off, n) {
		for i := range p.Data {
			at := p.Off + int64(i)
			m.free[at], m.want[at] = false, p.Data[i]
		}
	}
}

func (m *machine) compare(t *rapid.T) {
	for i, b := range m.mem.B {
		if !m.free[i] && b != m.want[i] {
			t.Fatalf("byte %d of the device is %d, want %d", i, b, m.want[i])
		}
	}
}

// check wants memory to be bounded: a block more than the limit if all is pinned, of
// which there are four.
func (m *machine) check(t *rapid.T) {
	if m.c.bytes > m.limit+5*4096 {
		t.Fatalf("%d bytes in memory, limit %d", m.c.bytes, m.limit)
	}
	for _, b := range m.held {
		if b.Data == nil {
			t.Fatal("a pinned block has lost its memory")
		}
	}
}

// Whatever age, limit, order of completion and sequence of calls, each block shows
// what was last put there, and after a Flush so does the device.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(map[string]func(*rapid.T){
			"":      m.check,
			"get":   m.get,
			"again": m.get,
			"fresh": m.fresh,
			"ahead": func(t *rapid.T) {
				s := m.spans(t)[0]
				if _, err := m.c.Ahead(s.Off, s.Len); err != nil {
					t.Fatal(err)
				}
			},
			"forget": m.forget,
			"unpin": func(t *rapid.T) {
				for _, b := range m.held {
					m.c.Unpin(b)
				}
				m.held = m.held[:0]
			},
			"tick": func(t *rapid.T) {
				if err := m.c.Tick(); err != nil {
					t.Fatal(err)
				}
			},
			"flush": func(t *rapid.T) {
				if err := m.c.Flush(); err != nil {
					t.Fatal(err)
				}
				m.compare(t)
			},
		})
		if err := m.c.Flush(); err != nil {
			t.Fatal(err)
		}
		m.compare(t)
		if s := m.c.Stats(); s.Writes > s.Changes {
			t.Fatalf("%+v", s)
		}
		if err := m.ring.Close(); err != nil {
			t.Fatal(err)
		}
		if err := m.c.Release(); err != nil {
			t.Fatal(err)
		}
	})
}
