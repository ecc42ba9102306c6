package attr

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
)

// kernelChanges changes the attributes of a file through the kernel.
func kernelChanges(t *testing.T, r *rand.Rand, path string, n int, model map[string]string) {
	t.Helper()
	for range n {
		i := r.Intn(150)
		id := fmt.Sprintf("%d:name%0*d", []Space{User, Root, Secure}[i%3], i%17, i)
		full := []string{"user.", "trusted.", "security."}[i%3] + id[2:]
		if _, has := model[id]; has && r.Intn(3) == 0 {
			if err := unix.Setxattr(path, full, nil, 0); err != nil {
				t.Fatal(err)
			}
			if err := unix.Removexattr(path, full); err != nil {
				t.Fatal(err)
			}
			delete(model, id)
			continue
		}
		value := fill(r, r.Intn([]int{20, 200, 3000, 9000}[r.Intn(4)]))
		if err := unix.Setxattr(path, full, value, 0); err != nil {
			t.Fatal(err)
		}
		model[id] = string(value)
	}
}

// The kernel and we work on the attributes of a file by turns, and agree on them; parent pointers of its links
// are among them.
func TestKernel(t *testing.T) {
	for _, args := range [][]string{{"-b", "size=2048", "-i", "size=1024"}, {"-n", "parent=1"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			path := livetest.Reference(t, imageSize, args...)
			r := rand.New(rand.NewSource(1))
			model, ino := map[string]string{}, uint64(0)
			for turn := range 2 {
				livetest.Mounted(t, path, func(dir string) {
					file := filepath.Join(dir, "file")
					if err := os.WriteFile(file, nil, 0o600); err != nil {
						t.Fatal(err)
					}
					for i := range 40 {
						link := filepath.Join(dir, fmt.Sprint("link", turn, "-", i))
						if err := os.Link(file, link); err != nil {
							t.Fatal(err)
						}
						if r.Intn(2) == 0 {
							if err := os.Remove(link); err != nil {
								t.Fatal(err)
							}
						}
					}
					var st unix.Stat_t
					if err := unix.Stat(file, &st); err != nil {
						t.Fatal(err)
					}
					ino = st.Ino
					sameAsKernel(t, file, model)
					kernelChanges(t, r, file, 300, model)
				})
				ourTurn(t, r, path, geometry.Inode(ino), model)
			}
			livetest.Mounted(t, path, func(dir string) { sameAsKernel(t, filepath.Join(dir, "file"), model) })
		})
	}
}

// ourTurn reads and changes the attributes of a file of an image.
func ourTurn(t *testing.T, r *rand.Rand, path string, ino geometry.Inode, model map[string]string) {
	t.Helper()
	d := &desk{t: t, dev: livetest.Open(t, path), ino: ino, real: true}
	d.fs = livetest.Load(t, d.dev)
	d.f = New(d.fs, nil)
	d.sound()
	links := 0
	d.must(func(t *live.Trans, ip *inode.Inode) error {
		return d.f.Each(t, ip, func(a *Attr) error {
			if l, ok := a.Link(); ok && l.Dir != d.fs.G.RootInode() {
				return fmt.Errorf("a link in inode %d", l.Dir)
			} else if ok {
				links++
				return nil
			}
			if id := fmt.Sprintf("%d:%s", a.Space, a.Name); model[id] != string(a.Value) {
				return fmt.Errorf("%s has %d bytes, want %d", id, len(a.Value), len(model[id]))
			}
			return nil
		})
	})
	if d.fs.G.Features.Parent {
		d.must(func(_ *live.Trans, ip *inode.Inode) error {
			if int(ip.Core.Nlink) != links {
				return fmt.Errorf("%d parent pointers of %d links", links, ip.Core.Nlink)
			}
			return nil
		})
	}
	for range 100 {
		c := change{space: User, name: fmt.Sprint("ours", r.Intn(40)), value: fill(r, 1+r.Intn(3000))}
		id := "0:" + c.name
		d.must(func(_ *live.Trans, ip *inode.Inode) (err error) {
			if _, has := model[id]; has && r.Intn(2) == 0 {
				delete(model, id)
				_, err = d.f.Remove(ip, User, []byte(c.name))
				return err
			}
			model[id] = string(c.value)
			_, err = d.f.Set(ip, User, []byte(c.name), c.value, Upsert)
			return err
		})
	}
	if err := d.fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	d.sound()
	d.repair()
	d.dev.Save(t, path+".new", imageSize)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func sameAsKernel(t *testing.T, path string, model map[string]string) {
	t.Helper()
	list := xattrs(t, path)
	if len(list) != len(model) {
		t.Errorf("the kernel has %d attributes, want %d", len(list), len(model))
	}
	for _, c := range list {
		if id := fmt.Sprintf("%d:%s", c.space, c.name); model[id] != string(c.value) {
			t.Errorf("%s has %d bytes, want %d", id, len(c.value), len(model[id]))
		}
	}
}
