package namei_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
)

// explorer makes changes of a filesystem that may be damaged.
type explorer struct {
	fs    *live.FS
	names *namei.Names
	known map[geometry.Inode]*inode.Inode
}

var errNone = errors.New("nothing is to be done")

// at finds a path.
func (e *explorer) at(path string) (a namei.At, err error) {
	tr := e.fs.Begin(0)
	a.File, err = e.get(tr, e.fs.G.RootInode())
	for name := range strings.SplitSeq(path, "/") {
		if err != nil || a.File == nil || !a.File.IsDir() {
			return a, errors.Join(err, errNone)
		}
		a = namei.At{Dir: a.File, Name: name}
		entry, found, err := e.names.Dirs.Lookup(tr, a.Dir, name)
		if err != nil {
			return a, err
		}
		if found {
			if a.File, err = e.get(tr, entry.Ino); err != nil {
				return a, err
			}
		}
	}
	return a, tr.Commit()
}

func (e *explorer) get(tr *live.Trans, ino geometry.Inode) (*inode.Inode, error) {
	if ip := e.known[ino]; ip != nil {
		return ip, nil
	}
	ip, err := inode.Read(tr, ino)
	if err == nil {
		e.known[ino] = ip
	}
	return ip, err
}

// change makes a change.
func (e *explorer) change(c change) error {
	from, err := e.at(c.from)
	if err != nil {
		return err
	}
	to := namei.At{}
	if c.to != "" {
		if to, err = e.at(c.to); err != nil {
			return err
		}
	}
	tr := e.fs.Begin(e.names.Space.Rename(255))
	switch {
	case c.verb == "link" && from.File != nil:
		_, err = e.names.Link(tr, to.Dir, to.Name, from.File)
	case c.verb == "rename":
		_, err = e.names.Rename(tr, from, to)
	case c.verb == "exchange":
		_, err = e.names.Exchange(tr, from, to)
	case c.verb == "remove":
		err = e.names.Remove(tr, from)
	}
	if err == nil {
		err = tr.Commit()
	}
	for _, ip := range []*inode.Inode{from.File, to.File} {
		if err == nil && ip != nil && ip.Core.Nlink == 0 {
			err = e.names.Inactivate(ip)
			delete(e.known, ip.Ino)
		}
	}
	return err
}

// Whatever is wrong with a tree, operations end, and none panics. The blocks are of V4, which have no checksums.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	d := livetest.Open(t, livetest.Reference(t, size, "-m", "crc=0", "-b", "size=512"))
	w := load(t, d)
	m := &names{map[string]int{}, map[int]bool{}}
	for file := range 120 {
		w.create(m, r, file)
	}
	must(t, w.fs.Cache.Flush())
	places := w.places()
	refused, worked := 0, 0
	for range 700 {
		copied := d.Clone()
		for range 1 + r.Intn(6) {
			at := places[r.Intn(len(places))] + r.Int63n([]int64{512, 110}[r.Intn(2)])
			b := []byte{0}
			_, _ = copied.ReadAt(b, at)
			b[0] ^= byte(1 << r.Intn(8))
			_, _ = copied.WriteAt(b, at)
		}
		fs := livetest.Load(t, copied)
		e := &explorer{fs: fs, names: namei.New(fs), known: map[geometry.Inode]*inode.Inode{}}
		model := &names{maps.Clone(m.files), maps.Clone(m.dirs)}
		err := error(nil)
		for range 12 {
			if err = e.change(model.random(r)); err != nil {
				break
			}
		}
		if err != nil {
			refused++
		} else {
			worked++
		}
	}
	t.Logf("%d refused, %d worked", refused, worked)
	if refused == 0 || worked == 0 {
		t.Error("damage was to be refused, and some to go unnoticed")
	}
}

