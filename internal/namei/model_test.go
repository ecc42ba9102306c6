package namei_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/attr"
	"mkfs/internal/bmap"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
	"mkfs/internal/symlink"
)

// kinds are the types of files that are made, by their number.
var kinds = []uint16{
	ondisk.ModeRegular, ondisk.ModeDirectory, ondisk.ModeSymlink, ondisk.ModeRegular, ondisk.ModeFIFO, ondisk.ModeDirectory,
	ondisk.ModeCharacter, ondisk.ModeSymlink,
}

// create makes a file in the model and in the filesystem, with contents and attributes.
func (w *walker) create(m *names, r *rand.Rand, file int) {
	w.t.Helper()
	dirs := []string{"."}
	for _, p := range slices.Sorted(maps.Keys(m.files)) {
		if m.dirs[m.files[p]] {
			dirs = append(dirs, p)
		}
	}
	path := filepath.Join(dirs[r.Intn(len(dirs))], fmt.Sprint("file", file, strings.Repeat("y", r.Intn(200))))
	kind := kinds[file%len(kinds)]
	m.files[path], m.dirs[file] = file, kind == ondisk.ModeDirectory
	a := w.at(path)
	to := ""
	if kind == ondisk.ModeSymlink {
		to = target(1 + r.Intn(symlink.MaxTarget))
	}
	var ip *inode.Inode
	w.do(w.names.Space.Create(len(a.Name))+symlink.Blocks(w.fs, len(to)), func(tr *live.Trans) (err error) {
		ok, what := false, ialloc.New{Mode: kind | 0o644}
		if to != "" {
			ip, ok, err = w.names.Symlink(tr, a.Dir, a.Name, to, what)
		} else {
			ip, ok, err = w.names.Create(tr, a.Dir, a.Name, what)
		}
		if !ok && err == nil {
			err = bmap.ErrNoRoom
		}
		return err
	})
	w.inodes[ip.Ino] = ip
	if kind == ondisk.ModeRegular {
		w.fill(ip, r)
	}
	if r.Intn(3) == 0 {
		for i := range 1 + r.Intn(12) {
			value := bytes.Repeat([]byte{byte(i)}, r.Intn([]int{20, 400, 9000}[r.Intn(3)]))
			res, err := w.names.Attrs.Set(ip, attr.User, fmt.Append(nil, "name", i), value, attr.Upsert)
			must(w.t, err)
			if res != attr.Done {
				w.t.Fatalf("result %d", res)
			}
		}
	}
}

// fill gives a file blocks here and there.
func (w *walker) fill(ip *inode.Inode, r *rand.Rand) {
	w.t.Helper()
	for range r.Intn(40) {
		off, n := uint64(r.Intn(4000)), geometry.Blocks(1+r.Intn(5))
		ok, err := bmap.Fill(w.fs, ip, off, n, bmap.Prealloc)
		must(w.t, err)
		if !ok {
			w.t.Fatal("no room")
		}
	}
}

// removeAll takes all names away, those in directories first.
func (w *walker) removeAll(m *names, r *rand.Rand) {
	w.t.Helper()
	paths := slices.Sorted(maps.Keys(m.files))
	r.Shuffle(len(paths), func(i, k int) { paths[i], paths[k] = paths[k], paths[i] })
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	for _, p := range paths {
		c := change{verb: "remove", from: p}
		if !m.do(c) {
			w.t.Fatalf("%v cannot be", c)
		}
		w.change(c)
	}
}

// Whatever becomes of names, xfs_repair finds nothing, and everything is given back with the last of them.
func TestRandom(t *testing.T) {
	for i, c := range formats {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			r := rand.New(rand.NewSource(int64(i)))
			w := load(t, livetest.Open(t, livetest.Reference(t, size, c.args...)))
			before, rootBefore := w.fs.Counts, w.root.Core
			m := &names{map[string]int{}, map[int]bool{}}
			for file := range 300 {
				w.create(m, r, file)
				if file > 20 {
					for range r.Intn(3) {
						w.change(m.random(r))
					}
				}
			}
			w.holds(m)
			w.repair()
			w.removeAll(m, r)
			// Where a block has several chunks of inodes they are kept.
			after := w.fs.Counts
			kept := geometry.Blocks(after.Inodes-before.Inodes) / geometry.Blocks(w.fs.G.InodesPerBlock())
			if kept > 0 && w.fs.G.InodesPerBlock() <= 64 || after.FreeBlocks+kept != before.FreeBlocks ||
				after.Inodes-after.FreeInodes != before.Inodes-before.FreeInodes {
				t.Errorf("%+v afterwards, %+v before", after, before)
			}
			root := w.root.Core
			if root.Nlink != rootBefore.Nlink || root.Size != rootBefore.Size || root.Blocks != rootBefore.Blocks {
				t.Errorf("the root directory has %d links, %d bytes, %d blocks afterwards", root.Nlink, root.Size, root.Blocks)
			}
			noneUnlinked(w)
			w.repair()
		})
	}
}

