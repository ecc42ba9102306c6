package delwri

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var cmpTaken = cmp.AllowUnexported(taken{})

func block(fill byte, n int) []byte { return bytes.Repeat([]byte{fill}, n) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantPanic(t *testing.T, message string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, message) {
			t.Errorf("panic %q, want %q", got, message)
		}
	}()
	f()
}

func TestSortedAndMerged(t *testing.T) {
	m := newModel(1<<16, 4, 1)
	l := NewList(m, Config{})
	for _, off := range []int64{9000, 512, 0, 20000, 1024, 9512} {
		l.Add(&Buffer{Off: off, Data: block(byte(off/512+1), 512)})
	}
	must(t, l.Submit())
	if diff := cmp.Diff([]taken{{0, 1536}, {9000, 10024}, {20000, 20512}}, m.log, cmpTaken); diff != "" {
		t.Error(diff)
	}
	if m.disk[0] != 1 || m.disk[512] != 2 || m.disk[1024] != 3 || m.disk[9000] != 18 || m.disk[9512] != 19 {
		t.Error("contents")
	}
	if s := l.Stats(); s != (Stats{Buffers: 6, Requests: 3, Pieces: 6, Bytes: 6 * 512}) {
		t.Errorf("%+v", s)
	}
	must(t, l.Submit()) // empty now
	must(t, l.Wait())
	if len(m.log) != 3 {
		t.Error("the list was not empty after Submit")
	}
}

// One slab is one piece, whatever it is cut into.
func TestSlabIsOnePiece(t *testing.T) {
	l := NewList(newModel(1<<16, 4, 1), Config{})
	slab := make([]byte, 28<<10)
	for off := 0; off < len(slab); {
		n := min(512+off/2/512*512, len(slab)-off)
		l.Add(&Buffer{Off: int64(off), Data: slab[off : off+n]})
		off += n
	}
	must(t, l.Submit())
	if s := l.Stats(); s.Buffers < 5 || s.Requests != 1 || s.Pieces != 1 || s.Bytes != 28<<10 {
		t.Errorf("%+v", s)
	}

	// Adjacent on the disk, adjacent in memory, but the first slice ends
	// where its capacity does: two pieces, and nothing worse.
	l.Add(&Buffer{Off: 0, Data: slab[0:512:512]})
	l.Add(&Buffer{Off: 512, Data: slab[512:1024]})
	// In the slab, but in the other order.
	l.Add(&Buffer{Off: 1024, Data: slab[4096:4608]})
	l.Add(&Buffer{Off: 1536, Data: slab[2048:4096]})
	before := l.Stats().Pieces
	must(t, l.Submit())
	if n := l.Stats().Pieces - before; n != 4 {
		t.Errorf("%d pieces", n)
	}
}

func TestRequestLimits(t *testing.T) {
	m := newModel(8<<20, 4, 1)
	l := NewList(m, Config{MaxRequest: 10000}) // rounds to 8192
	for i := range int64(5) {
		l.Add(&Buffer{Off: i * 3000, Data: block(1, 3000)})
	}
	l.Add(&Buffer{Off: 15000, Data: block(2, 20000)})
	l.Add(&Buffer{Off: 35000, Data: block(3, 100)})
	must(t, l.Submit())
	want := []taken{
		{0, 6000}, {6000, 12000}, {12000, 15000}, // whole buffers only
		{15000, 15000 + 8192}, {15000 + 8192, 15000 + 16384}, // too large: cut
		{15000 + 16384, 35100},
	}
	if diff := cmp.Diff(want, m.log, cmpTaken); diff != "" {
		t.Error(diff)
	}

	m = newModel(8<<20, 4, 1)
	l = NewList(m, Config{})
	for i := range int64(MaxPieces + 10) {
		l.Add(&Buffer{Off: i * 512, Data: block(1, 512)})
	}
	must(t, l.Submit())
	if diff := cmp.Diff([]taken{{0, MaxPieces * 512}, {MaxPieces * 512, (MaxPieces + 10) * 512}}, m.log, cmpTaken); diff != "" {
		t.Error(diff)
	}
}

