package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio"
)

const (
	slowTestSize    = 1 << 20
	slowTestLatency = 30 * time.Millisecond
)

// slowTestFile has a number in each page.
func slowTestFile(t *testing.T) (path string, want []byte) {
	t.Helper()
	want = make([]byte, slowTestSize)
	for i := range want {
		want[i] = byte(i / pageSize)
	}
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, want
}

// Reads take the latency, and those in flight together take it together.
func TestSlowRing(t *testing.T) {
	path, want := slowTestFile(t)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const depth, count = 8, 24
	ring, err := aio.Open(int(f.Fd()), aio.Config{Engine: aio.Sync, Depth: depth})
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	r := &slowRing{Ring: ring, depth: depth, latency: slowTestLatency}
	started := time.Now()
	got, done := make([]byte, count*pageSize), 0
	for i := range count {
		err := r.Read(int64(i*pageSize), [][]byte{got[i*pageSize:][:pageSize]}, func(err error) {
			if err != nil {
				t.Error(err)
			}
			done++
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.reads) > depth {
			t.Fatalf("%d reads in flight", len(r.reads))
		}
	}
	if err := r.Reap(depth); err != nil {
		t.Fatal(err)
	}
	took := time.Since(started)
	if done != count || !bytes.Equal(got, want[:len(got)]) {
		t.Errorf("%d of %d reads are done", done, count)
	}
	if least := count / depth * slowTestLatency; took < least || took > count*slowTestLatency {
		t.Errorf("%d reads, %d at once, took %v, the least is %v", count, depth, took, least)
	}
}

func TestSlowFS(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a mount needs root")
	}
	path, want := slowTestFile(t)
	dir := t.TempDir()
	fs, down, err := mountSlow(dir, path)
	if err != nil {
		t.Skip(err)
	}
	defer down()
	fs.latency.Store(int64(slowTestLatency))
	// Not an os.File: the runtime would poll it, and nobody be left to answer.
	fd, err := unix.Open(slowImage(dir), unix.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	page := alignedCopy(bytes.Repeat([]byte{99}, pageSize))
	if _, err := unix.Pwrite(fd, page, 2*pageSize); err != nil {
		t.Fatal(err)
	}
	copy(want[2*pageSize:], page)
	started := time.Now()
	const count = 16
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			b := aligned(pageSize)
			if _, err := unix.Pread(fd, b, int64(i*pageSize)); err != nil || !bytes.Equal(b, want[i*pageSize:][:pageSize]) {
				t.Errorf("page %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if took := time.Since(started); took < slowTestLatency || took > count*slowTestLatency {
		t.Errorf("%d reads at once took %v, each %v", count, took, slowTestLatency)
	}
}

// Changing files all over the disk changes each of them once.
func TestScattered(t *testing.T) {
	for _, tree := range []tree{{1000, 125}, {80, 125}} {
		seen := make([]bool, tree.count())
		for i := range seen {
			seen[tree.scattered(i)] = true
		}
		for i, was := range seen {
			if !was {
				t.Fatalf("%v: file %d is left out", tree, i)
			}
		}
	}
}
