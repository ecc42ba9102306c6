package dir_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/da"
	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// tree is a root directory that is changed at random, and what is to be in it.
type tree struct {
	t      *testing.T
	random *rand.Rand
	d      *livetest.Device
	fs     *live.FS
	dirs   *dir.Dirs
	root   *inode.Inode
	want   map[string]geometry.Inode
	names  []string
	equal  []string // names of one hash that may be added

	stubborn *stubborn // or nil
	perFree  int       // blocks of entries that a block of the list of free space has; 0 for what there is room for
}

const modelBlocks = 200 // that an operation may take

// reload reads everything anew from the device.
func (m *tree) reload() {
	m.t.Helper()
	counts := live.Counts{}
	if m.fs != nil {
		must(m.t, m.fs.Cache.Flush())
		counts = m.fs.Counts
	}
	fresh := livetest.Load(m.t, m.d)
	if m.fs != nil {
		fresh.Counts = counts
	}
	m.fs, m.dirs = fresh, dir.New(fresh)
	if m.perFree > 0 {
		m.dirs.SetPerFree(m.perFree)
	}
	if m.stubborn != nil {
		m.dirs.SetSpace(func(s da.Space) da.Space { m.stubborn.Space = s; return m.stubborn })
	}
	tr := m.fs.Begin(0)
	root, err := inode.Read(tr, m.fs.G.RootInode())
	must(m.t, err)
	must(m.t, tr.Commit())
	m.root = root
}

func (m *tree) add() {
	name := fmt.Sprintf("%d%s", m.random.IntN(1<<20), strings.Repeat("n", m.random.IntN(200)))
	if m.random.IntN(4) == 0 {
		name = m.equal[m.random.IntN(len(m.equal))]
	}
	if _, there := m.want[name]; there {
		tr := m.fs.Begin(modelBlocks)
		if ok, err := m.dirs.Add(tr, m.root, name, 1, 1, modelBlocks); ok || !errors.Is(err, fs.ErrExist) {
			m.t.Fatalf("a name that is there: %v, %v", ok, err)
		}
		must(m.t, tr.Commit())
		return
	}
	tr := m.fs.Begin(modelBlocks)
	ino, ok, err := ialloc.Alloc(tr, m.root, 0o010644)
	must(m.t, err)
	if !ok {
		m.t.Fatal("no inode")
	}
	_, err = ialloc.Create(tr, ino, m.root, ialloc.New{Mode: 0o010644})
	must(m.t, err)
	ok, err = m.dirs.Add(tr, m.root, name, ino, 5, modelBlocks)
	must(m.t, err)
	if !ok {
		m.t.Fatal("no room")
	}
	must(m.t, tr.Commit())
	m.want[name], m.names = ino, append(m.names, name)
}

func (m *tree) remove() {
	i := m.random.IntN(len(m.names))
	name := m.names[i]
	m.names[i] = m.names[len(m.names)-1]
	m.names = m.names[:len(m.names)-1]
	tr := m.fs.Begin(modelBlocks)
	must(m.t, m.dirs.Remove(tr, m.root, name, modelBlocks))
	ip, err := inode.Read(tr, m.want[name])
	must(m.t, err)
	ip.Core.Nlink = 0
	ip.Log(tr)
	must(m.t, ialloc.Free(tr, ip))
	must(m.t, tr.Commit())
	delete(m.want, name)
}

// swap makes two names stand for each other's file, and ".." for another directory for a while.
func (m *tree) swap() {
	a, b := m.names[m.random.IntN(len(m.names))], m.names[m.random.IntN(len(m.names))]
	m.replace(a, m.want[b])
	m.replace(b, m.want[a])
	m.want[a], m.want[b] = m.want[b], m.want[a]
	if m.random.IntN(10) == 0 {
		m.replace("..", m.want[a])
		m.replace("..", m.root.Ino)
	}
}

func (m *tree) replace(name string, ino geometry.Inode) {
	m.t.Helper()
	tr := m.fs.Begin(modelBlocks)
	ftype := uint8(5)
	if name == ".." {
		ftype = 2
	}
	ok, err := m.dirs.Replace(tr, m.root, name, ino, ftype, modelBlocks)
	must(m.t, err)
	if e, found, err := m.dirs.Lookup(tr, m.root, name); !ok || !found || err != nil || e.Ino != ino {
		m.t.Fatalf("%q: %v, then %+v, %v, %v; want inode %d", name, ok, e, found, err, ino)
	}
	must(m.t, tr.Commit())
}

// check looks for all names, and for some that are not there, and goes over all entries.
func (m *tree) check() {
	m.t.Helper()
	m.list()
	tr := m.fs.Begin(0)
	for name, ino := range m.want {
		if e, found, err := m.dirs.Lookup(tr, m.root, name); err != nil || !found || e.Ino != ino {
			m.t.Fatalf("%q: %+v, found %v, %v; want inode %d", name, e, found, err, ino)
		}
	}
	for range 20 {
		name := fmt.Sprint("none", m.random.Int())
		if _, found, err := m.dirs.Lookup(tr, m.root, name); found || err != nil {
			m.t.Fatalf("%q: found %v, %v", name, found, err)
		}
	}
	must(m.t, tr.Commit())
}

