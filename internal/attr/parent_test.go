package attr

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/bmap"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// randomLink is a link with a name of any length.
func randomLink(r *rand.Rand, n int) Link {
	name := fmt.Sprintf("%d-%s", n, strings.Repeat("x", r.Intn(60)))
	if r.Intn(8) == 0 {
		name += strings.Repeat("long", r.Intn(47))
	}
	return Link{Dir: geometry.Inode(128 + r.Intn(3)), Generation: r.Uint32(), Name: []byte(name)}
}

// Parent pointers that are entered one by one are those of the reference, through all forms.
func TestParentsLikeReference(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "parent=1"}, {"-n", "parent=1", "-b", "size=1024"}, {"-n", "parent=1,version=ci", "-b", "size=2048"},
	} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			p := newPair(t, rootDir, args...)
			r := rand.New(rand.NewSource(1))
			for n := 0; n < 250; {
				cmd := []string{"-x"}
				ip := p.read()
				for range 1 + n/4 {
					l := randomLink(r, n)
					if n%5 == 0 {
						l.Name = bytes.ToUpper(l.Name)
					}
					rec := l.rec()
					cmd = append(cmd, p.command(n, change{space: Parent, name: string(l.Name), value: rec[:]})...)
					tr := p.fs.Begin(100)
					ip.Stamp(p.fs, inode.Changed)
					ip.Log(tr)
					if err := p.f.AddParent(tr, ip, l); err != nil {
						t.Fatal(err)
					}
					if err := tr.Commit(); err != nil {
						t.Fatal(err)
					}
					n++
				}
				if out, err := livetest.Run(t, "xfs_db", append(cmd, p.path)...); err != nil || strings.Contains(out, "failed") {
					t.Fatalf("%v\n%s", err, out)
				}
				if err := p.fs.Cache.Flush(); err != nil {
					t.Fatal(err)
				}
				p.compare(fmt.Sprint(n))
			}
		})
	}
}

// The parent pointers of a file with many links are those that mkfs.xfs makes of a directory.
func TestParentsOfLinks(t *testing.T) {
	for _, c := range []struct{ links, block int }{
		{1, 4096}, {5, 1024}, {9, 4096}, {60, 4096}, {40, 1024}, {700, 1024}, {900, 4096},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			src := t.TempDir()
			r := rand.New(rand.NewSource(int64(c.links)))
			first := filepath.Join(src, "file")
			if err := os.WriteFile(first, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for i := range c.links - 1 {
				if err := os.Link(first, filepath.Join(src, string(randomLink(r, i).Name))); err != nil {
					t.Fatal(err)
				}
			}
			path := livetest.Reference(t, imageSize, "-n", "parent=1", "-b", fmt.Sprint("size=", c.block), "-p", src)
			ref := livetest.Open(t, path)
			fs := livetest.Load(t, ref)
			dir, err := os.Open(src)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			names, err := dir.Readdirnames(-1) // in the order of mkfs.xfs
			if err != nil || len(names) != c.links {
				t.Fatal(err, len(names))
			}
			d := newDesk(t, func(s *geometry.Spec) {
				s.BlockSize = geometry.Given(int64(c.block))
				s.Features.Parent = geometry.Given(true)
			})
			d.ino = fs.G.RootInode() + 3 // behind the bitmaps of the realtime section
			d.makeFork()
			for _, name := range names {
				d.must(func(t *live.Trans, ip *inode.Inode) error {
					t.Join(ip)
					return d.f.AddParent(t, ip, Link{Dir: fs.G.RootInode(), Name: []byte(name)})
				})
			}
			want, err := inode.Read(fs.Begin(0), d.ino)
			if err != nil {
				t.Fatal(err)
			}
			d.same(want, ref)
		})
	}
}

