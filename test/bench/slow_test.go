package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mkfs/internal/aio"
)

const (
	pageSize        = 4096
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
