package delwri

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var cmpSpan = cmp.AllowUnexported(span{})

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
		l.Add(Buffer{Off: off, Data: block(byte(off/512+1), 512)})
	}
	must(t, l.Submit())
	if diff := cmp.Diff([]span{{0, 1536}, {9000, 10024}, {20000, 20512}}, m.log, cmpSpan); diff != "" {
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
		l.Add(Buffer{Off: int64(off), Data: slab[off : off+n]})
		off += n
	}
	must(t, l.Submit())
	if s := l.Stats(); s.Buffers < 5 || s.Requests != 1 || s.Pieces != 1 || s.Bytes != 28<<10 {
		t.Errorf("%+v", s)
	}

	// Adjacent on the disk, adjacent in memory, but the first slice ends
	// where its capacity does: two pieces, and nothing worse.
	l.Add(Buffer{Off: 0, Data: slab[0:512:512]})
	l.Add(Buffer{Off: 512, Data: slab[512:1024]})
	// In the slab, but in the other order.
	l.Add(Buffer{Off: 1024, Data: slab[4096:4608]})
	l.Add(Buffer{Off: 1536, Data: slab[2048:4096]})
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
		l.Add(Buffer{Off: i * 3000, Data: block(1, 3000)})
	}
	l.Add(Buffer{Off: 15000, Data: block(2, 20000)})
	l.Add(Buffer{Off: 35000, Data: block(3, 100)})
	must(t, l.Submit())
	want := []span{
		{0, 6000}, {6000, 12000}, {12000, 15000}, // whole buffers only
		{15000, 15000 + 8192}, {15000 + 8192, 15000 + 16384}, // too large: cut
		{15000 + 16384, 35100},
	}
	if diff := cmp.Diff(want, m.log, cmpSpan); diff != "" {
		t.Error(diff)
	}

	m = newModel(8<<20, 4, 1)
	l = NewList(m, Config{})
	for i := range int64(MaxPieces + 10) {
		l.Add(Buffer{Off: i * 512, Data: block(1, 512)})
	}
	must(t, l.Submit())
	if diff := cmp.Diff([]span{{0, MaxPieces * 512}, {MaxPieces * 512, (MaxPieces + 10) * 512}}, m.log, cmpSpan); diff != "" {
		t.Error(diff)
	}
}

func TestDuplicates(t *testing.T) {
	for _, name := range []string{"last", "not last"} {
		m := newModel(1<<16, 4, 1)
		l := NewList(m, Config{})
		l.Add(Buffer{Off: 4096, Data: block(1, 512)})
		if name == "not last" {
			l.Add(Buffer{Off: 8192, Data: block(9, 512)})
		}
		l.Add(Buffer{Off: 4096, Data: block(2, 512)})
		data := block(3, 512)
		l.Add(Buffer{Off: 4096, Data: data})
		data[0] = 4 // still the caller's
		must(t, l.Submit())
		if m.disk[4096] != 4 || m.disk[4097] != 3 {
			t.Errorf("%s: not the last content", name)
		}
		writes := 0
		for _, s := range m.log {
			if s.off == 4096 {
				writes++
			}
		}
		if writes != 1 {
			t.Errorf("%s: written %d times", name, writes)
		}
	}
}

// A buffer added without end does not grow the queue without end.
func TestDuplicatesBounded(t *testing.T) {
	l := NewList(newModel(1<<16, 4, 1), Config{MemoryLimit: 1024})
	a, b := Buffer{Off: 0, Data: block(1, 256)}, Buffer{Off: 512, Data: block(1, 256)}
	for range 100_000 {
		l.Add(b)
		l.Add(a)
	}
	if cap(l.queue) > 4*minTidy {
		t.Errorf("queue for two buffers has grown to %d", cap(l.queue))
	}
	if l.Full() || l.bytes != 512 {
		t.Errorf("%d bytes of two buffers", l.bytes)
	}
}

func TestBugsPanic(t *testing.T) {
	l := NewList(newModel(1<<16, 4, 1), Config{})
	a := Buffer{Off: 4096, Data: block(1, 1024), Place: Place{3, "AGF"}}
	for name, b := range map[string]Buffer{
		"tail":           {Off: 4608, Data: block(2, 1024), Place: Place{4, "AGI"}},
		"head":           {Off: 3584, Data: block(2, 1024), Place: Place{4, "AGI"}},
		"inside":         {Off: 4608, Data: block(2, 10), Place: Place{4, "AGI"}},
		"around":         {Off: 0, Data: block(2, 9000), Place: Place{4, "AGI"}},
		"another length": {Off: 4096, Data: block(2, 512), Place: Place{4, "AGI"}},
	} {
		for _, order := range [][]Buffer{{a, b}, {b, a}} {
			for _, m := range []string{"AG 3 AGF", "AG 4 AGI", "overlaps"} {
				l = NewList(newModel(1<<16, 4, 1), Config{})
				wantPanic(t, m, func() {
					l.Add(order[0])
					l.Add(order[1])
					l.Submit()
					t.Errorf("%s: no panic", name)
				})
			}
		}
	}
	l = NewList(newModel(1<<16, 4, 1), Config{})
	wantPanic(t, "AG 3 AGF", func() { l.Add(Buffer{Off: 1, Place: a.Place}) })
	wantPanic(t, "byte -1", func() { l.Add(Buffer{Off: -1, Data: block(1, 1)}) })
	l.Add(a)
	must(t, l.Issue())
	wantPanic(t, "between Issue and Wait", func() { l.Add(a) })
	wantPanic(t, "without a Wait", func() { l.Issue() })
	must(t, l.Wait())
	l = NewList(stuck{}, Config{})
	l.Add(a)
	wantPanic(t, "does not complete 1 requests", func() { l.Submit() })
}

