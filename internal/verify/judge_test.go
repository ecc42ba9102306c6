package verify

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// open makes an image of a file.
func openImage(t *testing.T, path string) *image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return &image{base: f, size: st.Size()}
}

// What mkfs.xfs makes verifies as clean. MKFS_REFERENCE is where it is.
func TestReference(t *testing.T) {
	reference := os.Getenv("MKFS_REFERENCE")
	if reference == "" {
		t.Skip("MKFS_REFERENCE does not name an mkfs.xfs")
	}
	dir := t.TempDir() // of a name without commas
	for _, args := range []string{
		"", "-m crc=0", "-m crc=0 -l version=1", "-m crc=0 -b size=512", "-m crc=0 -b size=1024 -l lazy-count=0",
		"-m crc=0 -i attr=1", "-m crc=0 -i align=0", "-m crc=0 -b size=65536 -i size=256",
		"-b size=1024", "-b size=2048", "-b size=16384", "-b size=65536 -i size=512", "-b size=65536 -i size=2048",
		"-s size=4096", "-m finobt=0", "-m rmapbt=0", "-m reflink=0", "-m rmapbt=0,reflink=0", "-m inobtcount=0",
		"-m bigtime=0", "-i sparse=0", "-i nrext64=0", "-i exchange=0", "-n parent=0", "-m metadir=1",
		"-d su=64k,sw=4", "-d su=256k,sw=3 -l su=256k", "-l su=32k", "-d agcount=2", "-d agcount=20",
		"-n size=64k", "-i maxpct=0", "-i perblock=2", "-i size=1024", "-l agnum=0", "-p .",
		"-l logdev=LOG,size=100m", "-m metadir=1 -r rtdev=LOG",
	} {
		t.Run(args, func(t *testing.T) {
			path, log := filepath.Join(dir, "img"), filepath.Join(dir, "log")
			for p, size := range map[string]int64{path: 2 * gib, log: 128 << 20} {
				if err := os.WriteFile(p, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(p, size); err != nil {
					t.Fatal(err)
				}
			}
			list := append(strings.Fields(strings.ReplaceAll(args, "LOG", log)), "-q", path)
			if out, err := exec.Command(reference, list...).CombinedOutput(); err != nil {
				t.Skipf("it refuses: %s", out)
			}
			r := openImage(t, path).verify(t, func(o *Options) {
				if strings.Contains(args, "logdev") {
					m := openImage(t, log)
					o.Log = &Device{Reader: newReader(m, 1, 1), Size: m.size}
				}
			})
			if r.Status() != Clean || r.Log != LogClean || r.Compared == strings.Contains(args, "lazy-count=0") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// mounted mounts an image for as long as f runs.
func mounted(t *testing.T, path string, f func(dir string)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("loop mounts need root")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "xfs", "-o", "loop", path, dir).CombinedOutput(); err != nil {
		t.Skipf("no loop mount of XFS here: %s", out)
	}
	defer func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	}()
	f(dir)
}

// kernelImage is a small filesystem in a file that can be mounted.
func kernelImage(t *testing.T, change func(*geometry.Spec)) (path string, m *image) {
	t.Helper()
	m = newImage(t, gib, 1, change)
	return m.base.(*os.File).Name(), m
}

// A filesystem that the kernel has used, with btrees of several levels and a
// log that has gone round.
func TestUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 60,000 files")
	}
	path, m := kernelImage(t, func(s *geometry.Spec) {
		s.SmallAllowed, s.BlockSize = true, geometry.Given(int64(1024))
		s.Log.Size = geometry.Given(geometry.Size{Count: 12 << 20, Limits: geometry.Limits{Max: gib}})
	})
	before := openImage(t, path).verify(t, nil)
	data := make([]byte, 3000)
	for round := range 3 {
		mounted(t, path, func(dir string) {
			for i := range 20000 {
				name := filepath.Join(dir, fmt.Sprintf("f%d", i))
				if i%(round+2) == 1 {
					os.Remove(name)
				} else if err := os.WriteFile(name, data[:i%len(data)], 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
		r := openImage(t, path).verify(t, nil)
		if r.Status() != Clean || r.Log != LogClean || !r.Compared || r.Sums == before.Sums {
			t.Fatalf("round %d: %+v", round, r)
		}
	}
	log := openImage(t, path).bytes(t, int64(m.g.Offset(m.g.Log.AG, m.g.Log.Start)), ondisk.LogBlock)
	if ondisk.Cycle(log) < 2 {
		t.Error("the log has not gone round; write more")
	}
}

// A filesystem that was shut down has a dirty log, and nothing else is wrong;
// mounted once more it is clean.
func TestShutdown(t *testing.T) {
	path, _ := kernelImage(t, nil)
	for _, flush := range []uint32{1, 2} { // the log, or not
		mounted(t, path, func(dir string) {
			for i := range 2000 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%d", flush, i)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if i == 1000 {
					unix.Sync()
				}
			}
			d, err := os.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			const goingDown = 0x8004587d // XFS_IOC_GOINGDOWN, _IOR('X', 125, uint32_t)
			if err := unix.IoctlSetPointerInt(int(d.Fd()), goingDown, int(flush)); err != nil {
				t.Fatal(err)
			}
		})
		if r := openImage(t, path).verify(t, nil); r.Status() != Dirty || r.Log != LogDirty || r.Compared {
			t.Errorf("shut down: %+v", r)
		}
		mounted(t, path, func(string) {})
		if r := openImage(t, path).verify(t, nil); r.Status() != Clean || !r.Compared {
			t.Errorf("recovered: %+v", r)
		}
	}
}
