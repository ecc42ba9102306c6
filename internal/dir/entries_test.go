package dir_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/buffer"
	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
)

// listed is an entry as the kernel tells it.
type listed struct {
	name   string
	ino    geometry.Inode
	ftype  uint8
	cookie dir.Cookie
}

// list reads entries from a cookie on, n of them at most.
func list(t testing.TB, dirs *dir.Dirs, fs *live.FS, dp *inode.Inode, from dir.Cookie, n int) (all []listed) {
	t.Helper()
	tr := fs.Begin(0)
	for e, err := range dirs.Entries(tr, dp, from) {
		must(t, err)
		if all = append(all, listed{string(e.Name), e.Ino, e.Type, e.Cookie}); len(all) == n {
			break
		}
	}
	must(t, tr.Commit())
	return all
}

// kernelLists lists a directory with the kernel. What it tells with an entry is the cookie of the next one.
func kernelLists(t testing.TB, path string) (all []listed) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	types := map[uint8]uint8{unix.DT_REG: 1, unix.DT_DIR: 2, unix.DT_CHR: 3, unix.DT_BLK: 4, unix.DT_FIFO: 5}
	b := make([]byte, 1<<16)
	cookie := dir.Cookie(0)
	for {
		n, err := unix.Getdents(int(f.Fd()), b)
		must(t, err)
		if n == 0 {
			return all
		}
		for p := b[:n]; len(p) > 0; {
			size := binary.NativeEndian.Uint16(p[16:])
			name, _, _ := strings.Cut(string(p[19:size]), "\x00")
			all = append(all, listed{name, geometry.Inode(binary.NativeEndian.Uint64(p)), types[p[18]], cookie})
			cookie = dir.Cookie(binary.NativeEndian.Uint64(p[8:]))
			p = p[size:]
		}
	}
}

// Entries, their order and their cookies are the kernel's.
func TestKernelLists(t *testing.T) {
	t.Parallel()
	for i, args := range [][]string{nil, {"-b", "size=1k"}, {"-n", "size=64k"}, {"-b", "size=1k", "-n", "size=4k"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			path := livetest.Reference(t, size, args...)
			inos, want := map[string]geometry.Inode{}, map[string][]listed{}
			random := rand.New(rand.NewPCG(uint64(i), 3))
			livetest.Mounted(t, path, func(at string) {
				for _, n := range []int{0, 1, 5, 50, 300, 5000} {
					d := fmt.Sprint("d", n)
					p := filepath.Join(at, d)
					must(t, os.Mkdir(p, 0o700))
					for i, name := range names(n, uint64(n)) {
						mode := []uint32{unix.S_IFREG, unix.S_IFIFO, unix.S_IFCHR, unix.S_IFBLK}[random.IntN(4)]
						must(t, unix.Mknod(filepath.Join(p, name), mode|0o600, 0))
						if i > 20 && random.IntN(3) == 0 { // holes
							must(t, os.Remove(filepath.Join(p, name)))
						}
					}
					inos[d] = inodeOf(t, p)
				}
				p := filepath.Join(at, "d5000")
				for i, e := range kernelLists(t, p) { // a hole among blocks
					if i > 1000 && i < 2500 {
						must(t, os.Remove(filepath.Join(p, e.name)))
					}
				}
				for d := range inos {
					want[d] = kernelLists(t, filepath.Join(at, d))
				}
			})
			fs := load(t, path)
			dirs := dir.New(fs.FS)
			for d, all := range want {
				dp := read(t, fs.FS, inos[d])
				all[0].cookie = list(t, dirs, fs.FS, dp, 0, 1)[0].cookie // the kernel begins with 0
				if got := list(t, dirs, fs.FS, dp, 0, -1); !slices.Equal(got, all) {
					t.Errorf("%s: %d entries, want %d\n%v\n%v", d, len(got), len(all), first(got, all), first(all, got))
				}
				tr := fs.Begin(0)
				for _, want := range all {
					e, found, err := dirs.Find(tr, dp, want.name)
					if got := (listed{string(e.Name), e.Ino, e.Type, e.Cookie}); err != nil || !found || got != want {
						t.Fatalf("%s: found %v %v, want %v: %v", d, found, got, want, err)
					}
				}
				if e, found, err := dirs.Find(tr, dp, "another"); found || err != nil {
					t.Errorf("%s: found %v, %v", d, e, err)
				}
				must(t, tr.Commit())
				for range 50 {
					i := random.IntN(len(all))
					if got := list(t, dirs, fs.FS, dp, all[i].cookie, 2); !slices.Equal(got, all[i:min(i+2, len(all))]) {
						t.Errorf("%s from %d on: %v, want %v", d, all[i].cookie, got, all[i])
					}
					next := list(t, dirs, fs.FS, dp, all[i].cookie+1, 1)
					if want := all[i+1 : min(i+2, len(all))]; !slices.Equal(next, want) {
						t.Errorf("%s behind %d: %v, want %v", d, all[i].cookie, next, want)
					}
				}
			}
		})
	}
}

// first is the first few of a that differ from b.
func first(a, b []listed) []listed {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return a[i:min(i+3, len(a))]
		}
	}
	return nil
}

// A walk reads ahead, and takes no more memory than there is to be.
func TestEntriesMemory(t *testing.T) {
	const limit = 256 << 10
	m := newRoot(t, livetest.Plan(t, size, nil))
	for _, n := range names(20000, 9) {
		m.enter(t, n)
	}
	must(t, m.fs.Cache.Flush())
	m.fs.Cache = buffer.New(m.d, buffer.Config{Limit: limit})
	tr := m.fs.Begin(0)
	n := 0
	for _, err := range m.dirs.Entries(tr, m.root, 0) {
		must(t, err)
		if n++; n == 1 && m.fs.Cache.Stats().Reads < 20 {
			t.Errorf("%d blocks are read with the first", m.fs.Cache.Stats().Reads)
		}
		if m.fs.Cache.Bytes() > limit {
			t.Fatalf("%d bytes after %d entries", m.fs.Cache.Bytes(), n)
		}
	}
	if n != 20002 {
		t.Errorf("%d entries", n)
	}
	must(t, tr.Commit())
}