// A buffer that is added again is written once, with its last content.
func TestAgain(t *testing.T) {
	m := newModel(1<<16, 4, 1)
	l := NewList(m, Config{})
	b := &Buffer{Off: 4096, Data: block(1, 512)}
	l.Add(b)
	l.Add(&Buffer{Off: 8192, Data: block(9, 512)})
	l.Add(b)
	b.Data[0] = 4 // still the caller's
	if !b.Queued() || l.Queued() != 1024 || l.Stats().Buffers != 3 {
		t.Errorf("%d bytes queued, %+v", l.Queued(), l.Stats())
	}
	must(t, l.Submit())
	if m.disk[4096] != 4 || m.disk[4097] != 1 {
		t.Error("not the last content")
	}
	if diff := cmp.Diff([]taken{{4096, 4608}, {8192, 8704}}, m.log, cmpTaken); diff != "" {
		t.Error(diff)
	}
	if b.Queued() || l.Queued() != 0 {
		t.Errorf("%d bytes queued after all were written", l.Queued())
	}
}

func TestBugsPanic(t *testing.T) {
	a := Buffer{Off: 4096, Data: block(1, 1024), Place: Place{3, "AGF"}}
	var l *List
	for name, b := range map[string]Buffer{
		"tail":           {Off: 4608, Data: block(2, 1024), Place: Place{4, "AGI"}},
		"head":           {Off: 3584, Data: block(2, 1024), Place: Place{4, "AGI"}},
		"inside":         {Off: 4608, Data: block(2, 10), Place: Place{4, "AGI"}},
		"around":         {Off: 0, Data: block(2, 9000), Place: Place{4, "AGI"}},
		"another length": {Off: 4096, Data: block(2, 512), Place: Place{4, "AGI"}},
		"the same place": {Off: 4096, Data: block(2, 1024), Place: Place{4, "AGI"}},
	} {
		for _, order := range [][]Buffer{{a, b}, {b, a}} {
			for _, m := range []string{"AG 3 AGF", "AG 4 AGI", "overlaps"} {
				l = NewList(newModel(1<<16, 4, 1), Config{})
				wantPanic(t, m, func() {
					l.Add(&order[0])
					l.Add(&order[1])
					l.Submit()
					t.Errorf("%s: no panic", name)
				})
				order[0].list, order[1].list = nil, nil
			}
		}
	}
	l = NewList(newModel(1<<16, 4, 1), Config{})
	wantPanic(t, "AG 3 AGF", func() { l.Add(&Buffer{Off: 1, Place: a.Place}) })
	wantPanic(t, "byte -1", func() { l.Add(&Buffer{Off: -1, Data: block(1, 1)}) })
	l.Add(&a)
	wantPanic(t, "AG 3 AGF", func() { NewList(&null{}, Config{}).Add(&a) })
	l = NewList(stuck{}, Config{})
	l.Add(&Buffer{Data: block(1, 1)})
	wantPanic(t, "does not complete 1 requests", func() { l.Submit() })
	l = NewList(&null{}, Config{Take: func(*Buffer) ([]byte, bool) { return make([]byte, 3), true }})
	l.Add(&Buffer{Data: block(1, 4), Place: a.Place})
	wantPanic(t, "AG 3 AGF: 3 bytes taken of 4", func() { l.Submit() })
}

func TestAging(t *testing.T) {
	m := newModel(1<<16, 4, 1)
	l := NewList(m, Config{Age: 2})
	bufs := map[int64]*Buffer{}
	add := func(off int64) {
		if bufs[off] == nil {
			bufs[off] = &Buffer{Off: off, Data: block(1, 512)}
		}
		l.Add(bufs[off])
	}
	step := func(want ...int64) {
		t.Helper()
		if l.Due() != 512*int64(len(want)) {
			t.Errorf("%d bytes are due, want %d", l.Due(), 512*len(want))
		}
		must(t, l.IssueDue())
		must(t, l.Wait())
		var offs []int64
		for _, s := range m.log {
			for off := s.off; off < s.end; off += 512 {
				offs = append(offs, off)
			}
		}
		m.log = nil
		if diff := cmp.Diff(want, offs); diff != "" {
			t.Error(diff)
		}
	}
	add(8192)
	add(0)
	l.Tick()
	add(4096)
	add(8192) // changed again: as old as before
	step()
	l.Tick()
	step(0, 8192)
	add(2048)
	l.Promote(bufs[2048])
	l.Promote(bufs[2048])
	l.Promote(bufs[0]) // not queued
	step(2048)
	add(2048) // not promoted any more
	step()
	l.Tick()
	step(4096)
	l.Promote(bufs[2048])
	add(1024)
	add(2048) // changed after it was promoted
	step(2048)
	must(t, l.Submit())
	if diff := cmp.Diff([]taken{{1024, 1536}}, m.log, cmpTaken); diff != "" {
		t.Error(diff)
	}

	// What is taken off is not written, whatever its age.
	m.log = nil
	for off := range int64(4) {
		add(off * 512)
		l.Tick()
	}
	for off := range int64(3) {
		l.Remove(bufs[off*512])
		l.Remove(bufs[off*512])
	}
	step()
	l.Tick()
	step(3 * 512)

	// An error empties the list, the young ones too.
	m.badByte = 100
	add(0)
	l.Promote(bufs[0])
	add(4096)
	l.IssueDue()
	if err := l.Wait(); err == nil || l.queued != 0 || bufs[4096].Queued() {
		t.Errorf("%v, %d bytes queued", err, l.queued)
	}
}

