package aio

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/fusetest"
)

// A host that does only a part of each write gets all of it in the end, in the
// right places, or there is an error. io_uring goes on with the rest by itself, and
// where direct IO is "one by one" with the wrong one, so it is refused.
func TestShortHost(t *testing.T) {
	for _, c := range []struct {
		name  string
		host  fusetest.Options
		flags int
	}{
		{"cached", fusetest.Options{Cached: true}, 0},
		{"small cached", fusetest.Options{Cached: true, Largest: 8192}, 0},
		{"cached, direct IO one by one", fusetest.Options{Cached: true, Largest: 8192, OneByOne: true}, unix.O_DIRECT},
		{"direct one by one", fusetest.Options{Largest: 8192, OneByOne: true}, 0},
		{"direct, direct IO one by one", fusetest.Options{Largest: 8192, OneByOne: true}, unix.O_DIRECT},
		{"cached, direct IO", fusetest.Options{Cached: true}, unix.O_DIRECT},
		{"direct", fusetest.Options{}, 0},
		{"direct, direct IO", fusetest.Options{}, unix.O_DIRECT},
	} {
		for _, kind := range []Kind{Uring, AIO, Sync, Auto} {
			t.Run(c.name+" "+kind.String(), func(t *testing.T) { shortHost(t, c.host, c.flags, kind) })
		}
	}
}

func shortHost(t *testing.T, host fusetest.Options, flags int, kind Kind) {
	const size, piece = 1 << 20, 16 << 10
	file, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	must(t, os.WriteFile(file, make([]byte, size), 0o600))
	h, down, err := fusetest.Mount(dir, file, host)
	if errors.Is(err, fusetest.ErrNone) {
		t.Skip(err)
	}
	must(t, err)
	defer func() { must(t, down()) }()
	h.Most.Store(5 << 10 &^ 511)
	fd, err := unix.Open(fusetest.Image(dir), unix.O_RDWR|flags, 0)
	must(t, err)
	defer unix.Close(fd)
	r, err := Open(fd, Config{Engine: kind, Depth: 16})
	if kind == Uring {
		if err == nil {
			r.Close()
			t.Error("io_uring was opened")
		} else if !errors.Is(err, errFUSE) {
			t.Error(err)
		}
		return
	}
	if err != nil {
		t.Skip(err)
	}
	want := fusetest.AlignedCopy(noise(rand.New(rand.NewPCG(1, 2)), size))
	for off := 0; off < size && err == nil; off += piece {
		err = r.Write(int64(off), [][]byte{want[off : off+piece/2], want[off+piece/2 : off+piece]}, nil)
	}
	if err == nil {
		err = r.Sync()
	}
	if e := r.Close(); err == nil {
		err = e
	}
	got, e := os.ReadFile(file)
	must(t, e)
	bad := 0
	for i := 0; i < size; i += 512 {
		if !bytes.Equal(got[i:i+512], want[i:i+512]) {
			bad++
		}
	}
	t.Logf("%d writes, %d short, %d sectors wrong, %v", h.Writes.Load(), r.Stats().Short, bad, err)
	if err == nil && bad > 0 {
		t.Errorf("%d sectors are wrong, and there is no error", bad)
	}
}
