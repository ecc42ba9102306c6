package namei_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/attr"
	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
)

// change is a change of names, by paths.
type change struct {
	verb     string // link, rename, exchange, remove
	from, to string
}

// names is a model of a tree: the files by their path, each a number, and which of them are directories.
type names struct {
	files map[string]int
	dirs  map[int]bool
}

func (m *names) empty(path string) bool {
	for p := range m.files {
		if strings.HasPrefix(p, path+"/") {
			return false
		}
	}
	return true
}

// move gives a path, and all below it, another one.
func (m *names) move(from, to string) {
	for _, p := range slices.Collect(maps.Keys(m.files)) {
		if rest, ok := strings.CutPrefix(p, from); ok && (rest == "" || rest[0] == '/') {
			m.files[to+rest] = m.files[p]
			delete(m.files, p)
		}
	}
}

// do makes a change in the model, and tells whether it can be.
func (m *names) do(c change) bool {
	from, has := m.files[c.from]
	to, taken := m.files[c.to]
	in := func(a, b string) bool { return strings.HasPrefix(b, a+"/") }
	switch {
	case !has || c.from == c.to:
		return false
	case c.verb == "remove":
		if m.dirs[from] && !m.empty(c.from) {
			return false
		}
		delete(m.files, c.from)
		return true
	case in(c.from, c.to) || taken && from == to:
		return false
	case c.verb == "link":
		if taken || m.dirs[from] {
			return false
		}
		m.files[c.to] = from
	case c.verb == "exchange":
		if !taken || in(c.to, c.from) {
			return false
		}
		m.move(c.from, "/other")
		m.move(c.to, c.from)
		m.move("/other", c.to)
	case taken && (m.dirs[from] != m.dirs[to] || !m.empty(c.to)):
		return false
	default:
		delete(m.files, c.to)
		m.move(c.from, c.to)
	}
	return true
}

// random draws a change that can be made.
func (m *names) random(r *rand.Rand) change {
	for {
		paths := slices.Sorted(maps.Keys(m.files))
		c := change{verb: []string{"link", "rename", "rename", "rename", "exchange", "remove"}[r.Intn(6)]}
		c.from = paths[r.Intn(len(paths))]
		c.to = paths[r.Intn(len(paths))]
		if c.verb != "exchange" && r.Intn(3) > 0 {
			dir := "."
			if p := paths[r.Intn(len(paths))]; m.dirs[m.files[p]] {
				dir = p
			}
			c.to = filepath.Join(dir, fmt.Sprint(r.Intn(1000), strings.Repeat("n", r.Intn(60))))
		}
		if m.do(c) {
			return c
		}
	}
}

func (c change) kernelDoes(t *testing.T, at string) {
	t.Helper()
	from, to := filepath.Join(at, c.from), filepath.Join(at, c.to)
	switch c.verb {
	case "link":
		must(t, os.Link(from, to))
	case "rename":
		must(t, unix.Rename(from, to)) // of os no directory takes the place of another
	case "exchange":
		must(t, unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE))
	case "remove":
		must(t, os.Remove(from))
	}
}

// walker finds files by their paths, and has each inode in memory once.
type walker struct {
	*made
	inodes map[geometry.Inode]*inode.Inode
}

func load(t testing.TB, d *livetest.Device) *walker {
	t.Helper()
	fs := livetest.Load(t, d)
	w := &walker{&made{t: t, fs: fs, d: d, names: namei.New(fs)}, map[geometry.Inode]*inode.Inode{}}
	w.root = w.get(fs.G.RootInode())
	return w
}

func (w *walker) get(ino geometry.Inode) *inode.Inode {
	w.t.Helper()
	if w.inodes[ino] == nil {
		w.do(0, func(tr *live.Trans) (err error) {
			w.inodes[ino], err = inode.Read(tr, ino)
			return err
		})
	}
	return w.inodes[ino]
}

// at finds a path; File is nil if there is none.
func (w *walker) at(path string) namei.At {
	w.t.Helper()
	a := namei.At{File: w.root}
	for name := range strings.SplitSeq(path, "/") {
		a = namei.At{Dir: a.File, Name: name}
		var ino geometry.Inode
		w.do(0, func(tr *live.Trans) error {
			e, found, err := w.names.Dirs.Lookup(tr, a.Dir, name)
			if found {
				ino = e.Ino
			}
			return err
		})
		if ino != 0 {
			a.File = w.get(ino)
		}
	}
	return a
}

