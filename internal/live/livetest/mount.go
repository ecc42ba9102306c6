package livetest

import (
	"os"
	"os/exec"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"mkfs/internal/geometry"
)

// Mount mounts an image, and skips the test where that cannot be done. The filesystem is
// unmounted by unmount, or else when the test ends.
func Mount(t testing.TB, path string) (dir string, unmount func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("to mount needs root")
	}
	dir = t.TempDir()
	if out, err := exec.Command("mount", "-t", "xfs", "-o", "loop,nouuid", path, dir).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	mounted := true
	unmount = func() {
		if mounted {
			mounted = false
			if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
	t.Cleanup(unmount)
	return dir, unmount
}

// Mounted mounts an image for as long as f runs.
func Mounted(t testing.TB, path string, f func(dir string)) {
	t.Helper()
	dir, unmount := Mount(t, path)
	defer unmount()
	f(dir)
}

// Mapped is an extent of a file.
type Mapped struct {
	Offset uint64 // within the file, in blocks
	Start  geometry.FSBlock
	Blocks geometry.Blocks

	Unwritten bool
}

// fiemap is what the ioctl takes and gives.
type fiemap struct {
	start, length                  uint64
	flags, mapped, count, reserved uint32
	extents                        [256]struct {
		logical, physical, length uint64
		_                         [2]uint64
		flags                     uint32
		_                         [3]uint32
	}
}

// FileExtents asks the kernel for the first extents of a file.
func FileExtents(t testing.TB, g *geometry.Geometry, f *os.File) (list []Mapped) {
	t.Helper()
	m := &fiemap{length: ^uint64(0)}
	m.count = uint32(len(m.extents))
	const request, unwritten = 0xc020660b, 0x800 // FS_IOC_FIEMAP, FIEMAP_EXTENT_UNWRITTEN
	if _, _, err := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(m))); err != 0 {
		t.Fatal(err)
	}
	for _, e := range m.extents[:m.mapped] {
		block := geometry.Blocks(e.physical) >> g.BlockLog
		list = append(list, Mapped{
			Offset: e.logical >> g.BlockLog,
			Start:  g.FSBlock(geometry.AGNumber(block/g.AGBlocks), geometry.AGBlock(block%g.AGBlocks)),
			Blocks: geometry.Blocks(e.length) >> g.BlockLog,

			Unwritten: e.flags&unwritten != 0,
		})
	}
	return list
}
