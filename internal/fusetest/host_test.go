package fusetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const latency = 30 * time.Millisecond

// Reads in flight together take the latency together.
func TestLatency(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a mount needs root")
	}
	want := make([]byte, 1<<20) // a number in each page
	for i := range want {
		want[i] = byte(i / pageSize)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	h, down, err := Mount(dir, path, Options{})
	if errors.Is(err, ErrNone) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer down()
	h.Latency.Store(int64(latency))
	// Not an os.File: the runtime would poll it, and nobody be left to answer.
	fd, err := unix.Open(Image(dir), unix.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	page := AlignedCopy(bytes.Repeat([]byte{99}, pageSize))
	if _, err := unix.Pwrite(fd, page, 2*pageSize); err != nil {
		t.Fatal(err)
	}
	copy(want[2*pageSize:], page)
	started := time.Now()
	const count = 16
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			b := Aligned(pageSize)
			if _, err := unix.Pread(fd, b, int64(i*pageSize)); err != nil || !bytes.Equal(b, want[i*pageSize:][:pageSize]) {
				t.Errorf("page %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if took := time.Since(started); took < latency || took > count*latency {
		t.Errorf("%d reads at once took %v, each %v", count, took, latency)
	}
}