// Several batches are in flight while the next is filled. A place that is
// being written is not written again before that is done.
func TestBatches(t *testing.T) {
	m := newModel(1<<20, 50, 3)
	l := NewList(m, Config{})
	var bufs [100]Buffer
	for i := range bufs {
		bufs[i] = Buffer{Off: int64(i) * 1024, Data: block(0, 512)}
	}
	for i := range int64(40) {
		if i >= 4 {
			must(t, l.WaitFor(i-3))
		}
		for j := range int64(20) {
			b := &bufs[(i*20+j)%100] // of a batch that is done
			b.Data[0] = byte(i + 1)
			l.Add(b)
		}
		must(t, l.Issue())
		if n := l.Issued() - l.Done(); n > 4 || l.Issued() != i+1 {
			t.Fatalf("%d batches in flight of %d", n, l.Issued())
		}
	}
	if n := len(m.held); n < 20 {
		t.Errorf("only %d requests in flight", n)
	}
	again := &Buffer{Off: 99*1024 - 256, Data: block(77, 512)} // across one that is in flight
	l.Add(again)
	must(t, l.Issue())
	if !again.Queued() || l.Queued() != 512 || !l.Flying(99*1024, 1) || l.Flying(99*1024+512, 512) || l.Flying(98*1024+512, 512) {
		t.Error("a place that is in flight was written again")
	}
	must(t, l.Submit())
	for i := range 99 {
		if m.disk[i*1024] != byte(36+i/20) {
			t.Fatalf("block %d: %d", i, m.disk[i*1024])
		}
	}
	if m.disk[99*1024] != 77 || l.Flying(0, 1<<20) {
		t.Error("not written in the end")
	}
}

// A copy is written while the buffer is changed again, as much of a batch as there is
// room for; the next batch goes on from there.
func TestTake(t *testing.T) {
	m := newModel(1<<16, 16, 1)
	var room []byte
	held := int64(-1)
	l := NewList(m, Config{Take: func(b *Buffer) ([]byte, bool) {
		if b.Off == held {
			return nil, true
		}
		if len(room) < len(b.Data) {
			return nil, false
		}
		p := room[:len(b.Data):len(b.Data)]
		room = room[len(p):]
		copy(p, b.Data)
		return p, true
	}})
	var bufs [10]Buffer
	for i := range bufs {
		bufs[i] = Buffer{Off: int64(i) * 1024, Data: block(byte(i+1), 512), Owner: i}
		l.Add(&bufs[i])
	}
	step := func(n int, want ...int64) {
		t.Helper()
		m.log = nil
		room = make([]byte, n*512)
		must(t, l.Issue())
		for i := range bufs {
			bufs[i].Data[1]++ // it is in flight
		}
		var offs []int64
		for _, s := range m.log {
			offs = append(offs, s.off/1024)
		}
		if diff := cmp.Diff(want, offs); diff != "" {
			t.Error(diff)
		}
		must(t, l.Wait())
	}
	step(4, 0, 1, 2, 3)
	l.Add(&bufs[0])
	l.Add(&bufs[2])
	held = 7 * 1024
	step(4, 4, 5, 6, 8)
	step(2, 9, 0)
	held = -1
	step(9, 2, 7)
	if l.Queued() != 0 || l.Issued() != 5 {
		t.Errorf("%d bytes queued, %d batches", l.Queued(), l.Issued())
	}
	if m.disk[9*1024+1] != 12 {
		t.Errorf("%d", m.disk[9*1024+1])
	}
	l.Add(&bufs[1])
	held = 1024
	if must(t, l.Submit()); !bufs[1].Queued() { // it comes back
		t.Error("what is held back was written")
	}
}
