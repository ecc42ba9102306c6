package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// needRoot skips what takes devices, mounts or other users.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: loop devices, mounts or other users")
	}
}

// tool finds a program, or skips.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s", name)
	}
	return path
}

// attach makes a loop device of a file for the length of the test.
func attach(t *testing.T, path string, args ...string) string {
	t.Helper()
	needRoot(t)
	losetup := tool(t, "losetup")
	out, err := exec.Command(losetup, append(args, "--find", "--show", path)...).Output()
	if err != nil {
		t.Skip("no loop device can be made:", err)
	}
	dev := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command(losetup, "--detach", dev).CombinedOutput(); err != nil {
			t.Errorf("losetup --detach %s: %v: %s", dev, err, out)
		}
	})
	return dev
}

// mountAt mounts a device as XFS and returns what unmounts it.
func mountAt(t *testing.T, dev, dir, options string) (unmount func()) {
	t.Helper()
	needRoot(t)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("modprobe", "-q", "xfs").Run(); err != nil {
		if types, err := os.ReadFile("/proc/filesystems"); err == nil && !strings.Contains(string(types), "\txfs\n") {
			t.Skip("this kernel has no XFS")
		}
	}
	if out, err := exec.Command("mount", "-t", "xfs", "-o", options, dev, dir).CombinedOutput(); err != nil {
		t.Fatalf("mount %s: %v: %s", dev, err, out)
	}
	done := false
	unmount = func() {
		if done {
			return
		}
		done = true
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount %s: %v: %s", dir, err, out)
		}
	}
	t.Cleanup(unmount)
	return unmount
}

// must runs a program that has to succeed and returns what it prints.
func must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// mustFormat runs this program, which has to succeed silently.
func mustFormat(t *testing.T, args ...string) {
	t.Helper()
	if status, out, errs := runAs(t, "mkfs", append([]string{"-q"}, args...)...); status != 0 || out+errs != "" {
		t.Fatalf("mkfs %v: exit status %d\n%s%s", args, status, out, errs)
	}
}

// sparse makes a file of some size and returns its path.
func sparse(t *testing.T, path, size string) string {
	t.Helper()
	n, err := bytesOf(size)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(n); err != nil {
		t.Skipf("no file of %s here: %v", size, err)
	}
	return path
}

// filled makes a file that is full of data.
func filled(t *testing.T, path, size string) string {
	t.Helper()
	sparse(t, path, size)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	chunk := []byte(strings.Repeat("data", 1<<18))
	for off := int64(0); off < info.Size(); off += int64(len(chunk)) {
		if _, err := f.WriteAt(chunk[:min(int64(len(chunk)), info.Size()-off)], off); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	return path
}

// shaOf is the hash of all of a file or device.
func shaOf(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// takenBy is how many bytes a file takes on its host.
func takenBy(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	n, err := allocated(f)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
