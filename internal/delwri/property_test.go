package delwri

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// TestModel drives a List with random calls. The disk is cut into cells, a
// buffer is a cell, and the reference is what each cell was last given.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cells, size = 64, 1000
		seed := rapid.Uint64().Draw(t, "seed")
		m := newModel(cells*size, rapid.IntRange(1, 10).Draw(t, "depth"), seed)
		cfg := Config{MaxRequest: rapid.SampledFrom([]int{0, 1, 4096, 9000}).Draw(t, "max")}
		l := NewList(m, cfg)
		rnd := rand.New(rand.NewPCG(seed, 1))
		slab := make([]byte, cells*size)
		fails := rapid.IntRange(0, 3).Draw(t, "fails") == 0
		if fails {
			m.badByte = rapid.Int64Range(0, cells*size-1).Draw(t, "bad")
		}

		type cell struct {
			data     []byte
			born     int64
			promoted bool
		}
		queued := map[int]cell{}
		want := make([]byte, cells*size)
		now := int64(0)
		written := int64(0)

		// batch issues through the list and checks what came of it.
		batch := func(issue func() error, due func(cell) bool) {
			m.log = m.log[:0]
			for i, c := range queued {
				if due(c) {
					copy(want[i*size:], c.data)
					written += size
				}
			}
			issue()
			err := l.Wait()
			if !slices.IsSortedFunc(m.log, func(a, b span) int { return int(a.off - b.off) }) {
				t.Fatalf("requests out of order: %v", m.log)
			}
			for i, s := range m.log {
				if n := int(s.end - s.off); n > l.cfg.MaxRequest {
					t.Fatalf("request of %d bytes, limit %d", n, l.cfg.MaxRequest)
				}
				if i > 0 && s.off == m.log[i-1].end && int(s.end-m.log[i-1].off) <= l.cfg.MaxRequest {
					t.Fatalf("neighbours not merged: %v %v", m.log[i-1], s)
				}
			}
			if len(m.held) != 0 || l.flying != 0 {
				t.Fatal("Wait came back with requests in flight")
			}
			i := int(m.badByte) / size
			if c, ok := queued[i]; ok && fails && due(c) {
				var e *WriteError
				if !errors.As(err, &e) || e.Off != m.badByte || e.Place.AG != int64(i) || e.Err != error(syscall.EIO) {
					t.Fatalf("error %v, want one at byte %d in cell %d", err, m.badByte, i)
				}
				if len(l.queue) != 0 {
					t.Fatal("not empty after an error")
				}
				// As if a new device had been put in.
				m.first, m.told, m.badByte, fails = nil, false, -1, false
				copy(m.disk, want)
				clear(queued)
				written = l.Stats().Bytes
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range queued {
				if due(c) {
					delete(queued, i)
				}
			}
			if !bytes.Equal(m.disk, want) {
				t.Fatal("disk differs from the reference")
			}
			if l.Stats().Bytes != written {
				t.Fatalf("%d bytes written, want %d", l.Stats().Bytes, written)
			}
		}
		add := func(i int) {
			data := make([]byte, size)
			if rnd.IntN(2) == 0 && i*size+size <= len(slab) {
				data = slab[i*size : (i+1)*size]
			}
			for j := range data {
				data[j] = byte(rnd.Uint32())
			}
			l.Add(Buffer{Off: int64(i * size), Data: data, Place: Place{int64(i), "cell"}})
			c, ok := queued[i]
			if !ok {
				c.born = now
			}
			c.data = data
			queued[i] = c
		}
		anyCell := rapid.IntRange(0, cells-1)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) { add(anyCell.Draw(t, "cell")) },
			"run": func(t *rapid.T) {
				from := anyCell.Draw(t, "from")
				for i := from; i < min(cells, from+20); i++ {
					add(i)
				}
			},
			"promote": func(t *rapid.T) {
				i := anyCell.Draw(t, "cell")
				l.Promote(int64(i * size))
				if c, ok := queued[i]; ok {
					c.promoted = true
					queued[i] = c
				}
			},
			"tick":   func(*rapid.T) { l.Tick(); now++ },
			"submit": func(*rapid.T) { batch(l.Issue, func(cell) bool { return true }) },
			"aged": func(t *rapid.T) {
				age := rapid.Int64Range(0, 4).Draw(t, "age")
				batch(func() error { return l.IssueAged(age) }, func(c cell) bool { return c.promoted || now-c.born >= age })
			},
		})
	})
}
