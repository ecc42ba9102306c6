package livetest

import (
	"errors"
	"io"
	"os"
	"sort"
	"testing"

	"golang.org/x/sys/unix"
)

// image is a file of which most is holes, which are not read.
type image struct {
	f    *os.File
	data []part // what is none, in order
}

type part struct{ off, end int64 }

func openImage(t testing.TB, path string) *image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	i := &image{f: f}
	for at := int64(0); ; {
		off, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return i
		}
		if err == nil {
			at, err = f.Seek(off, unix.SEEK_HOLE)
		}
		if err != nil {
			t.Fatal(err)
		}
		i.data = append(i.data, part{off, at})
	}
}

// read reads into zeros. Behind the end there are more of them.
func (i *image) read(p []byte, off int64) {
	end := off + int64(len(p))
	first := sort.Search(len(i.data), func(k int) bool { return i.data[k].end > off })
	for _, d := range i.data[first:] {
		from, to := max(d.off, off), min(d.end, end)
		if from >= to {
			return
		}
		_, _ = i.f.ReadAt(p[from-off:to-off], from)
	}
}

func (i *image) copyTo(f *os.File) error {
	for _, d := range i.data {
		if _, err := f.Seek(d.off, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(f, io.NewSectionReader(i.f, d.off, d.end-d.off)); err != nil {
			return err
		}
	}
	return nil
}