// holds makes sure that the tree, as it is read anew, is the model's.
func (w *walker) holds(m *names) {
	w.t.Helper()
	must(w.t, w.fs.Cache.Flush())
	again := load(w.t, w.d)
	got := map[string]bool{}
	again.list(got, again.root, "")
	for p := range m.files {
		if !got[p] {
			w.t.Errorf("%s is gone", p)
		}
	}
	if len(got) != len(m.files) {
		w.t.Errorf("%d names, want %d", len(got), len(m.files))
	}
}

func (w *walker) list(got map[string]bool, dp *inode.Inode, path string) {
	for _, e := range w.entries(dp) {
		if name := string(e.Name); name != "." && name != ".." {
			p := filepath.Join(path, name)
			got[p] = true
			if ip := w.get(e.Ino); ip.IsDir() {
				w.list(got, ip, p)
			}
		}
	}
}

// What cannot be is refused with an error that says what and where, and nothing is changed.
func TestRefused(t *testing.T) {
	w := load(t, livetest.Open(t, livetest.Reference(t, size)))
	m := &names{map[string]int{}, map[int]bool{}}
	made := map[string]uint16{
		"a": ondisk.ModeDirectory, "a/b": ondisk.ModeDirectory, "a/b/c": ondisk.ModeDirectory, "f": ondisk.ModeRegular,
		"g": ondisk.ModeRegular, "e": ondisk.ModeDirectory,
	}
	for _, path := range slices.Sorted(maps.Keys(made)) {
		a := w.at(path)
		w.do(w.names.Space.Create(len(a.Name)), func(tr *live.Trans) error {
			ip, ok, err := w.names.Create(tr, a.Dir, a.Name, ialloc.New{Mode: made[path]})
			if !ok && err == nil {
				err = bmap.ErrNoRoom
			}
			w.inodes[ip.Ino] = ip
			m.files[path] = len(m.files)
			return err
		})
	}
	root, at := w.root, w.at
	rename := func(from, to namei.At) func(tr *live.Trans) error {
		return func(tr *live.Trans) error { _, err := w.names.Rename(tr, from, to); return err }
	}
	exchange := func(from, to namei.At) func(tr *live.Trans) error {
		return func(tr *live.Trans) error { _, err := w.names.Exchange(tr, from, to); return err }
	}
	remove := func(a namei.At) func(tr *live.Trans) error {
		return func(tr *live.Trans) error { return w.names.Remove(tr, a) }
	}
	create := func(dp *inode.Inode, name string) func(tr *live.Trans) error {
		return func(tr *live.Trans) error {
			_, _, err := w.names.Create(tr, dp, name, ialloc.New{Mode: ondisk.ModeRegular})
			return err
		}
	}
	link := func(dp *inode.Inode, name, to string) func(tr *live.Trans) error {
		return func(tr *live.Trans) error { _, err := w.names.Link(tr, dp, name, at(to).File); return err }
	}
	for _, c := range []struct {
		what string
		is   error
		do   func(tr *live.Trans) error
	}{
		{"an empty name", nil, create(root, "")},
		{"has 256 bytes", nil, create(root, strings.Repeat("n", 256))},
		{"slash or a zero byte", nil, create(root, "a/b")},
		{"slash or a zero byte", nil, create(root, "a\x00b")},
		{`"." is taken`, nil, create(root, ".")},
		{`".." is taken`, nil, create(root, "..")},
		{"is no directory", nil, create(at("f").File, "name")},
		{"has one name", nil, link(root, "name", "a")},
		{"", fs.ErrExist, link(root, "g", "f")},
		{"", namei.ErrNotEmpty, remove(at("a"))},
		{"", fs.ErrNotExist, remove(at("none"))},
		{"", fs.ErrNotExist, remove(namei.At{Dir: root, Name: "none", File: at("f").File})},
		{"stands for inode", nil, remove(namei.At{Dir: root, Name: "g", File: at("f").File})},
		{`".." is taken`, nil, remove(namei.At{Dir: at("a").File, Name: "..", File: root})},
		{"", fs.ErrNotExist, rename(at("none"), at("f"))},
		{"", namei.ErrNotEmpty, rename(at("e"), at("a"))},
		{"the other is not", nil, rename(at("e"), at("f"))},
		{"the other is not", nil, rename(at("f"), at("e"))},
		{"in itself", nil, rename(at("a"), at("a/new"))},
		{"in itself", nil, rename(at("a"), at("a/b/c/new"))},
		{"in itself", nil, rename(at("a"), at("a/b/c"))},
		{"", fs.ErrExist, rename(at("f"), namei.At{Dir: root, Name: "g"})},
		{"", fs.ErrNotExist, exchange(at("f"), at("none"))},
		{"in itself", nil, exchange(at("a"), at("a/b/c"))},
		{"in itself", nil, exchange(at("a/b/c"), at("a"))},
		{"2 links", nil, func(*live.Trans) error { return w.names.Inactivate(at("e").File) }},
	} {
		was := w.fs.Counts
		w.do(w.names.Space.Rename(255), func(tr *live.Trans) error {
			err := c.do(tr)
			if err == nil || !strings.Contains(err.Error(), c.what) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v; want %q, %v", err, c.what, c.is)
			}
			return nil
		})
		if w.fs.Counts != was {
			t.Errorf("%s: %+v, want %+v", c.what, w.fs.Counts, was)
		}
	}
	w.holds(m)
	w.repair()
}