// same compares an attribute fork with another's, wherever its blocks are.
func (d *desk) same(want *inode.Inode, ref *livetest.Device) {
	d.t.Helper()
	if err := d.fs.Cache.Flush(); err != nil {
		d.t.Fatal(err)
	}
	d.must(func(_ *live.Trans, ip *inode.Inode) error {
		if ip.ForkOffset != want.ForkOffset || isShort(ip) != isShort(want) || !bytes.Equal(ip.Attr.Local, want.Attr.Local) {
			return fmt.Errorf("a fork at %d of form %d, want at %d of %d", ip.ForkOffset, ip.Attr.Format, want.ForkOffset,
				want.Attr.Format)
		}
		if a, b := mappedBlocks(ip), mappedBlocks(want); a != b {
			return fmt.Errorf("%d blocks, want %d", a, b)
		}
		for _, e := range want.Attr.Extents {
			for at := e.Offset; at < e.End(); at++ {
				a, b := d.raw(d.dev, ip, at), d.raw(ref, want, at)
				if i := differ(a, b); i >= 0 {
					return fmt.Errorf("block %d differs at %s", at, window(a, b, i))
				}
			}
		}
		return nil
	})
}

// raw is a block of a fork on a device, without its checksum and its place.
func (d *desk) raw(dev *livetest.Device, ip *inode.Inode, at uint64) []byte {
	g := d.fs.G
	e, _ := bmap.Lookup(ip, bmap.Attr, at)
	agno, agbno := g.BlockAddress(e.Start + geometry.FSBlock(at-e.Offset))
	b := make([]byte, g.BlockSize)
	_, _ = dev.ReadAt(b, int64(g.Offset(agno, agbno)))
	if _, ok := ondisk.DecodeAttrBlock(b); ok {
		clear(b[12:16])
		clear(b[40:48])
	} else if d.fs.V5 {
		clear(b[12:24])
	}
	return b
}

// Parent pointers are added, removed and renamed at random; a model knows them.
func TestParentModel(t *testing.T) {
	for _, block := range []int64{1024, 4096} {
		d := newDesk(t, func(s *geometry.Spec) {
			s.BlockSize = geometry.Given(block)
			s.Features.Parent = geometry.Given(true)
		})
		d.makeFork()
		r := rand.New(rand.NewSource(block))
		model := map[string]Link{}
		id := func(l Link) string { rec := l.rec(); return fmt.Sprintf("%d:%s %x", Parent, l.Name, rec[:]) }
		for n := range 1500 {
			keys := slices.Sorted(func(yield func(string) bool) {
				for k := range model {
					if !yield(k) {
						return
					}
				}
			})
			op := r.Intn(10)
			if n/300%2 == 1 {
				op += 3
			}
			d.must(func(t *live.Trans, ip *inode.Inode) error {
				t.Join(ip)
				l := randomLink(r, n)
				if op < 6 || len(keys) == 0 {
					model[id(l)] = l
					return d.f.AddParent(t, ip, l)
				}
				old := model[keys[r.Intn(len(keys))]]
				delete(model, id(old))
				if op < 8 {
					if r.Intn(2) == 0 {
						l = old
						l.Dir, l.Name = 999, bytes.ToUpper(old.Name)
					}
					model[id(l)] = l
					return d.f.ReplaceParent(t, ip, old, l)
				}
				return d.f.RemoveParent(t, ip, old)
			})
			if n%10 > 0 {
				continue
			}
			if err := d.fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			d.sound()
			all := d.all()
			for id := range model {
				if _, ok := all[id]; !ok {
					t.Fatalf("%d: %s is lost", n, id)
				}
			}
			if len(all) != len(model) {
				t.Fatalf("%d: %d parent pointers, want %d", n, len(all), len(model))
			}
		}
		for _, l := range model {
			d.must(func(t *live.Trans, ip *inode.Inode) error {
				t.Join(ip)
				return d.f.RemoveParent(t, ip, l)
			})
		}
		if err := d.fs.Cache.Flush(); err != nil {
			t.Fatal(err)
		}
		d.sound()
		if all := d.all(); len(all) > 0 {
			t.Errorf("%d parent pointers are left", len(all))
		}
	}
}