func TestFirstErrorHasPlace(t *testing.T) {
	names := []string{"superblock", "AGF", "AGI", "AGFL", "bnobt", "cntbt", "inobt"}
	for seed := range uint64(50) {
		bad := int64(seed) * 997 % (8 * 7 * 512)
		m := newModel(8*7*512, 3, seed)
		m.badByte = bad
		l := NewList(m, Config{Device: "/dev/sdb"})
		for ag := range int64(8) {
			for i, name := range names {
				off := (ag*7 + int64(i)) * 512
				l.Add(Buffer{Off: off, Data: block(1, 512), Place: Place{ag, name}})
			}
		}
		err := l.Submit()
		want := &WriteError{Device: "/dev/sdb", Off: bad, Err: syscall.EIO,
			Place: Place{bad / 512 / 7, names[bad/512%7]}}
		var e *WriteError
		if !errors.As(err, &e) || *e != *want || !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v, want %v", err, want)
		}
		text := fmt.Sprintf("write /dev/sdb: AG %d %s at byte %d: input/output error", e.Place.AG, e.Place.Name, bad)
		if err.Error() != text {
			t.Errorf("%q, want %q", err, text)
		}
	}
}

// After the first error nothing further is issued, all that is in flight is
// waited for, and the list is empty.
func TestStopAtError(t *testing.T) {
	m := newModel(1<<20, 4, 7)
	m.badByte = 10 * 1024
	l := NewList(m, Config{})
	for i := range int64(500) {
		l.Add(Buffer{Off: i * 1024, Data: block(1, 512)})
	}
	ierr := l.Issue()
	werr := l.Wait()
	if ierr == nil || ierr != werr {
		t.Errorf("Issue %v, Wait %v", ierr, werr)
	}
	if len(m.held) != 0 || m.count != len(m.log) {
		t.Errorf("%d taken, %d done", len(m.log), m.count)
	}
	if len(m.log) > 100 {
		t.Errorf("%d of 500 requests issued, the 11th failed", len(m.log))
	}
	if len(l.queue)+len(l.issued)+l.flying != 0 || l.bytes != 0 {
		t.Error("not empty after an error")
	}

	// Usable again over a Writer that is.
	m.badByte, m.first, m.told = -1, nil, false
	l.Add(Buffer{Off: 0, Data: block(8, 512)})
	must(t, l.Submit())
	if m.disk[0] != 8 {
		t.Error("not written")
	}
}

// An error without a place of its own gets that of its request; one that
// lies elsewhere gets none; a Writer that refuses at once is reported too.
func TestErrorPlaces(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		err  error
		want string
	}{
		{boom, "write img: AG 1 AGF at byte 4096: boom"},
		{&offError{4700, boom}, "write img: AG 1 AGI at byte 4700: boom"},
		{&offError{99, boom}, "write img: at byte 99: boom"},
		{&offError{5120, boom}, "write img: at byte 5120: boom"},
		{&offError{-1, boom}, "write img: boom"},
	} {
		m := newModel(1<<16, 4, 1)
		m.first = c.err // refuse all
		l := NewList(m, Config{Device: "img"})
		l.Add(Buffer{Off: 4096, Data: block(1, 512), Place: Place{1, "AGF"}})
		l.Add(Buffer{Off: 4608, Data: block(1, 512), Place: Place{1, "AGI"}})
		err := l.Submit()
		if err == nil || err.Error() != c.want || !errors.Is(err, boom) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
	if s := (&WriteError{Off: 5, Place: Place{-1, "log"}, Err: boom}).Error(); s != "write: log at byte 5: boom" {
		t.Error(s)
	}
	if s := (Place{AG: 2}).String(); s != "AG 2" {
		t.Error(s)
	}
}