// places are those of inodes, of blocks of directories and symbolic links, and of the list of unlinked inodes.
func (w *walker) places() (list []int64) {
	g := w.fs.G
	list = append(list, w.fs.Offset(0, 0)+2*int64(g.SectorSize))
	for _, ino := range slices.Sorted(maps.Keys(w.inodes)) {
		ip := w.inodes[ino]
		agno, agino := g.InodeAddress(ino)
		list = append(list, w.fs.Offset(agno, geometry.AGBlock(agino>>g.InodeBlockLog())))
		if kind := ip.Core.Mode & ondisk.ModeType; kind != ondisk.ModeDirectory && kind != ondisk.ModeSymlink {
			continue
		}
		for _, e := range ip.Data.Extents {
			for i := range e.Blocks {
				list = append(list, w.fs.Offset(g.BlockAddress(e.Start+geometry.FSBlock(i))))
			}
		}
	}
	return list
}

// A way up that goes in circles, or nowhere, is an error.
func TestWayUp(t *testing.T) {
	for _, c := range []struct {
		name, want string
		up         func(a, b, f geometry.Inode) geometry.Inode
	}{
		{"circle", "in circles", func(_, b, _ geometry.Inode) geometry.Inode { return b }},
		{"file", "is no directory", func(_, _, f geometry.Inode) geometry.Inode { return f }},
		{"none", "its parent: ", func(_, _, f geometry.Inode) geometry.Inode { return f + 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := load(t, livetest.Open(t, livetest.Reference(t, size)))
			list := map[string]*inode.Inode{}
			for _, path := range []string{"x", "a", "a/b", "f"} {
				mode := uint16(ondisk.ModeDirectory)
				if path == "f" {
					mode = ondisk.ModeRegular
				}
				at := w.at(path)
				w.do(w.names.Space.Create(1), func(tr *live.Trans) (err error) {
					list[path], _, err = w.names.Create(tr, at.Dir, at.Name, ialloc.New{Mode: mode})
					w.inodes[list[path].Ino] = list[path]
					return err
				})
			}
			w.do(0, func(tr *live.Trans) error {
				up := c.up(list["a"].Ino, list["a/b"].Ino, list["f"].Ino)
				_, err := w.names.Dirs.Replace(tr, list["a"], "..", up, 2, 0)
				return err
			})
			from, to := w.at("x"), w.at("a/b/x")
			w.do(w.names.Space.Rename(1), func(tr *live.Trans) error {
				if _, err := w.names.Rename(tr, from, to); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v; want %q", err, c.want)
				}
				return nil
			})
		})
	}
}

// Directories whose files are of one project get none of another.
func TestProject(t *testing.T) {
	w := load(t, livetest.Open(t, livetest.Reference(t, size)))
	dp := w.dir("dir")
	dp.Core.Flags |= ondisk.FlagProjInherit
	dp.Core.ProjectID = 7
	for i, c := range []struct {
		mode uint16
		id   uint32
		ok   bool
	}{
		{ondisk.ModeRegular, 0, false}, {ondisk.ModeRegular, 7, true}, {ondisk.ModeFIFO, 0, true}, {ondisk.ModeFIFO, 8, false},
	} {
		name := fmt.Sprint(i)
		var ip *inode.Inode
		w.do(w.names.Space.Create(1), func(tr *live.Trans) (err error) {
			ip, _, err = w.names.Create(tr, w.root, name, ialloc.New{Mode: c.mode})
			ip.Core.ProjectID = c.id
			return err
		})
		w.do(w.names.Space.Rename(1), func(tr *live.Trans) error {
			_, err := w.names.Link(tr, dp, name, ip)
			_, err2 := w.names.Rename(tr, namei.At{Dir: w.root, Name: name, File: ip}, namei.At{Dir: dp, Name: name + "-"})
			if (err == nil) != c.ok || (err2 == nil) != c.ok {
				t.Errorf("%+v: %v, %v", c, err, err2)
			}
			return nil
		})
	}
}
