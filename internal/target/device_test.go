package target

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// attach makes a loop device of the file and returns its name. It skips the
// test where that is not possible.
func attach(t *testing.T, path string, args ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("loop devices need root")
	}
	losetup, err := exec.LookPath("losetup")
	if err != nil {
		t.Skip("loop devices need losetup")
	}
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

func TestDevice(t *testing.T) {
	for _, sectorSize := range []int{512, 4096} {
		t.Run(map[int]string{512: "512", 4096: "4096"}[sectorSize], func(t *testing.T) {
			path := makeFile(t, 8<<20)
			size := map[int]string{512: "--sector-size=512", 4096: "--sector-size=4096"}[sectorSize]
			dev := attach(t, path, size)
			in := mustProbe(t, dev)
			if in.Kind != BlockDevice || in.Size != 8<<20 || in.LogicalSector != sectorSize ||
				in.PhysicalSector < sectorSize || in.Rdev == 0 || in.Dev != 0 || in.Ino != 0 || in.ReadOnly || in.Misaligned {
				t.Errorf("got %+v", in)
			}
			if in.Same(mustProbe(t, path)) || !in.Same(mustProbe(t, dev)) {
				t.Error("Same is wrong")
			}
			testDeviceIO(t, dev, int64(sectorSize))
		})
	}
}

func testDeviceIO(t *testing.T, dev string, sector int64) {
	tg := mustOpen(t, dev, Options{Write: true, Create: true, Truncate: true, Direct: true})
	if ok, align := tg.DirectIO(); !ok || int64(align) < sector {
		t.Errorf("DirectIO %v, %d", ok, align)
	}
	if _, err := Open(dev, Options{Write: true}); !errors.As(err, new(*InUseError)) {
		t.Errorf("second open for writing: %v", err)
	}
	pattern := bytes.Repeat([]byte{0x5a}, 8<<20)
	want := bytes.Clone(pattern)
	if _, err := tg.WriteAt(pattern, 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]int64{{0, 512}, {100, 5}, {4095, 2}, {5000, 100_000}, {8<<20 - 700, 1000}, {1 << 20, 1 << 20}} {
		if err := tg.Zero(c[0], c[1]); err != nil {
			t.Fatal(err)
		}
		clear(want[c[0]:min(c[0]+c[1], 8<<20)])
	}
	got := make([]byte, 8<<20)
	if _, err := tg.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("wrong content after Zero, %v", err)
	}
	if err := tg.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := tg.Discard(4<<20+1, 2<<20); errors.Is(err, errors.ErrUnsupported) {
		t.Log("no discard:", err)
	} else if err != nil {
		t.Error(err)
	} else {
		clear(want[4<<20+sector : 6<<20]) // a loop device reads as zeros there
		if _, err := tg.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
			t.Errorf("wrong content after Discard, %v", err)
		}
	}
	if tg.Grow(8<<20) != nil || tg.Truncate(8<<20) != nil {
		t.Error("a device cannot have the size it has")
	}
	if tg.Grow(8<<20+1) == nil || tg.Truncate(8<<20-1) == nil {
		t.Error("a device can change its size")
	}
}

func TestReadOnlyDevice(t *testing.T) {
	dev := attach(t, makeFile(t, 8<<20), "--read-only")
	if in := mustProbe(t, dev); !in.ReadOnly {
		t.Errorf("got %+v", in)
	}
	if _, err := Open(dev, Options{Write: true}); !errors.Is(err, unix.EROFS) {
		t.Errorf("Open for writing: %v", err)
	}
}

// TestLoopFile refuses a file that is a loop device, by any name, and after
// its own name is gone.
func TestLoopFile(t *testing.T) {
	path := makeFile(t, 8<<20)
	link := filepath.Join(filepath.Dir(path), "link")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	t.Run("attached", func(t *testing.T) {
		dev := attach(t, path)
		refused := func(when string) {
			var e *InUseError
			if _, err := Open(link, Options{Write: true, Truncate: true}); !errors.As(err, &e) ||
				e.Path != link || !strings.Contains(e.By, dev) {
				t.Errorf("%s: %v", when, err)
			}
			if size := mustStat(t, link).Size; size != 8<<20 {
				t.Fatalf("%s: length %d", when, size)
			}
		}
		refused("attached")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		refused("its name is gone")
		if err := os.WriteFile(path, make([]byte, 512), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := CheckUse(mustProbe(t, path)); err != nil {
			t.Errorf("another file by the same name: %v", err)
		}
		mustOpen(t, link, Options{})
	})
	mustOpen(t, link, Options{Write: true})
}

func TestMounted(t *testing.T) {
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		t.Skip("needs mkfs.ext4")
	}
	path := makeFile(t, 8<<20)
	if out, err := exec.Command(mkfs, "-q", "-F", path).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v: %s", err, out)
	}
	dev, dir := attach(t, path), t.TempDir()
	for _, opt := range []string{"ro", "rw"} {
		if out, err := exec.Command("mount", "-o", opt, dev, dir).CombinedOutput(); err != nil {
			t.Skipf("mount: %v: %s", err, out)
		}
		var e *InUseError
		if err := CheckUse(mustProbe(t, dev)); !errors.As(err, &e) || e.By != "mounted on "+dir {
			t.Errorf("%s: %v", opt, err)
		}
		if _, err := Open(dev, Options{Write: true}); !errors.As(err, &e) || e.By != "mounted on "+dir {
			t.Errorf("%s: Open: %v", opt, err)
		}
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Fatalf("umount: %v: %s", err, out)
		}
	}
	mustOpen(t, dev, Options{Write: true})
}
