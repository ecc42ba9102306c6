package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mkfs/internal/report"
)

// largeHost is a folder that takes sparse files of any size, or skips.
func largeHost(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "mkfs-")
	if err != nil {
		t.Skip("needs a tmpfs on /dev/shm:", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Memory does not grow with the number of AGs, nor does that of verifying, and
// an image takes no more space than its headers (P27).
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("makes some thousand AGs")
	}
	img := filepath.Join(largeHost(t), "img")
	// peak runs the program and returns the most memory it had, in bytes.
	peak := func(args ...string) int64 {
		t.Helper()
		cmd := exec.Command("mkfs", append(args, img)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	sizes := []string{"512t", "8p"} // 512 and 8193 AGs
	var made, verified [2]int64
	for i, size := range sizes {
		os.Remove(img)
		made[i] = peak("-q", "--size", size)
		verified[i] = peak("verify", "-q")
		if most := int64(1<<20) + 29<<10*int64([]int{513, 8193}[i]); takenBy(t, img) > most {
			t.Errorf("%s takes %d bytes, more than %d", size, takenBy(t, img), most)
		}
	}
	const slack = 24 << 20 // of the collector
	if made[1] > made[0]+slack || verified[1] > verified[0]+slack {
		t.Errorf("for %v it takes %v bytes of memory, and to verify %v", sizes, made, verified)
	}
}

// The largest file there is has numbers that fit (P27).
func TestLargestFile(t *testing.T) {
	img := filepath.Join(largeHost(t), "img")
	f, err := os.Create(img)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1<<63 - 1); err != nil {
		t.Skip("no file of 8 EiB here:", err)
	}
	status, out, errs := runAs(t, "mkfs", "-N", img)
	for _, want := range []string{"agcount=8388609, agsize=268435455", "blocks=2251799813685247, imaxpct=1", "blocks=521728, version=2"} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("no %q: exit status %d\n%s%s", want, status, out, errs)
		}
	}
	var r report.Made
	if status, out, _ := runAs(t, "mkfs", "-N", "--json", img); status != 0 || json.Unmarshal([]byte(out), &r) != nil ||
		r.Geometry.AGCount != 8388609 || r.Geometry.Bytes != 2251799813685247*4096 {
		t.Errorf("%d: %s", status, out)
	}
	// Its headers are too much for any host here, which is said before anything is made.
	if free, err := freeOn(img); err == nil && free < 200<<30 {
		if status, _, errs := runAs(t, "mkfs", img); status != 1 || !strings.Contains(errs, "the metadata takes") {
			t.Errorf("exit status %d\n%s", status, errs)
		}
		if n := takenBy(t, img); n > 0 {
			t.Errorf("%d bytes were written", n)
		}
	}
}

// freeOn is what a file's host has free.
func freeOn(path string) (int64, error) {
	var st syscall.Statfs_t
	err := syscall.Statfs(path, &st)
	return int64(st.Bavail) * st.Bsize, err
}
