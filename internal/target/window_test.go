package target

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWithin(t *testing.T) {
	in := Info{Path: "x", Size: 10 << 20, LogicalSector: 512, PhysicalSector: 4096}
	for _, c := range []struct {
		w          Window
		offset, n  int64
		misaligned bool
		fails      bool
	}{
		{w: Window{4096, 1 << 20}, offset: 4096, n: 1 << 20},
		{w: Window{512, 512}, offset: 512, n: 512, misaligned: true},
		{w: Window{1 << 20, 0}, offset: 1 << 20, n: 9 << 20},
		{w: Window{1 << 20, 9 << 20}, offset: 1 << 20, n: 9 << 20},
		{w: Window{1 << 20, 9<<20 + 512}, fails: true},
		{w: Window{10 << 20, 0}, fails: true},
		{w: Window{100, 512}, fails: true},
		{w: Window{512, 100}, fails: true},
		{w: Window{-512, 0}, fails: true},
		{w: Window{0, -512}, fails: true},
		{w: Window{512, 1<<63 - 1}, fails: true},
	} {
		got, err := in.Within(c.w)
		if (err != nil) != c.fails {
			t.Errorf("%+v: %v", c.w, err)
		} else if err == nil && (got.Offset != c.offset || got.Size != c.n || got.Misaligned != c.misaligned || !got.Part || !got.Same(in)) {
			t.Errorf("%+v: %+v", c.w, got)
		}
	}
	odd := Info{Size: 1<<20 + 100, LogicalSector: 512, PhysicalSector: 512}
	if got, err := odd.Within(Window{512, 0}); err != nil || got.Size != 1<<20-512 {
		t.Errorf("to the end of an odd file: %+v, %v", got, err)
	}
}

// Whatever is done to a part, nothing outside of it changes.
func TestPart(t *testing.T) {
	const size, off, n = 4 << 20, 1<<20 + 512, 1 << 20
	for name, dir := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "img")
			want := bytes.Repeat([]byte{0x5a}, size)
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			part := &Window{off, n}
			if _, err := Open(path, Options{Write: true, Create: true, Window: part}); err == nil {
				t.Error("a part can be made")
			}
			tg := mustOpen(t, path, Options{Write: true, Window: part, Direct: true})
			if in := tg.Info(); in.Size != n || in.Offset != off || !in.Part {
				t.Fatalf("%+v", in)
			}
			if direct, align := tg.DirectIO(); direct && off%align != 0 {
				t.Errorf("direct IO of %d bytes, from byte %d on", align, off)
			}
			if _, err := tg.WriteAt([]byte("first"), 0); err != nil {
				t.Error(err)
			}
			if _, err := tg.WriteAt([]byte("last"), n-4); err != nil {
				t.Error(err)
			}
			copy(want[off:], "first")
			copy(want[off+n-4:], "last")
			for _, at := range []int64{-1, n - 4, n, 1 << 62} {
				if _, err := tg.WriteAt([]byte("12345"), at); err == nil {
					t.Errorf("5 bytes can be written at %d of %d", at, n)
				}
			}
			if err := tg.Zero(1000, n); err != nil { // to its end and no further
				t.Error(err)
			}
			clear(want[off+1000 : off+n])
			b := make([]byte, 100)
			if k, err := tg.ReadAt(b, n-50); k != 50 || err != io.EOF {
				t.Errorf("read %d bytes at the end: %v", k, err)
			}
			if tg.Grow(n+1) == nil || tg.Truncate(n-1) == nil || tg.Grow(n) != nil || tg.Truncate(n) != nil {
				t.Error("a part can change its size")
			}
			if from, to, err := tg.NextData(0, n); err != nil || from != 0 || to <= from || to > n {
				t.Errorf("data from %d to %d, %v", from, to, err)
			}
			got, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("something else has changed, %v", err)
			}
			if tg.Blank() {
				t.Error("there is data")
			}
			if err := tg.Close(); err != nil {
				t.Fatal(err)
			}
			to, err := Copy(context.Background(), path+".copy", path, part)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(to.RemoveCreated)
			got, err = os.ReadFile(path + ".copy")
			if err != nil || !bytes.Equal(got, want[off:off+n]) {
				t.Errorf("the copy differs, %v", err)
			}
		})
	}
}

// A part that is a hole is blank, though the rest of the file is not.
func TestBlankPart(t *testing.T) {
	path := makeFile(t, 4<<20)
	tg := mustOpen(t, path, Options{Write: true})
	for _, at := range []int64{0, 3 << 20} {
		if _, err := tg.WriteAt([]byte("data"), at); err != nil {
			t.Fatal(err)
		}
	}
	if part := mustOpen(t, path, Options{Window: &Window{1 << 20, 2 << 20}}); !part.Blank() {
		t.Error("a hole is not blank")
	}
	if part := mustOpen(t, path, Options{Window: &Window{1 << 20, 2<<20 + 512}}); part.Blank() {
		t.Error("data is blank")
	}
}
