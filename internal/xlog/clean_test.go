package xlog

import (
	"testing"

	"mkfs/internal/logtest"
	"pgregory.net/rapid"
)

// block is one of the blocks of some parts.
type block struct {
	at   int
	data []byte
}

func blocksIn(parts []Part) (list []block) {
	for _, p := range parts {
		for i := 0; i < len(p.Data); i += BlockSize {
			list = append(list, block{p.Block + i/BlockSize, p.Data[i:][:BlockSize]})
		}
	}
	return list
}

func (b block) write(w *logtest.Log) { copy(w.B[b.at*BlockSize:], b.data) }

// copied is a log that can be changed apart from the first.
func copied(w *logtest.Log) *logtest.Log {
	c := *w
	c.B = append([]byte(nil), w.B...)
	return &c
}

// cleaned is what to expect once a log has been made clean.
func cleaned(w *logtest.Log, s *State, unmount []block) run {
	r := run{clean: true, head: s.Head + len(unmount), cycle: s.Cycle}
	if r.head >= w.Blocks() {
		r.head -= w.Blocks()
		r.cycle++
	}
	return r
}

// laidOut puts the head of a dirty log, with torn records behind it, at a
// place, and returns the log and what is in it.
func laidOut(head int, change func(w *logtest.Log), torn ...func(i int) bool) (*logtest.Log, run) {
	w := formatted(8192, change)
	unit := max(1, w.Stripe/BlockSize)
	before := (1000 + unit - 1) / unit * unit
	w.Start(5, (head+w.Blocks()-before)%w.Blocks())
	w.Tail = w.LSN()
	records := []*logtest.Record{w.Add(fill(5000, 1))}
	for left := before - records[0].Blocks(); left > 0; {
		n := min(left, w.Buffer/BlockSize)
		if left-n == 1 {
			n -= 2 // a record has two blocks at least
		}
		r := w.Add(fill((n-w.Headers())*BlockSize, byte(n)))
		left -= r.Blocks()
		records = append(records, r)
	}
	if w.Head != head {
		panic("the test's log ends elsewhere")
	}
	want := upTo(w, records)
	for i, f := range torn {
		r := w.Make(fill(w.Room()-5000*(i+1), byte(i)))
		w.Write(r, f)
	}
	return w, want
}

// ends are places of a log's head: in the middle, and such that what is
// written there passes the log's end.
var ends = []int{8192 - 256, 8191, 0}

var tears = map[string][]func(i int) bool{
	"whole":     nil,
	"missing":   {func(int) bool { return false }, nil},
	"a hole":    {func(i int) bool { return i != 3 }, nil, nil},
	"no start":  {func(i int) bool { return i > 0 }, nil},
	"scattered": {func(i int) bool { return i%3 == 1 }, func(i int) bool { return i%5 != 1 }, nil},
}

// forAll runs a test over all shapes of logs, heads and tears.
func forAll(t *testing.T, which []string, f func(t *testing.T, w *logtest.Log, want run)) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			for _, head := range ends {
				for _, tear := range which {
					if head%8 != 0 && formatted(8192, shape.change).Stripe > 0 {
						continue
					}
					w, want := laidOut(head, shape.change, tears[tear]...)
					if err := want.differs(reading(w)); err != nil {
						t.Errorf("head %d, %s: %v", head, tear, err)
						continue
					}
					f(t, w, want)
				}
			}
		})
	}
}

// A log is clean once all has been written, and what is written next goes on
// behind that, whatever had been torn.
func TestClean(t *testing.T) {
	forAll(t, []string{"whole", "scattered"}, func(t *testing.T, w *logtest.Log, _ run) {
		l := reading(w)
		s, err := l.Find()
		if err != nil {
			t.Fatal(err)
		}
		unmount := blocksIn(l.Unmount(&s))
		for _, b := range append(blocksIn(l.Stale(&s)), unmount...) {
			b.write(w)
		}
		want := cleaned(w, &s, unmount)
		if err := want.differs(l); err != nil {
			t.Errorf("head %d: %v", s.Head, err)
		}
		w.Head, w.Cycle, w.Last = want.head, want.cycle, s.Head
		w.Tail = w.LSN()
		var records []*logtest.Record
		for range 3 {
			records = append(records, w.Add(fill(3000, 1)))
			if err := upTo(w, records).differs(l); err != nil {
				t.Errorf("head %d, and %d records: %v", s.Head, len(records), err)
			}
		}
	})
}

