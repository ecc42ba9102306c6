package dir_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/da"
	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// Directories of filesystems that no kernel mounts grow and shrink as those of the reference: xfs_db has commands for
// that.
func TestDatabaseChanges(t *testing.T) {
	t.Parallel()
	for i, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, c)
			m := model{
				file: map[string]string{}, files: "fg", random: rand.New(rand.NewPCG(uint64(i), 5)), stay: true,
				out: append(names(2500, 2), equalNames(500, 18)...),
			}
			for _, name := range m.out[2000:2500] {
				if other := strings.ToUpper(name); other != name { // the same, where case does not matter
					m.out = append(m.out, other)
				}
			}
			for _, n := range []int{2000, 40, 3, 100, 0} {
				p.change(t, m.changes(n))
			}
		})
	}
}

// pair is a filesystem that the reference changes, and another that we do.
type pair struct {
	path  string
	fs    disk
	dirs  *dir.Dirs
	root  *inode.Inode
	files map[string]geometry.Inode
}

func newPair(t *testing.T, c filesystem) *pair {
	p := &pair{path: c.reference(t, []string{"f", "g"}), files: map[string]geometry.Inode{}}
	p.fs = load(t, copyFile(t, p.path))
	p.dirs, p.root = dir.New(p.fs.FS), read(t, p.fs.FS, p.fs.G.RootInode())
	for e, err := range p.dirs.Entries(p.fs.Begin(0), p.root, 0) {
		must(t, err)
		p.files[string(e.Name)] = e.Ino
	}
	return p
}

// change changes both in the same way, and compares them.
func (p *pair) change(t *testing.T, list []change) {
	t.Helper()
	var commands strings.Builder
	commands.WriteString("path /\n")
	for _, c := range list {
		switch c.verb {
		case "add":
			fmt.Fprintf(&commands, "link -i %d -t reg %s\n", p.files[c.to], c.name)
		case "remove":
			fmt.Fprintf(&commands, "unlink %s\n", c.name)
		}
	}
	cmd := exec.Command("xfs_db", "-x", p.path)
	cmd.Stdin = strings.NewReader(commands.String())
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 2000)])
	}
	for _, c := range list {
		c.do(t, p.dirs, p.fs.FS, p.root, p.files)
	}
	want := load(t, p.path)
	// The reference's cache may have what was in a block before it was freed.
	p.fs.remains, want.remains = true, true
	if sameDir(t, p.fs, p.root, want, read(t, want.FS, p.root.Ino)); t.Failed() {
		t.Fatalf("after %d changes, the last of which is %v", len(list), list[len(list)-1])
	}
}

// leaves are the last hashes of the leaves of the index, and how many slots of each are not stale.
func (p *pair) leaves(t *testing.T) (last []uint32, live []int) {
	t.Helper()
	all := blocks(t, p.fs, p.root)
	view := func(at uint32) ondisk.DABlock { return ondisk.DABlock{B: all[uint64(at)], V5: p.fs.V5} }
	root := view(uint32(uint64(32<<30) >> p.fs.G.BlockLog))
	for i := range root.Count() {
		leaf := view(root.Entries().Value(i))
		last, live = append(last, root.Entries().Hash(i)), append(live, leaf.Count()-leaf.Level())
	}
	return last, live
}

// A leaf with one name or none is joined with one beside it as by the reference: with no name never, with one if that
// leaves a quarter of the leaf.
func TestDatabaseLastName(t *testing.T) {
	t.Parallel()
	const most = 384 // slots of three quarters of a leaf
	for _, left := range []int{0, 1} {
		p := newPair(t, filesystems[0])
		list := names(3000, 7)
		var all []change
		for _, name := range list {
			all = append(all, change{"add", name, "f"})
		}
		p.change(t, all)
		last, live := p.leaves(t)
		i := 1
		for live[i-1] <= most || live[i] <= most/2 || live[i+1] <= most {
			i++
		}
		gone, beside := []change{}, []change{}
		for _, name := range list {
			switch hash := da.Hash(name); {
			case hash > last[i-1] && hash <= last[i]:
				gone = append(gone, change{"remove", name, ""})
			case hash > last[i] && hash <= last[i+1] && len(beside) < live[i+1]-(most-left):
				beside = append(beside, change{"remove", name, ""})
			}
		}
		if len(gone) != live[i] {
			t.Fatalf("%d names, and %d slots", len(gone), live[i])
		}
		p.change(t, beside)
		p.change(t, gone[:len(gone)-3])
		for _, c := range gone[len(gone)-3:] {
			p.change(t, []change{c})
		}
	}
}

// A leaf of the index that loses all its names while those beside it are full is joined with one of them, or goes, as with
// the reference.
func TestDatabaseLeavesGo(t *testing.T) {
	t.Parallel()
	for _, c := range []filesystem{filesystems[0], filesystems[3]} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, c)
			list := names(3000, 7)
			var all []change
			for _, name := range list {
				all = append(all, change{"add", name, "f"})
			}
			p.change(t, all)
			slices.SortFunc(list, func(a, b string) int { return cmp.Compare(da.Hash(a), da.Hash(b)) })
			const run = 420
			for from := 200; from+run < len(list); from += 500 {
				var gone, back []change
				for _, name := range list[from : from+run] {
					gone = append(gone, change{"remove", name, ""})
					back = append(back, change{"add", name, "g"})
				}
				p.change(t, gone[:run/2])
				p.change(t, gone[run/2:])
				p.change(t, back)
			}
		})
	}
}
