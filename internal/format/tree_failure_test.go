package format

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio/aiotest"
	"mkfs/internal/tree"
)

// failing is a tree whose n-th call of its source fails, or does something else before.
type failing struct {
	*forest
	calls, n int
	err      error
	before   func()
}

func (f *failing) call() error {
	if f.calls++; f.calls != f.n {
		return nil
	}
	if f.before != nil {
		f.before()
	}
	return f.err
}

func (f *failing) Open(ctx context.Context) (tree.Source, error) {
	if err := f.call(); err != nil {
		return nil, err
	}
	_, err := f.forest.Open(ctx)
	return f, err
}

func (f *failing) Close() error { return f.call() }

func (f *failing) Next() (*tree.Entry, error) {
	if err := f.call(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	e, err := f.forest.Next()
	if err == nil && e.Data != nil {
		e.Data = failingData{e.Data, f}
	}
	return e, err
}

type failingData struct {
	tree.Data
	f *failing
}

func (d failingData) Next(off int64) (start, end int64, err error) {
	if err := d.f.call(); err != nil {
		return 0, 0, err
	}
	return d.Data.Next(off)
}

func (d failingData) ReadAt(p []byte, off int64) error {
	if err := d.f.call(); err != nil {
		return err
	}
	return d.Data.ReadAt(p, off)
}

// grove is a tree of some hundred files, with data for several parts of the memory.
func grove() *forest { return &forest{dirs: 4, files: 30, bytes: 30_000} }

const groveSize = 64 << 20

// Every write that fails while a tree is copied ends the run, and there is nothing that mounts.
func TestEachWriteOfATreeFails(t *testing.T) {
	g := testGeometry(t, groveSize, 16<<20)
	job := testJob(g, newDisk(groveSize))
	job.Tree = grove()
	stats, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	n := int(stats.Ring.Writes)
	if n < 20 {
		t.Fatalf("only %d requests", n)
	}
	for fail := 1; fail <= n; fail++ {
		d := newDisk(groveSize)
		d.seed = uint64(fail)
		d.faults = aiotest.Faults{FailWrite: fail, Errno: unix.ENOSPC, Depth: 1 + fail%40}
		job := testJob(g, d)
		job.Tree = grove()
		_, err := Run(context.Background(), job)
		if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), d.name) {
			t.Errorf("write %d of %d: %v", fail, n, err)
		}
		if d.finished() && fail < n {
			t.Errorf("write %d of %d: there is a finished filesystem", fail, n)
		}
		if d.opened != d.closed {
			t.Errorf("write %d of %d: opened %d times, closed %d times", fail, n, d.opened, d.closed)
		}
	}
}

// Every call of a source that fails ends the run with its error, and there is nothing that mounts.
func TestEachCallOfASourceFails(t *testing.T) {
	g := testGeometry(t, groveSize, 16<<20)
	cause := errors.New("the source is gone")
	for n := 1; ; n++ {
		f := &failing{forest: grove(), n: n, err: cause}
		d := newDisk(groveSize)
		job := testJob(g, d)
		job.Tree = f
		_, err := Run(context.Background(), job)
		if f.calls < n {
			if err != nil || !d.finished() {
				t.Errorf("no call fails, and yet %v", err)
			}
			if n < 400 {
				t.Errorf("only %d calls", n)
			}
			return
		}
		if !errors.Is(err, cause) {
			t.Errorf("call %d: %v", n, err)
		}
		if d.finished() || d.opened != d.closed {
			t.Errorf("call %d: finished %v, opened %d times, closed %d times", n, d.finished(), d.opened, d.closed)
		}
	}
}

// A run that is cancelled while a tree is copied ends at once, without a filesystem: also within a
// large file.
func TestCancelATree(t *testing.T) {
	for _, c := range []struct {
		f    *forest
		size int64
	}{{grove(), 256 << 20}, {&forest{dirs: 1, files: 1, bytes: 8 << 40}, 10 << 40}} {
		for _, n := range []int{1, 2, 5, 6, 7, 100} {
			ctx, cancel := context.WithCancel(context.Background())
			var at time.Time
			g := testGeometry(t, c.size, c.size/16)
			d := newDisk(c.size)
			job := testJob(g, d)
			job.Tree = &failing{forest: c.f, n: n, before: func() {
				at = time.Now()
				cancel()
			}}
			_, err := Run(ctx, job)
			cancel()
			if !errors.Is(err, context.Canceled) || d.finished() || d.opened != d.closed {
				t.Errorf("call %d: %v, finished %v", n, err, d.finished())
			}
			if took := time.Since(at); took > time.Second {
				t.Errorf("call %d: it took %v to end", n, took)
			}
		}
	}
}