// When writing stops early, at any block, the log is as it was, or clean.
func TestCleanStopped(t *testing.T) {
	forAll(t, []string{"a hole"}, func(t *testing.T, w *logtest.Log, want run) {
		l := reading(w)
		s, err := l.Find()
		if err != nil {
			t.Fatal(err)
		}
		stale, unmount := blocksIn(l.Stale(&s)), blocksIn(l.Unmount(&s))
		for i, b := range append(append([]block(nil), stale...), unmount...) {
			b.write(w)
			left := len(stale) + len(unmount) - 1 - i
			if left == 0 {
				want = cleaned(w, &s, unmount)
			}
			end := b.at == 0 || b.at == w.Blocks()-1
			if i > 2 && left > 2 && left != len(unmount) && left != len(unmount)-1 && !end && i%1009 != 0 {
				continue // most blocks are alike
			}
			if err := want.differs(l); err != nil {
				t.Fatalf("head %d, %d of %d and %d blocks: %v", s.Head, i+1, len(stale), len(unmount), err)
			}
		}
	})
}

// Blocks may also get to the disk in any order, up to the next flush.
func TestCleanScattered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom(shapes).Draw(t, "shape")
		head := rapid.IntRange(0, 8191/8).Draw(t, "head") * 8
		tear := rapid.SampledFrom([]string{"whole", "missing", "a hole", "no start", "scattered"}).Draw(t, "tear")
		w, want := laidOut(head, shape.change, tears[tear]...)
		l := reading(w)
		s, err := l.Find()
		if err != nil {
			t.Fatal(err)
		}
		stale, unmount := blocksIn(l.Stale(&s)), blocksIn(l.Unmount(&s))
		some := func(list []block) bool {
			seed, share := rapid.Uint32().Draw(t, "blocks"), rapid.Uint32Range(0, 8).Draw(t, "share")
			all := true
			for i, b := range list {
				if (uint32(i)*2654435761^seed)>>13&7 < share {
					b.write(w)
				} else {
					all = false
				}
			}
			return all
		}
		if rapid.Bool().Draw(t, "flushed") {
			for _, b := range stale {
				b.write(w)
			}
			if some(unmount) {
				want = cleaned(w, &s, unmount)
			}
		} else {
			some(stale)
		}
		if err := want.differs(l); err != nil {
			t.Fatal(err)
		}
	})
}

// Nothing is written over the tail.
func TestStaleSparesTheTail(t *testing.T) {
	w := formatted(4096, nil)
	records := history(w, 1, 1)
	w.Tail = records[0].LSN
	for i, r := range records {
		if r.LSN>>32 == 1 && r.Block > w.Head+300 {
			w.Tail = records[i].LSN
			break
		}
	}
	records = append(records, w.Add(fill(1000, 1)))
	l := reading(w)
	s, err := l.Find()
	if err != nil {
		t.Fatal(err)
	}
	stale := blocksIn(l.Stale(&s))
	if n := s.Tail - s.Head; len(stale) != n || stale[n-1].at != s.Tail-1 {
		t.Errorf("%d blocks for a head at %d and a tail at %d", len(stale), s.Head, s.Tail)
	}
	for _, b := range stale {
		b.write(w)
	}
	if err := upTo(w, records).differs(l); err != nil {
		t.Error(err)
	}
}

// Damaged records behind the head of a clean log are taken away, so that whoever
// goes by cycle numbers alone finds the same head; the last record stays, however
// short the log is.
func TestStaleOfCleanLog(t *testing.T) {
	for _, blocks := range []int{1024, 2048, 4096, 8192, 20000} {
		for _, head := range []int{2, 600, blocks - 200, blocks - 2} {
			for _, cycle := range []uint32{1, 5} {
				if cycle == 1 && head > blocks/2 {
					continue // its records would pass the end
				}
				w := formatted(blocks, nil)
				if head > 2 || cycle > 1 {
					w.Start(cycle, head)
				}
				w.Tail = w.LSN()
				last := w.Unmount()
				want := run{clean: true, head: w.Head, cycle: w.Cycle}
				w.Tail = last.LSN
				var bad *logtest.Record
				for i := range 4 {
					if r := w.Add(fill(20<<10, byte(i))); i == 0 {
						bad = r
					}
				}
				w.B[(bad.Block+1)%blocks*BlockSize+9] ^= 1
				written := (w.Head - want.head + blocks) % blocks
				l := reading(w)
				s, err := l.Find()
				if err != nil || !s.Clean || s.Head != want.head || s.Dropped != written {
					t.Errorf("%d blocks, head at %d of cycle %d: %+v, %v", blocks, head, cycle, s, err)
					continue
				}
				stale := blocksIn(l.Stale(&s))
				for i, b := range stale {
					if b.at == last.Block || b.at != (want.head+i)%blocks {
						t.Fatalf("%d blocks, head at %d: block %d is written over", blocks, head, b.at)
					}
					b.write(w)
				}
				if len(stale) < s.Dropped {
					t.Errorf("%d blocks, head at %d: %d blocks for %d", blocks, head, len(stale), s.Dropped)
				}
				if s, err = l.Find(); err != nil || s.Dropped != 0 || !s.Clean || s.Head != want.head || s.Cycle != want.cycle {
					t.Errorf("%d blocks, head at %d of cycle %d, then: %+v, %v", blocks, head, cycle, s, err)
				}
			}
		}
	}
}
