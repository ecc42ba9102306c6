package against_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"mkfs/internal/against"
	"mkfs/internal/aio"
	"mkfs/internal/live/livetest"
	"mkfs/internal/source"
	"mkfs/internal/tree"
)

var benchFiles = flag.Int("files", 4000, "how many small files are compared")

// replay gives entries that another source has given, from memory.
type replay struct {
	list []tree.Entry
	at   int
}

type memory []byte

func (m memory) Next(off int64) (start, end int64, err error) {
	if off >= int64(len(m)) {
		return 0, 0, io.EOF
	}
	return off, int64(len(m)), nil
}

func (m memory) ReadAt(p []byte, off int64) error { copy(p, m[off:]); return nil }

func (r *replay) Path() string { return r.list[r.at-1].Name }
func (r *replay) Close() error { return nil }

func (r *replay) Next() (*tree.Entry, error) {
	if r.at == len(r.list) {
		return nil, io.EOF
	}
	r.at++
	return &r.list[r.at-1], nil
}

// record reads all of a source.
func record(t testing.TB, src tree.Source) (list []tree.Entry) {
	t.Helper()
	for {
		e, err := src.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		must(t, err)
		c := *e
		if e.Data != nil {
			m := make(memory, e.Size)
			must(t, e.Data.ReadAt(m, 0))
			c.Data = m
		}
		c.Attrs = nil
		for _, a := range e.Attrs {
			c.Attrs = append(c.Attrs, tree.Attr{Name: a.Name, Value: bytes.Clone(a.Value)})
		}
		list = append(list, c)
	}
}

// BenchmarkCompare compares small files in a few directories, with the source in memory.
func BenchmarkCompare(b *testing.B) {
	for _, kind := range []struct {
		name  string
		bytes int
		n     int
	}{{"small", 5, *benchFiles}, {"large", 64 << 20, 4}} {
		b.Run(kind.name, func(b *testing.B) {
			root := sourceDir(b)
			content := pattern(kind.bytes)
			for i := range kind.n {
				write(b, filepath.Join(root, fmt.Sprint("d", i%4), fmt.Sprint("f", i)), content)
			}
			image := filepath.Join(sourceDir(b), "image")
			must(b, os.WriteFile(image, nil, 0o600))
			must(b, os.Truncate(image, 4<<30))
			if out, err := livetest.Run(b, "mkfs.xfs", "-q", "-n", "parent=1", "-p", root, image); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			list := record(b, &host{root: root})
			b.SetBytes(int64(kind.n) * int64(kind.bytes))
			b.ReportAllocs()
			for b.Loop() {
				t, err := source.OpenFilesystem(image, nil, aio.Config{}, false)
				must(b, err)
				f, err := t.Files("", nil)
				must(b, err)
				n, err := against.Compare(context.Background(), against.Job{
					FS: f.FS, Super: f.Super, Ring: t.Ring, Source: &replay{list: list}, Memory: aio.NewSlab,
				})
				if err != nil || n.Differences > 0 {
					b.Fatalf("%+v, %v", n, err)
				}
				must(b, f.Cache.Release())
				must(b, t.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/entry")
		})
	}
}