// A directory that is freed with its blocks leaves nothing of them to be written.
func TestInactivateDirectory(t *testing.T) {
	w := load(t, livetest.Open(t, livetest.Reference(t, size, "-b", "size=1024", "-n", "size=64k,parent=0")))
	before := w.fs.Counts
	ip, other := w.dir("dir"), w.dir("other")
	for i := range 3000 { // so that their blocks take turns
		for _, dp := range []*inode.Inode{ip, other}[:1+i%2] {
			w.do(w.names.Space.Link(40), func(tr *live.Trans) error {
				ok, err := w.names.Dirs.Add(tr, dp, fmt.Sprint("an entry of some length ", i), w.root.Ino, 2, tr.Reserve)
				if !ok && err == nil {
					err = bmap.ErrNoRoom
				}
				return err
			})
		}
	}
	had := slices.Clone(ip.Data.Extents)
	if len(had) < 3 {
		t.Fatalf("%v", had)
	}
	for _, dp := range []*inode.Inode{ip, other} {
		w.do(0, func(tr *live.Trans) error {
			dp.Core.Nlink = 0
			dp.Log(tr)
			return ialloc.Unlink(tr, dp)
		})
		must(t, w.names.Inactivate(dp))
	}
	w.do(0, func(tr *live.Trans) error {
		for _, name := range []string{"dir", "other"} {
			must(t, w.names.Dirs.Remove(tr, w.root, name, 0))
			w.root.Core.Nlink--
		}
		w.root.Log(tr)
		return nil
	})
	must(t, w.fs.Cache.Flush())
	for _, e := range had {
		b := make([]byte, w.fs.G.Bytes(e.Blocks))
		_, _ = w.d.ReadAt(b, w.fs.Offset(w.fs.G.BlockAddress(e.Start)))
		if bytes.Contains(b, []byte("an entry")) {
			t.Errorf("extent %+v was written", e)
		}
	}
	if w.fs.Counts != before {
		t.Errorf("%+v afterwards, %+v before", w.fs.Counts, before)
	}
	w.repair()
}

// dir makes a directory in the root directory.
func (w *walker) dir(name string) (ip *inode.Inode) {
	w.t.Helper()
	w.do(w.names.Space.Create(len(name)), func(tr *live.Trans) (err error) {
		ok := false
		ip, ok, err = w.names.Create(tr, w.root, name, ialloc.New{Mode: ondisk.ModeDirectory | 0o755})
		if !ok && err == nil {
			err = bmap.ErrNoRoom
		}
		return err
	})
	return ip
}