// list goes over all entries, in one go or in pieces.
func (m *tree) list() {
	m.t.Helper()
	all := list(m.t, m.dirs, m.fs, m.root, 0, -1)
	if len(all) != len(m.want)+2 || all[0].name != "." || all[1].name != ".." {
		m.t.Fatalf("%d entries, want %d with . and ..: %v", len(all), len(m.want)+2, all[:min(len(all), 3)])
	}
	ftype := uint8(5)
	if !m.fs.G.Features.Ftype {
		ftype = 0
	}
	for i, e := range all {
		if i > 1 && (m.want[e.name] != e.ino || e.ftype != ftype) || i > 0 && e.cookie <= all[i-1].cookie {
			m.t.Fatalf("entry %d is %+v, want inode %d", i, e, m.want[e.name])
		}
	}
	var pieces []listed
	for from := dir.Cookie(0); ; from = pieces[len(pieces)-1].cookie + 1 {
		some := list(m.t, m.dirs, m.fs, m.root, from, 1+m.random.IntN(1+len(all)/3))
		if len(some) == 0 {
			break
		}
		pieces = append(pieces, some...)
	}
	if !slices.Equal(pieces, all) {
		m.t.Fatalf("%d entries in pieces, %d in one go", len(pieces), len(all))
	}
}

// Whatever is added and removed, the directory has what is to be there, xfs_repair finds nothing wrong, and once
// all is removed all space is free again.
func TestRandomly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		most int
		args []string
	}{
		{"short", 10, nil},
		{"block", 40, nil},
		{"leaf", 400, []string{"-b", "size=1024"}},
		{"node", 3000, nil},
		{"node of V4", 2500, []string{"-m", "crc=0", "-b", "size=512"}},
		{"stubborn", 3000, nil},
		{"short lists", 3000, nil},
		{"large blocks", 2500, []string{"-n", "size=32k", "-b", "size=1024"}},
		{"ci", 1000, []string{"-n", "version=ci"}},
		{"V4 ci", 1000, []string{"-m", "crc=0", "-n", "version=ci"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if !slices.Contains(args, "crc=0") {
				args = append([]string{"-n", "parent=0"}, args...)
			}
			m := &tree{t: t, random: rand.New(rand.NewPCG(7, uint64(c.most))), want: map[string]geometry.Inode{},
				equal: equalNames(c.most, 18)}
			if c.name == "stubborn" {
				m.stubborn = &stubborn{random: m.random}
			}
			if c.name == "short lists" {
				m.perFree = 25
			}
			m.d = livetest.Open(t, livetest.Reference(t, size, args...))
			m.reload()
			before := m.fs.Counts.FreeBlocks
			for round := range 4 {
				target := c.most * []int{4, 1, 3, 0}[round] / 4
				for len(m.names) != target {
					// Mostly towards the target.
					if len(m.names) > 0 && m.random.IntN(10) == 0 {
						m.swap()
					}
					if grow := len(m.names) < target; (grow == (m.random.IntN(5) > 0)) || len(m.names) == 0 {
						m.add()
					} else {
						m.remove()
					}
				}
				m.reload()
				m.check()
				if m.stubborn == nil && m.perFree == 0 { // xfs_repair takes blocks that are empty for wrong
					m.repair()
				}
			}
			if m.stubborn != nil {
				if m.stubborn.refused == 0 {
					t.Error("no blocks were refused")
				}
				return // empty blocks stay until they are used
			}
			if form := m.root.Data.Format; form != ondisk.FormatLocal {
				t.Errorf("an empty directory has form %d", form)
			}
			// A chunk of inodes stays, since the root's is there; others are freed.
			if lost := int64(before) - int64(m.fs.Counts.FreeBlocks); lost != 0 {
				t.Errorf("%d blocks are not free again", lost)
			}
		})
	}
}

func (m *tree) repair() {
	m.t.Helper()
	b := make([]byte, m.fs.G.SectorSize)
	_, _ = m.d.ReadAt(b, 0)
	ondisk.SetCounters(b, m.fs.Counts.Inodes, m.fs.Counts.FreeInodes, uint64(m.fs.Counts.FreeBlocks))
	if m.fs.V5 {
		ondisk.Seal(b, ondisk.SuperblockCRC)
	}
	_, _ = m.d.WriteAt(b, 0)
	image := filepath.Join(m.t.TempDir(), "image")
	m.d.Save(m.t, image, size)
	if out, err := livetest.Run(m.t, "xfs_repair", "-n", image); err != nil {
		m.t.Fatalf("xfs_repair with %d names: %v\n%s", len(m.names), err, out)
	}
}