// What is asked for and cannot be is an error.
func TestParentErrors(t *testing.T) {
	d := newDesk(t, nil)
	l := Link{Dir: 128, Name: []byte("name")}
	if err := d.with(func(t *live.Trans, ip *inode.Inode) error { return d.f.AddParent(t, ip, l) }); err == nil {
		t.Error("a file without attribute fork has a parent pointer")
	}
	fork := func(do func(t *live.Trans, ip *inode.Inode) error) error {
		return d.with(func(t *live.Trans, ip *inode.Inode) error {
			ip.ForkOffset = ip.DefaultForkOffset(d.fs)
			return do(t, ip)
		})
	}
	for name, do := range map[string]func(t *live.Trans, ip *inode.Inode) error{
		"no name":            func(t *live.Trans, ip *inode.Inode) error { return d.f.AddParent(t, ip, Link{Dir: 128}) },
		"removed, not there": func(t *live.Trans, ip *inode.Inode) error { return d.f.RemoveParent(t, ip, l) },
		"renamed, not there": func(t *live.Trans, ip *inode.Inode) error { return d.f.ReplaceParent(t, ip, l, l) },
	} {
		if fork(do) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A parent pointer is renamed in the list, whether it stays as long or not, and in a leaf that has no other.
func TestRename(t *testing.T) {
	d := newDesk(t, func(s *geometry.Spec) { s.Features.Parent = geometry.Given(true) })
	d.makeFork()
	old := Link{Dir: 128, Generation: 1, Name: []byte("name")}
	d.must(func(t *live.Trans, ip *inode.Inode) error { return d.f.AddParent(t, ip, old) })
	for _, name := range []string{"eman", "longer", "s", strings.Repeat("x", 255), strings.Repeat("y", 255), "short"} {
		l := Link{Dir: old.Dir + 1, Generation: 2, Name: []byte(name)}
		d.must(func(t *live.Trans, ip *inode.Inode) error {
			ip.Core.Ctime = 0
			t.Join(ip)
			if err := d.f.ReplaceParent(t, ip, old, l); err != nil {
				return err
			}
			if grown := len(name) != len(old.Name) && len(name) < 255 && len(old.Name) < 255; grown && ip.Core.Ctime == 0 {
				return fmt.Errorf("%s: the inode is not stamped", name)
			}
			return nil
		})
		old = l
		rec := l.rec()
		all := d.all()
		if _, ok := all[fmt.Sprintf("%d:%s %x", Parent, name, rec[:])]; !ok || len(all) != 1 {
			t.Errorf("%s: %q", name, all)
		}
		d.must(func(_ *live.Trans, ip *inode.Inode) error {
			if isShort(ip) != (len(name) < 255) || ip.ForkOffset == 0 {
				return fmt.Errorf("%s: form %d at %d", name, ip.Attr.Format, ip.ForkOffset)
			}
			return nil
		})
	}
}

// All of a directory's number is in the hash.
func TestParentHash(t *testing.T) {
	d := newDesk(t, nil)
	l := Link{Dir: 0x1234567800000080}
	rec := l.rec()
	if got := d.f.parentHash([]byte("a"), rec[:]); got != 0x61^0x12345678^0x80 {
		t.Errorf("%#x", got)
	}
}

// Links of one name in several directories are told apart, and what is incomplete is not seen.
func TestSameNames(t *testing.T) {
	d := newDesk(t, func(s *geometry.Spec) { s.Features.Parent = geometry.Given(true) })
	d.makeFork()
	first, second := Link{Dir: 128, Name: []byte("name")}, Link{Dir: 129, Name: []byte("name")}
	for _, l := range []Link{first, second} {
		d.must(func(t *live.Trans, ip *inode.Inode) error { return d.f.AddParent(t, ip, l) })
	}
	d.must(func(t *live.Trans, ip *inode.Inode) error { return d.f.RemoveParent(t, ip, second) })
	rec := first.rec()
	if all := d.all(); len(all) != 1 || all[fmt.Sprintf("%d:name %x", Parent, rec[:])] == "" {
		t.Errorf("left are %q", all)
	}
	d.must(func(_ *live.Trans, ip *inode.Inode) error {
		_, err := d.f.Set(ip, User, []byte("large"), make([]byte, 1000), Create)
		return err
	})
	d.must(func(t *live.Trans, ip *inode.Inode) error {
		b, err := d.f.tree.ReadLeaf(t, ip, 0)
		if err != nil {
			return err
		}
		k := testKey("large", User)
		l := leaf(b.Data)
		at, _ := l.search(&k)
		l.entry(at).setFlags(l.entry(at).flags() | ondisk.AttrIncomplete)
		return nil
	})
	if all := d.all(); len(all) != 1 {
		t.Errorf("seen are %d attributes, of which one is incomplete", len(all))
	}
}
