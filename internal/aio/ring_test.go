package aio

import (
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func contains(err error, s string) bool { return strings.Contains(err.Error(), s) }

// script is an engine that answers with results given beforehand.
type script struct {
	res    []int
	held   []*op
	offs   []int64 // of every request it was given
	broken error   // what reap fails with
}

func (s *script) name() string { return "script" }
func (s *script) queue(o *op) status {
	s.offs = append(s.offs, o.off)
	if s.broken != nil {
		s.held = append(s.held, o)
		return queued
	}
	o.res = s.res[0]
	if len(s.res) > 1 {
		s.res = s.res[1:]
	}
	return done
}
func (s *script) commit() error                        { return nil }
func (s *script) reap(_ int, out []*op) ([]*op, error) { return out, s.broken }
func (s *script) close() error                         { return nil }

func scripted(depth int, s *script) *Ring {
	r := newRing(depth)
	r.eng = s
	r.fsync = func() error { return nil }
	return r
}

func TestTransfers(t *testing.T) {
	eintr, eagain, eio := -int(unix.EINTR), -int(unix.EAGAIN), -int(unix.EIO)
	for _, c := range []struct {
		name string
		read bool
		res  []int
		want error
		off  int64 // of the error
		tail int64 // offset of the last submission
	}{
		{"whole", false, []int{100}, nil, 0, 1000},
		{"short", false, []int{30, 30, 40}, nil, 0, 1060},
		{"retried", false, []int{eintr, eagain, 30, eintr, 70}, nil, 0, 1030},
		{"error", false, []int{eio}, unix.EIO, 1000, 1000},
		{"error after progress", false, []int{99, eio}, unix.EIO, 1099, 1099},
		{"no progress", false, []int{0}, io.ErrShortWrite, 1000, 1000},
		{"no more progress", false, []int{1, 0}, io.ErrShortWrite, 1001, 1001},
		{"end of file", true, []int{99, 0}, io.ErrUnexpectedEOF, 1099, 1099},
		{"overrun", false, []int{101}, errOverrun, 1000, 1000},
		{"overrun of the rest", true, []int{50, 51}, errOverrun, 1050, 1050},
		{"EAGAIN for ever", false, []int{50, eagain}, unix.EAGAIN, 1050, 1050},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{res: c.res}
			r := scripted(4, s)
			var got error
			ran := 0
			fn := func(err error) { ran++; got = err }
			vec := [][]byte{make([]byte, 29), make([]byte, 1), make([]byte, 70)}
			if c.read {
				must(t, r.Read(1000, vec, fn))
			} else {
				must(t, r.Write(1000, vec, fn))
			}
			err := r.Reap(1)
			if !errors.Is(got, c.want) || err != got || ran != 1 {
				t.Fatalf("done ran %d times, got %v; Reap %v; want %v", ran, got, err, c.want)
			}
			var e *Error
			if errors.As(got, &e) && e.Off != c.off {
				t.Errorf("error at byte %d, want %d", e.Off, c.off)
			}
			if last := s.offs[len(s.offs)-1]; last != c.tail {
				t.Errorf("last submission at byte %d, want %d", last, c.tail)
			}
		})
	}
}

// What waits in the Ring when another fails is not started.
func TestWaitingCanceled(t *testing.T) {
	s := &script{res: []int{1, -int(unix.ENOSPC), 1}}
	r := scripted(100, s) // gathers 6
	var errs []error
	for i := range int64(5) {
		must(t, r.Write(i, [][]byte{{1}}, func(err error) { errs = append(errs, err) }))
	}
	err := r.Reap(5)
	if len(s.offs) != 2 {
		t.Errorf("%d requests were started", len(s.offs))
	}
	if len(errs) != 5 || errs[0] != nil || errs[1] != err || !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("done functions got %v", errs)
	}
	for i, err := range errs[2:] {
		var e *Error
		if !errors.Is(err, ErrCanceled) || !errors.As(err, &e) || e.Off != int64(2+i) {
			t.Errorf("canceled request got %v", err)
		}
	}
}

// An engine that breaks takes its requests with it: they fail, each once, and
// nobody waits for them.
func TestBrokenEngine(t *testing.T) {
	s := &script{broken: errors.New("ring torn")}
	r := scripted(8, s)
	ran := 0
	for i := range int64(5) {
		must(t, r.Write(i, [][]byte{{1}}, func(err error) {
			ran++
			if !errors.Is(err, s.broken) {
				t.Errorf("done got %v", err)
			}
		}))
	}
	err := r.Reap(5)
	if !errors.Is(err, s.broken) || ran != 5 {
		t.Errorf("%d ran, Reap returned %v", ran, err)
	}
	for _, o := range s.held {
		if len(o.all) == 0 || o.all[0].Base == nil {
			t.Error("memory was let go")
		}
	}
	if again := r.Close(); again != err {
		t.Errorf("Close returned %v", again)
	}
}

func TestUseFromCompletion(t *testing.T) {
	r := scripted(4, &script{res: []int{1}})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	must(t, r.Write(0, [][]byte{{1}}, func(error) { r.Write(1, [][]byte{{1}}, nil) }))
	r.Reap(1)
}

func TestDepthLimits(t *testing.T) {
	for _, depth := range []int{-1, MaxDepth + 1} {
		if _, err := Open(0, Config{Engine: Sync, Depth: depth}); err == nil {
			t.Errorf("depth %d was taken", depth)
		}
		if _, err := OpenCustom(nil, depth, false); err == nil {
			t.Errorf("depth %d was taken for another engine", depth)
		}
	}
	f := tempFile(t)
	for _, k := range []Kind{Uring, AIO, Sync} {
		r, err := Open(int(f.Fd()), Config{Engine: k, Depth: MaxDepth})
		if err != nil {
			t.Logf("%v: %v", k, err)
			continue
		}
		must(t, r.Close())
	}
}

func TestKinds(t *testing.T) {
	for _, k := range []Kind{Auto, Uring, AIO, Sync} {
		if got, err := ParseKind(k.String()); err != nil || got != k {
			t.Errorf("ParseKind(%q) = %v, %v", k, got, err)
		}
	}
	if k, err := ParseKind("uring"); err != nil || k != Uring {
		t.Error(k, err)
	}
	if _, err := ParseKind("mmap"); err == nil || !contains(err, "auto, uring, aio, sync") {
		t.Error(err)
	}
	f := tempFile(t)
	r, err := Open(int(f.Fd()), Config{})
	must(t, err)
	t.Logf("auto is %s", r.Engine())
	must(t, r.Close())
}

func TestSlab(t *testing.T) {
	b, release, err := NewSlab(10_000)
	must(t, err)
	b[0], b[9_999] = 1, 1
	must(t, release())
	if _, _, err := NewSlab(0); err == nil {
		t.Error("empty slab")
	}
}
