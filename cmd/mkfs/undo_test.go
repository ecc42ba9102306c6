package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/target"
)

// Formatting with --undo may be killed at whatever moment, and so may mkfs
// undo: run again, it makes the target what it was.
func TestUndoKilled(t *testing.T) {
	dir := t.TempDir()
	img, file := filepath.Join(dir, "img"), filepath.Join(dir, "undo")
	if status, _, errs := runAs(t, "mkfs", "-q", "--size", "80g", "-d", "agsize=100m", "-L", "before", img); status != 0 {
		t.Fatal(errs)
	}
	content := func() content {
		t.Helper()
		f, err := os.Open(img)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c, err := contentOf(f)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := content()
	// kill runs the program and kills it at some time, or tells that it was faster.
	kill := func(took *time.Duration, args ...string) bool {
		t.Helper()
		cmd := exec.Command("mkfs", args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(*took))))
		cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			*took = *took * 3 / 4
			return false
		}
		return true
	}
	forward, back, killed := 2*time.Second, time.Second, 0
	for i := 0; i < 12; i++ {
		os.Remove(file)
		kill(&forward, "-q", "-f", "--undo", file, "-d", "agsize=94m", "--batch", "16", "--queue-depth", "4", img)
		if _, err := os.Stat(file); err == nil && kill(&back, "undo", "-q", file, img) {
			killed++
		}
		status, out, errs := runAs(t, "mkfs", "undo", file, img)
		if is := content(); is != want {
			t.Fatalf("run %d: it is not as it was: %d %s%s", i, status, out, errs)
		}
	}
	if killed == 0 {
		t.Log("putting back was always faster than the signal")
	}
}

// A target that was mounted is not what formatting has left.
func TestUndoMounted(t *testing.T) {
	dir := t.TempDir()
	img := filepath.Join(dir, "img")
	if out, err := exec.Command("truncate", "-s", "400m", img).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	loop := attach(t, img)
	if status, _, errs := runAs(t, "mkfs", "-q", "-L", "before", loop); status != 0 {
		t.Fatal(errs)
	}
	before := shaOf(t, loop)
	format := func(file string) {
		t.Helper()
		if status, _, errs := runAs(t, "mkfs", "-q", "-f", "-L", "after", "-d", "agcount=5", "--undo", file, loop); status != 0 {
			t.Fatal(errs)
		}
	}
	undo := func(args ...string) int {
		t.Helper()
		status, _, errs := runAs(t, "mkfs", append([]string{"undo", "-q"}, args...)...)
		t.Logf("undo %v: %s", args, errs)
		return status
	}
	first, second := filepath.Join(dir, "u1"), filepath.Join(dir, "u2")
	format(first)
	unmount := mountAt(t, loop, filepath.Join(dir, "mnt"), "ro")
	if undo(first, loop) == 0 {
		t.Error("undone while it is mounted")
	}
	unmount()
	if status := undo(first, loop); status != 1 {
		t.Errorf("a filesystem that was mounted to read: %d", status)
	}
	if status := undo(first, loop, "-f"); status != 0 {
		t.Errorf("with -f: %d", status)
	}
	if is := shaOf(t, loop); is != before {
		t.Error("the device is not as it was")
	}
	format(second)
	mountAt(t, loop, filepath.Join(dir, "mnt"), "rw")()
	if status := undo(second, loop); status != 1 {
		t.Errorf("a filesystem that was mounted to write: %d", status)
	}
	if status := undo(second, loop, "-f"); status != 0 {
		t.Errorf("with -f: %d", status)
	}
	unmount = mountAt(t, loop, filepath.Join(dir, "mnt"), "rw") // the one before
	unmount()
}

// Space that was set aside for a file, and never written, stays with it when
// formatting is undone; holes come back as holes (P83).
func TestUndoKeepsPreallocation(t *testing.T) {
	dir := t.TempDir()
	for name, allocated := range map[string][]int64{
		"all":  {0, 400 << 20},
		"half": {100 << 20, 200 << 20},
		"none": nil,
	} {
		img, file := filepath.Join(dir, name), filepath.Join(dir, name+".undo")
		f, err := os.OpenFile(sparse(t, img, "400m"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if allocated != nil {
			if err := unix.Fallocate(int(f.Fd()), 0, allocated[0], allocated[1]); err != nil {
				t.Skipf("the host sets no space aside: %v", err)
			}
		}
		f.Close()
		before := allocatedOf(t, img)
		if allocated != nil && len(before) == 0 {
			t.Skip("the host does not tell what is set aside")
		}
		mustFormat(t, "-q", "--undo", file, img)
		if allocated == nil && slices.Equal(allocatedOf(t, img), before) {
			t.Error("formatting has written nothing")
		}
		if status, out, errs := runAs(t, "mkfs", "undo", "-q", file, img); status != 0 {
			t.Fatalf("%d: %s%s", status, out, errs)
		}
		if after := allocatedOf(t, img); !slices.Equal(after, before) {
			t.Errorf("%s: space at %v before, at %v after", name, before, after)
		}
	}
}

// allocatedOf lists where a file has space, from and to in turn.
func allocatedOf(t *testing.T, path string) (list []int64) {
	t.Helper()
	tg, err := target.Open(path, target.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	for at, end := int64(0), tg.Info().Size; at < end; {
		from, to, err := tg.NextAllocated(at, end)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(list); n > 0 && from < to && list[n-1] == from {
			list[n-1] = to
		} else if from < to {
			list = append(list, from, to)
		}
		at = to
	}
	return list
}
