package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mkfs/internal/aio"
	"mkfs/internal/buffer"
)

// What the benchmark makes is a filesystem that the reference finds nothing wrong with,
// whenever it is written.
func TestCreatesAreRight(t *testing.T) {
	for _, name := range []string{"mkfs.xfs", "xfs_repair"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	for _, age := range []int64{buffer.AtOnce, 100, buffer.AtEnd} {
		path := filepath.Join(t.TempDir(), "image")
		if out, err := exec.Command("mkfs.xfs", "-q", "-d", "file,size=1g,name="+path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ring, err := aio.Open(int(f.Fd()), aio.Config{Engine: aio.Sync})
		if err != nil {
			t.Fatal(err)
		}
		defer ring.Close()
		m, err := openMaker(f, ring, buffer.Config{Age: age, Limit: 256 << 10, Memory: aio.NewSlab})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.tree(10, 2000); err != nil {
			t.Fatal(err)
		}
		if s := m.fs.Cache.Stats(); s.Evicted == 0 || s.Saved() < s.Changes/2 && age != buffer.AtOnce {
			t.Errorf("age %d: %+v", age, s)
		}
		if out, err := exec.Command("xfs_repair", "-n", "-f", path).CombinedOutput(); err != nil {
			t.Errorf("age %d: %v\n%s", age, err, out)
		}
	}
}
