package dir_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

func copyFile(t testing.TB, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", path, to).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	return to
}

func inodeOf(t testing.TB, path string) geometry.Inode {
	t.Helper()
	st, err := os.Stat(path)
	must(t, err)
	return geometry.Inode(st.Sys().(*syscall.Stat_t).Ino)
}

// change is a change of a directory of links to files.
type change struct {
	verb     string // "add", "remove", "rename"
	name, to string // "add" is of a link to the file that to names
}

// model is what a directory has, and what it may have.
type model struct {
	in, out []string
	file    map[string]string // of those that are in
	files   string            // from which those are drawn, one letter each
	random  *rand.Rand
	stay    bool // no names are moved over others
}

// take takes a name out of a list.
func (m *model) take(list *[]string) string {
	i := m.random.IntN(len(*list))
	name := (*list)[i]
	(*list)[i] = (*list)[len(*list)-1]
	*list = (*list)[:len(*list)-1]
	return name
}

// changes shuffle a directory until it has n names: they add some or remove some, and one in ten the other way
// round. Some names are moved over others.
func (m *model) changes(n int) (list []change) {
	for len(m.in) != n {
		grow := len(m.in) < n
		draw := m.random.IntN(20)
		if draw < 2 && len(m.in) > 1 && len(m.out) > 0 {
			grow = !grow
		}
		if draw == 2 && !m.stay && len(m.in) > 2 {
			name, to := m.take(&m.in), m.in[m.random.IntN(len(m.in)-1)]
			if m.file[to] != m.file[name] {
				list = append(list, change{"rename", name, to})
				m.file[to] = m.file[name]
				m.out = append(m.out, name)
			} else {
				m.in = append(m.in, name)
			}
			continue
		}
		if grow {
			name := m.take(&m.out)
			m.in = append(m.in, name)
			m.file[name] = string(m.files[m.random.IntN(len(m.files))])
			list = append(list, change{"add", name, m.file[name]})
		} else {
			name := m.take(&m.in)
			m.out = append(m.out, name)
			list = append(list, change{"remove", name, ""})
		}
	}
	return list
}

// kernelDoes has the kernel do it, in a directory of a filesystem.
func (c change) kernelDoes(t testing.TB, at, dir string) {
	t.Helper()
	switch d := filepath.Join(at, dir); c.verb {
	case "add":
		must(t, os.Link(filepath.Join(at, c.to), filepath.Join(d, c.name)))
	case "remove":
		must(t, os.Remove(filepath.Join(d, c.name)))
	case "rename":
		must(t, os.Rename(filepath.Join(d, c.name), filepath.Join(d, c.to)))
	}
}

// do does it.
func (c change) do(t testing.TB, dirs *dir.Dirs, fs *live.FS, dp *inode.Inode, files map[string]geometry.Inode) {
	t.Helper()
	const most = 200
	tr := fs.Begin(most)
	ok, err := true, error(nil)
	switch c.verb {
	case "add":
		ok, err = dirs.Add(tr, dp, c.name, files[c.to], 1, most)
	case "remove":
		err = dirs.Remove(tr, dp, c.name, most)
	case "rename":
		e, found, err2 := dirs.Lookup(tr, dp, c.name)
		if !found || err2 != nil {
			t.Fatalf("%q: %v, %v", c.name, found, err2)
		}
		ok, err = dirs.Replace(tr, dp, c.to, e.Ino, e.Type, most)
		must(t, err)
		err = dirs.Remove(tr, dp, c.name, most)
	}
	must(t, err)
	if !ok {
		t.Fatalf("%v: no room", c)
	}
	must(t, tr.Commit())
}

// Directories shrink and grow as the kernel's do.
func TestKernelChanges(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		args []string
		pool int
		long int // of names
		goal []int
	}{
		{nil, 4500, 40, []int{3000, 1200, 20, 2, 60, 0, 8}},
		{[]string{"-b", "size=1k", "-n", "size=4k"}, 6000, 120, []int{5000, 3000, 900, 40, 5, 300, 0}},
		{[]string{"-b", "size=1k"}, 1500, 200, []int{1200, 30, 900, 1}},
		{[]string{"-n", "size=64k"}, 14000, 20, []int{9000, 3000, 9, 0, 1000}},
		{[]string{"-n", "size=16k", "-i", "size=2048"}, 9000, 30, []int{7000, 80, 6, 50, 100, 200, 300, 400, 600, 800, 1000, 2000}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			pool := make([]string, c.pool)
			for i := range pool {
				pool[i] = fmt.Sprintf("%d%s", i, strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(c.long)))
			}
			copy(pool, equalNames(c.pool/5, 19))
			copy(pool[c.pool/5:], anyNames(c.pool/20, 1))
			path := livetest.Reference(t, size, append(c.args, "-n", "parent=0")...)
			files := map[string]geometry.Inode{}
			var ino geometry.Inode
			livetest.Mounted(t, path, func(at string) {
				must(t, os.Mkdir(filepath.Join(at, "d"), 0o700))
				ino = inodeOf(t, filepath.Join(at, "d"))
				for _, n := range []string{"f", "g"} {
					must(t, os.WriteFile(filepath.Join(at, n), nil, 0o600))
					files[n] = inodeOf(t, filepath.Join(at, n))
				}
			})
			fs := load(t, copyFile(t, path))
			dirs := dir.New(fs.FS)
			dp := read(t, fs.FS, ino)
			m := model{out: pool, file: map[string]string{}, files: "fg", random: random}
			for _, n := range c.goal {
				list := m.changes(n)
				livetest.Mounted(t, path, func(at string) {
					for _, c := range list {
						c.kernelDoes(t, at, "d")
					}
				})
				for _, c := range list {
					c.do(t, dirs, fs.FS, dp, files)
				}
				want := load(t, path)
				sameDir(t, fs, dp, want, read(t, want.FS, ino))
				if t.Failed() {

					t.Fatalf("after %d changes, to %d names", len(list), n)
				}
			}
		})
	}
}

