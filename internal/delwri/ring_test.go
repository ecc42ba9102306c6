package delwri_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio"
	"mkfs/internal/aio/aiotest"
	"mkfs/internal/delwri"
)

var _ delwri.Writer = (*aio.Ring)(nil)

// A List over every engine, on a file.
func TestListOverRing(t *testing.T) {
	for _, kind := range []aio.Kind{aio.Auto, aio.Uring, aio.AIO, aio.Sync} {
		t.Run(kind.String(), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "image")
			f, err := os.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := aio.Open(int(f.Fd()), aio.Config{Engine: kind})
			if err != nil {
				t.Skip(err)
			}
			defer r.Close()
			const ags, agSize = 200, 64 << 10
			slab, release, err := aio.NewSlab(ags * 28 << 10)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			rnd := rand.New(rand.NewPCG(1, 1))
			l := delwri.NewList(r, delwri.Config{Device: name})
			want := make([]byte, ags*agSize)
			for range 2 { // the second batch recycles everything
				for i := range slab {
					slab[i] = byte(rnd.Uint32())
				}
				for _, ag := range rnd.Perm(ags) {
					head := slab[ag*28<<10 : (ag+1)*28<<10]
					copy(want[ag*agSize:], head)
					for at := 0; at < len(head); {
						n := min(512*(1+rnd.IntN(8)), len(head)-at)
						l.Add(&delwri.Buffer{Off: int64(ag*agSize + at), Data: head[at : at+n]})
						at += n
					}
				}
				if err := l.Submit(); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Sync(); err != nil {
				t.Fatal(err)
			}
			if s := r.Stats(); s.Writes != l.Stats().Requests || s.Writes != 2*ags || l.Stats().Pieces != 2*ags {
				t.Errorf("ring %+v, list %+v", s, l.Stats())
			}
			if err := f.Truncate(int64(len(want))); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("contents differ")
			}
		})
	}
}

// Whatever the ring does, the error says which buffer.
func TestPlaceThroughRing(t *testing.T) {
	const n, size = 300, 512
	for seed := range uint64(100) {
		bad := int64(seed*1543) % (n * size)
		store := aiotest.NewMem(n * size)
		r, err := aiotest.Open(store, seed, aiotest.Faults{
			Depth: 1 + int(seed%40), Short: 30, Retry: 10, Busy: 10, Now: 10,
			BadFrom: bad, BadTo: bad + 1, Errno: unix.ENOSPC,
		})
		if err != nil {
			t.Fatal(err)
		}
		l := delwri.NewList(r, delwri.Config{Device: "disk", MaxRequest: 4096})
		for i := range int64(n) {
			l.Add(&delwri.Buffer{Off: i * size, Data: bytes.Repeat([]byte{1}, size), Place: delwri.Place{AG: i, Name: "AGF"}})
		}
		err = l.Submit()
		var e *delwri.WriteError
		if !errors.As(err, &e) || e.Off != bad || e.Place.AG != bad/size || e.Err != error(unix.ENOSPC) {
			t.Fatalf("bad byte %d: %v", bad, err)
		}
		if cerr := r.Close(); !errors.Is(cerr, unix.ENOSPC) {
			t.Errorf("Close: %v", cerr)
		}
	}
}

// Fail the n-th write for every n: it must surface, and below it nothing may
// claim to be written that is not.
func TestFailEveryWrite(t *testing.T) {
	for n := 1; ; n++ {
		r, err := aiotest.Open(aiotest.NewMem(1<<20), uint64(n), aiotest.Faults{Depth: 7, FailWrite: n, Short: 20})
		if err != nil {
			t.Fatal(err)
		}
		l := delwri.NewList(r, delwri.Config{})
		err = nil
		for batch := range int64(4) {
			for i := range int64(50) {
				l.Add(&delwri.Buffer{Off: batch<<17 + i*1024, Data: make([]byte, 512)})
			}
			if err = l.Submit(); err != nil {
				break
			}
		}
		cerr := r.Close()
		if n > 200 {
			if err != nil || cerr != nil {
				t.Errorf("nothing failed: %v, %v", err, cerr)
			}
			return
		}
		if !errors.Is(err, unix.EIO) || !errors.Is(cerr, unix.EIO) {
			t.Fatalf("write %d failed: Submit %v, Close %v", n, err, cerr)
		}
	}
}
