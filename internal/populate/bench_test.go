package populate_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"mkfs/internal/live/livetest"
	"mkfs/internal/metafile"
	"mkfs/internal/populate"
	"mkfs/internal/tree"
)

// made is a tree of n files of five bytes in a hundred directories, which nothing has to read.
type made struct {
	n, i  int
	entry tree.Entry
}

func (m *made) Name() string { return "made" }
func (m *made) Open(context.Context) (tree.Source, error) {
	m.i = -1
	return m, nil
}
func (m *made) Forget() {}

func (m *made) Survey(ctx context.Context, _ int64, _ func(string, error)) (tree.Source, error) {
	return m.Open(ctx)
}
func (m *made) Path() string { return "made" }
func (m *made) Close() error { return nil }

func (m *made) Next() (*tree.Entry, error) {
	per := m.n/100 + 1
	e := &m.entry
	*e = tree.Entry{Mode: tree.TypeDirectory | 0o755, Modified: tree.Time{Sec: 1e9, Given: true}}
	switch i := m.i; {
	case i < 0:
	case i == per*100:
		return nil, io.EOF
	case i%per == 0:
		e.Depth, e.Name = 1, fmt.Sprint("d", i/per)
	default:
		e.Depth, e.Name, e.Mode = 2, fmt.Sprint("f", i%per), tree.TypeRegular|0o644
		e.Size, e.Data, e.Stored, e.Pieces = 5, five{}, 4096, 1
	}
	m.i++
	return e, nil
}

type five struct{}

func (five) Next(off int64) (int64, int64, error) {
	if off >= 5 {
		return 0, 0, io.EOF
	}
	return off, 5, nil
}

func (five) ReadAt(p []byte, off int64) error {
	copy(p, "hello"[off:])
	return nil
}

// sink takes data that goes nowhere.
type sink struct{ b []byte }

func (s *sink) Most() int                             { return len(s.b) }
func (s *sink) Room(off int64, n int) ([]byte, error) { return s.b[:n], nil }

// BenchmarkSmallFiles makes files of five bytes.
func BenchmarkSmallFiles(b *testing.B) {
	fs, _ := livetest.New(b, livetest.Plan(b, 1<<40, nil))
	src, err := (&made{n: b.N}).Open(context.Background())
	must(b, err)
	m := metafile.New(fs)
	f := populate.New(fs, m.Names(), src, &sink{make([]byte, 512<<10)})
	m.RootDir, err = f.Root()
	must(b, err)
	m.Tree = f
	b.ReportAllocs()
	b.ResetTimer()
	_, err = m.All(context.Background())
	must(b, err)
}