// disk is a filesystem and its device. With remains it may have others in what is unused of directories.
type disk struct {
	*live.FS
	d       *livetest.Device
	remains bool
}

func load(t testing.TB, path string) disk {
	t.Helper()
	d := livetest.Open(t, path)
	return disk{livetest.Load(t, d), d, false}
}

func read(t testing.TB, fs *live.FS, ino geometry.Inode) *inode.Inode {
	t.Helper()
	ip, err := inode.Read(fs.Begin(0), ino)
	must(t, err)
	return ip
}

// sameDir compares directories that lie in other places.
func sameDir(t testing.TB, fs disk, dp *inode.Inode, want disk, wp *inode.Inode) {
	t.Helper()
	if dp.Core.Size != wp.Core.Size || !bytes.Equal(dp.Data.Local, wp.Data.Local) {
		t.Errorf("size %d, form %d, %x\nwant %d, %d, %x", dp.Core.Size, dp.Data.Format, dp.Data.Local,
			wp.Core.Size, wp.Data.Format, wp.Data.Local)
		return
	}
	got, other := blocks(t, fs, dp), blocks(t, want, wp)
	for at, b := range other {
		switch a, ok := got[at]; {
		case !ok:
			t.Errorf("block %#x is missing", at)
		case !bytes.Equal(a, b):
			i := 0
			for a[i] == b[i] {
				i++
			}
			t.Errorf("block %#x: byte %#x is %#x, want %#x (magic %x)", at, i, a[i], b[i], b[:12])
		}
	}
	for at := range got {
		if other[at] == nil {
			t.Errorf("block %#x is too much", at)
		}
	}
}

// blocks are the blocks of a directory by their offset, without what tells where they are, and when they have
// been written.
func blocks(t testing.TB, fs disk, dp *inode.Inode) map[uint64][]byte {
	t.Helper()
	must(t, fs.Cache.Flush())
	list := map[uint64][]byte{}
	unit := uint64(fs.G.DirBlockSize >> fs.G.BlockLog)
	for _, e := range dp.Data.Extents {
		for i := range uint64(e.Blocks) {
			agno, agbno := fs.G.BlockAddress(e.Start + geometry.FSBlock(i))
			b := make([]byte, fs.G.BlockSize)
			_, _ = fs.d.ReadAt(b, fs.Offset(agno, agbno))
			at := (e.Offset + i) / unit * unit
			list[at] = append(list[at], b...)
		}
	}
	for _, b := range list {
		if fs.V5 {
			if b[8] == 0x3d || b[8] == 0x3e { // a node or a leaf
				clear(b[12:32])
			} else {
				clear(b[4:24])
			}
		}
		if fs.remains {
			clearUnused(b, fs.V5, fs.G.Features.Ftype)
		}
	}
	return list
}

// clearUnused clears what is left of other things in a block: in the free space and the padding of a block of entries,
// and behind the slots of a leaf.
func clearUnused(b []byte, v5, ftype bool) {
	magic, end := binary.BigEndian.Uint32(b), len(b)
	view := ondisk.DABlock{B: b, V5: v5}
	switch magic {
	case ondisk.DirBlockMagic, ondisk.DirBlockMagicV4:
		end -= 8 + 8*int(binary.BigEndian.Uint32(b[len(b)-8:]))
	case ondisk.DirDataMagic, ondisk.DirDataMagicV4:
	case ondisk.DirFreeMagic, ondisk.DirFreeMagicV4:
		return
	default:
		tail := 0
		if m := view.Magic(); m == ondisk.DirLeafMagic || m == ondisk.DirLeafMagicV4 {
			tail = 4 + 2*int(binary.BigEndian.Uint32(b[len(b)-4:]))
		}
		clear(b[ondisk.DAHeaderSize(v5)+8*view.Count() : len(b)-tail])
		return
	}
	for at := ondisk.DirDataHeaderSize(v5); at < end; {
		if binary.BigEndian.Uint16(b[at:]) == 0xffff {
			n := int(binary.BigEndian.Uint16(b[at+2:]))
			clear(b[at+4 : at+n-2])
			at += n
			continue
		}
		used := 9 + int(b[at+8])
		if ftype {
			used++
		}
		n := (used + 2 + 7) &^ 7
		clear(b[at+used : at+n-2])
		at += n
	}
}