// A Writer whose Reap fails although our requests went well belongs to
// somebody who failed: no success is reported.
func TestWriterFailedElsewhere(t *testing.T) {
	m := newModel(1<<16, 4, 1)
	l := NewList(m, Config{})
	l.Add(Buffer{Off: 0, Data: block(1, 512)})
	must(t, l.Issue())
	m.first = &offError{1 << 30, syscall.EIO}
	if err := l.Wait(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

func TestAging(t *testing.T) {
	m := newModel(1<<16, 4, 1)
	l := NewList(m, Config{})
	add := func(off int64) { l.Add(Buffer{Off: off, Data: block(1, 512)}) }
	written := func() []int64 {
		var offs []int64
		for _, s := range m.log {
			offs = append(offs, s.off)
		}
		m.log = nil
		slices.Sort(offs)
		return offs
	}
	step := func(age int64, want ...int64) {
		t.Helper()
		must(t, l.IssueAged(age))
		must(t, l.Wait())
		if diff := cmp.Diff(want, written()); diff != "" {
			t.Error(diff)
		}
	}
	add(8192)
	add(0)
	l.Tick()
	add(4096)
	add(8192) // changed again: as old as before
	step(2)
	l.Tick()
	step(2, 0, 8192)
	add(2048)
	l.Promote(2048)
	l.Promote(12345) // not queued
	step(2, 2048)
	add(2048) // not promoted any more
	step(2)
	step(1, 4096)
	l.Promote(2048)
	add(1024)
	add(2048) // changed after it was promoted
	step(99, 2048)
	must(t, l.Submit())
	if diff := cmp.Diff([]int64{1024}, written()); diff != "" {
		t.Error(diff)
	}

	// An error empties the list, the young ones too.
	m.badByte = 100
	add(0)
	l.Promote(0)
	add(4096)
	l.IssueAged(5)
	if err := l.Wait(); err == nil || len(l.queue) != 0 {
		t.Errorf("%v, %d queued", err, len(l.queue))
	}
}

func TestFull(t *testing.T) {
	l := NewList(newModel(1<<16, 4, 1), Config{MemoryLimit: 1024})
	l.Add(Buffer{Off: 1000, Data: block(1, 512)})
	l.Add(Buffer{Off: 0, Data: block(1, 512)})
	if !l.Full() {
		t.Error("1024 of 1024 bytes and not full")
	}
	must(t, l.Submit())
	if l.Full() {
		t.Error("empty and full")
	}
	l.Add(Buffer{Off: 1000, Data: block(1, 600)})
	l.Add(Buffer{Off: 0, Data: block(1, 300)})
	l.Add(Buffer{Off: 1000, Data: block(2, 600)})
	if l.Full() {
		t.Error("a duplicate counts twice")
	}
	if l := NewList(&null{}, Config{}); l.Full() {
		t.Error("full without a limit")
	}
}

// Two lists over one Writer: one is filled while the other is in flight.
func TestTwoLists(t *testing.T) {
	m := newModel(1<<20, 8, 3)
	lists := [2]*List{NewList(m, Config{}), NewList(m, Config{})}
	for i := range int64(40) {
		l := lists[i%2]
		must(t, l.Wait())
		for j := range int64(20) {
			l.Add(Buffer{Off: (i*20 + j) * 1024, Data: block(byte(i+1), 512)})
		}
		must(t, l.Issue())
	}
	must(t, lists[0].Wait())
	must(t, lists[1].Wait())
	for i := range 800 {
		if m.disk[i*1024] != byte(i/20+1) {
			t.Fatalf("block %d", i)
		}
	}
}

// fill adds the headers of ags allocation groups: eleven buffers, 28 KiB, one
// slab, ascending.
func fill(l *List, slab []byte, ags int) {
	sizes := [11]int{512, 512, 512, 512 + 2048, 4096, 4096, 4096, 4096, 4096, 2048, 2048}
	const agSize = 1 << 30
	at := 0
	for ag := range ags {
		off := int64(ag) * agSize
		for _, n := range sizes {
			l.Add(Buffer{Off: off, Data: slab[at : at+n], Place: Place{int64(ag), "bnobt"}})
			off += int64(n)
			at += n
		}
	}
}

func TestNoAllocations(t *testing.T) {
	l := NewList(&null{}, Config{})
	slab := make([]byte, 256*28<<10)
	batch := func() {
		fill(l, slab, 256)
		if err := l.Submit(); err != nil {
			t.Fatal(err)
		}
	}
	batch()
	batch() // both of the list's slices have grown now
	if n := testing.AllocsPerRun(10, batch); n != 0 {
		t.Errorf("%g allocations for 256 AGs of 11 buffers", n)
	}
	if s := l.Stats(); s.Buffers != 11*s.Requests || s.Pieces != s.Requests || s.Bytes != s.Requests*28<<10 {
		t.Errorf("%+v", s)
	}
}

func BenchmarkList(b *testing.B) {
	const ags = 256
	l := NewList(&null{}, Config{})
	slab := make([]byte, ags*28<<10)
	b.ReportAllocs()
	for b.Loop() {
		fill(l, slab, ags)
		if err := l.Submit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/ags, "ns/AG")
}