// change makes a change, and frees what has no name any more.
func (w *walker) change(c change) {
	w.t.Helper()
	from, to := w.at(c.from), namei.At{}
	if c.to != "" {
		to = w.at(c.to)
	}
	space := w.names.Space
	w.do(space.Rename(len(to.Name))+space.Remove(len(from.Name)), func(tr *live.Trans) (err error) {
		ok := true
		switch c.verb {
		case "link":
			ok, err = w.names.Link(tr, to.Dir, to.Name, from.File)
		case "rename":
			ok, err = w.names.Rename(tr, from, to)
		case "exchange":
			ok, err = w.names.Exchange(tr, from, to)
		case "remove":
			err = w.names.Remove(tr, from)
		}
		if !ok && err == nil {
			err = fmt.Errorf("%v: no room", c)
		}
		return err
	})
	for _, ip := range []*inode.Inode{from.File, to.File} {
		if ip != nil && ip.Core.Nlink == 0 {
			must(w.t, w.names.Inactivate(ip))
			delete(w.inodes, ip.Ino)
		}
	}
}

// Names are changed as the kernel changes them: entries are at the same places, links are counted alike, parent
// pointers are the same, the same times are stamped, and what has no name any more is free.
func TestKernelChanges(t *testing.T) {
	for seed, args := range [][]string{
		nil, {"-n", "parent=0"}, {"-n", "parent=1", "-b", "size=1k", "-i", "size=512"}, {"-n", "parent=1,size=16k", "-i", "size=2048"},
		{"-m", "rmapbt=0", "-n", "parent=1", "-i", "nrext64=0"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			r := rand.New(rand.NewSource(int64(seed)))
			path := livetest.Reference(t, size, args...)
			m := &names{map[string]int{}, map[int]bool{}}
			livetest.Mounted(t, path, func(at string) { m.plant(t, r, at) })
			for _, n := range []int{5, 5, 5, 5, 5, 5, 20, 400} {
				kernelRound(t, r, m, path, n)
			}
		})
	}
}

// kernelRound makes n changes, by the kernel and by us.
func kernelRound(t *testing.T, r *rand.Rand, m *names, path string, n int) {
	t.Helper()
	before := filepath.Join(t.TempDir(), "before")
	if out, err := exec.Command("cp", path, before).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	var list []change
	for range n {
		list = append(list, m.random(r))
	}
	livetest.Mounted(t, path, func(at string) {
		for _, c := range list {
			c.kernelDoes(t, at)
		}
	})
	got, was, want := load(t, livetest.Open(t, before)), load(t, livetest.Open(t, before)), load(t, livetest.Open(t, path))
	for _, c := range list {
		got.change(c)
	}
	must(t, got.fs.Cache.Flush())
	got.inodes = map[geometry.Inode]*inode.Inode{} // to be read again
	if n := sameTree(got, was, want, got.fs.G.RootInode(), "."); n != len(m.files)+1 {
		t.Errorf("%d names, want %d", n, len(m.files)+1)
	}
	if got.fs.Counts != want.fs.Counts {
		t.Errorf("%+v, want %+v", got.fs.Counts, want.fs.Counts)
	}
	noneUnlinked(got)
	if t.Failed() {
		t.Fatalf("after %v", list)
	}
}

// plant makes a tree by the kernel.
func (m *names) plant(t *testing.T, r *rand.Rand, at string) {
	t.Helper()
	dirs := []string{"."}
	for i := range 120 {
		name := filepath.Join(dirs[r.Intn(len(dirs))], fmt.Sprint("file", i, strings.Repeat("x", r.Intn(40))))
		path := filepath.Join(at, name)
		m.files[name] = i
		switch {
		case i%4 == 0:
			must(t, os.Mkdir(path, 0o755))
			dirs = append(dirs, name)
			m.dirs[i] = true
		case i%9 == 1:
			must(t, os.Symlink(target(1+r.Intn(1000)), path))
		case i%9 == 2:
			must(t, unix.Mkfifo(path, 0o600))
		default:
			must(t, os.WriteFile(path, bytes.Repeat([]byte{1}, r.Intn(9000)), 0o600))
			if i%3 == 0 {
				must(t, unix.Setxattr(path, "user.name", bytes.Repeat([]byte{2}, 1+r.Intn(5000)), 0))
			}
		}
	}
}

// sameTree compares a directory, or another file, and all below it, and counts the names.
func sameTree(got, was, want *walker, ino geometry.Inode, path string) (n int) {
	t := got.t
	a, b := got.get(ino), want.get(ino)
	if diff := differ(got, was, want, a, b); diff != "" {
		t.Errorf("%s, inode %d: %s", path, ino, diff)
	}
	if !b.IsDir() {
		return 1
	}
	x, y := got.entries(a), want.entries(b)
	if !slices.EqualFunc(x, y, func(a, b dir.Listed) bool {
		return string(a.Name) == string(b.Name) && a.Ino == b.Ino && a.Type == b.Type && a.Cookie == b.Cookie
	}) {
		t.Errorf("%s, inode %d: %v, want %v", path, ino, x, y)
		return 1
	}
	n = 1
	for _, e := range y {
		if name := string(e.Name); name != "." && name != ".." {
			n += sameTree(got, was, want, e.Ino, filepath.Join(path, name))
		}
	}
	return n
}

func (w *walker) entries(dp *inode.Inode) (list []dir.Listed) {
	w.t.Helper()
	w.do(0, func(tr *live.Trans) error {
		for e, err := range w.names.Dirs.Entries(tr, dp, 0) {
			if err != nil {
				return err
			}
			e.Name = bytes.Clone(e.Name)
			list = append(list, e)
		}
		return nil
	})
	return list
}

// differ tells what of an inode is not as the kernel's.
func differ(got, was, want *walker, a, b *inode.Inode) string {
	x, y, old := &a.Core, &b.Core, &was.get(a.Ino).Core
	switch {
	case x.Mode != y.Mode || x.Nlink != y.Nlink || x.Size != y.Size || x.Blocks != y.Blocks:
		return fmt.Sprintf("mode %#o, %d links, %d bytes, %d blocks; want %#o, %d, %d, %d", x.Mode, x.Nlink, x.Size, x.Blocks,
			y.Mode, y.Nlink, y.Size, y.Blocks)
	case a.Data.Format != b.Data.Format || a.ForkOffset != b.ForkOffset || a.Attr.Format != b.Attr.Format:
		return fmt.Sprintf("forms %d and %d, from %d on; want %d and %d, from %d on", a.Data.Format, a.Attr.Format, a.ForkOffset,
			b.Data.Format, b.Attr.Format, b.ForkOffset)
	case !bytes.Equal(a.Data.Local, b.Data.Local) || !bytes.Equal(a.Attr.Local, b.Attr.Local):
		return fmt.Sprintf("%x, %x; want %x, %x", a.Data.Local, a.Attr.Local, b.Data.Local, b.Attr.Local)
	case (x.Mtime != old.Mtime) != (y.Mtime != old.Mtime), (x.Ctime != old.Ctime) != (y.Ctime != old.Ctime):
		return fmt.Sprintf("modified %t, changed %t; want %t, %t", x.Mtime != old.Mtime, x.Ctime != old.Ctime, y.Mtime != old.Mtime,
			y.Ctime != old.Ctime)
	}
	if m, n := got.attributes(a), want.attributes(b); !slices.Equal(m, n) {
		return fmt.Sprintf("%q, want %q", m, n)
	}
	return ""
}

func (w *walker) attributes(ip *inode.Inode) (list []string) {
	w.t.Helper()
	w.do(0, func(tr *live.Trans) error {
		return w.names.Attrs.Each(tr, ip, func(a *attr.Attr) error {
			list = append(list, fmt.Sprintf("%x %d %s %x", a.Hash, a.Space, a.Name, a.Value))
			return nil
		})
	})
	return list
}

// noneUnlinked makes sure that no inode waits to be freed.
func noneUnlinked(w *walker) {
	w.t.Helper()
	w.do(0, func(tr *live.Trans) error {
		for agno := range w.fs.G.AGCount {
			for bucket := range ondisk.UnlinkedBuckets {
				agi, err := tr.AGI(agno)
				if err != nil {
					return err
				}
				if ino := agi.Unlinked(bucket); ino != geometry.NullAGInode {
					w.t.Errorf("inode %d of AG %d is unlinked", ino, agno)
				}
			}
		}
		return nil
	})
}
