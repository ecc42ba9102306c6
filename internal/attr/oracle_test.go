package attr

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
)

// pair is an image that the reference works on with xfs_db, and the same one that we
// work on in memory.
type pair struct {
	t    testing.TB
	path string
	ref  *livetest.Device
	ours *livetest.Device
	fs   *live.FS
	f    *FS
	ino  geometry.Inode
}

const imageSize = 300 << 20

func newPair(t testing.TB, ino func(g *geometry.Geometry) geometry.Inode, args ...string) *pair {
	path := livetest.Reference(t, imageSize, args...)
	p := &pair{t: t, path: path}
	copied := filepath.Join(t.TempDir(), "ours")
	if out, err := livetest.Run(t, "cp", "--sparse=always", path, copied); err != nil {
		t.Fatal(err, out)
	}
	p.ours = livetest.Open(t, copied)
	p.fs = livetest.Load(t, p.ours)
	p.f = New(p.fs, nil)
	p.ino = ino(p.fs.G)
	return p
}

func rootDir(g *geometry.Geometry) geometry.Inode { return g.RootInode() }

// change is what is done to an attribute.
type change struct {
	space  Space
	name   string
	value  []byte
	how    How
	remove bool
}

func (c change) String() string {
	if c.remove {
		return fmt.Sprintf("remove %d:%s", c.space, c.name)
	}
	return fmt.Sprintf("set %d:%s to %d bytes (%d)", c.space, c.name, len(c.value), c.how)
}

// command is the n-th change of a run of xfs_db, as its commands.
func (p *pair) command(n int, c change) []string {
	space := map[Space]string{User: "-u", Root: "-r", Secure: "-s", Parent: "-p"}[c.space]
	cmd := []string{"-c", fmt.Sprintf("inode %d", p.ino), "-c"}
	if c.remove {
		return append(cmd, fmt.Sprintf("attr_remove %s %s", space, c.name))
	}
	how := map[How]string{Upsert: "", Create: "-C", Replace: "-R"}[c.how]
	file := ""
	if len(c.value) > 0 {
		name := filepath.Join(filepath.Dir(p.path), fmt.Sprint("value", n))
		if err := os.WriteFile(name, c.value, 0o600); err != nil {
			p.t.Fatal(err)
		}
		file = "-V " + name
	}
	return append(cmd, fmt.Sprintf("attr_set %s %s %s %s", space, how, file, c.name))
}

// do makes changes with both, and compares.
func (p *pair) do(changes ...change) {
	p.t.Helper()
	args, failed := []string{"-x"}, 0
	for n, c := range changes {
		args = append(args, p.command(n, c)...)
	}
	out, err := livetest.Run(p.t, "xfs_db", append(args, p.path)...)
	what := fmt.Sprint(changes[max(0, len(changes)-3):])
	if err != nil {
		p.t.Fatalf("%v: %v\n%s", what, err, out)
	}
	for _, c := range changes {
		if p.change(c) != Done {
			failed++
		}
	}
	if n := strings.Count(out, "failed to"); n != failed {
		p.t.Fatalf("%v: %d fail; the reference: %s", what, failed, out)
	}
	if err := p.fs.Cache.Flush(); err != nil {
		p.t.Fatal(err)
	}
	p.compare(what)
}

func (p *pair) read() *inode.Inode {
	p.t.Helper()
	t := p.fs.Begin(0)
	ip, err := inode.Read(t, p.ino)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := t.Commit(); err != nil {
		p.t.Fatal(err)
	}
	return ip
}

func (p *pair) change(c change) (r Result) {
	p.t.Helper()
	ip, err := p.read(), error(nil)
	if c.remove {
		r, err = p.f.Remove(ip, c.space, []byte(c.name))
	} else {
		r, err = p.f.Set(ip, c.space, []byte(c.name), c.value, c.how)
	}
	if err != nil {
		p.t.Fatalf("%v: %v", c, err)
	}
	return r
}

// compare compares the inode and the blocks of its attribute fork, and the headers of AGs.
func (p *pair) compare(what string) {
	p.t.Helper()
	p.ref = livetest.Open(p.t, p.path) // which remembers where the file had holes
	ip, err := inode.Read(livetest.Load(p.t, p.ref).Begin(0), p.ino)
	if err != nil {
		p.t.Fatalf("%s: the reference's: %v", what, err)
	}
	g := p.fs.G
	agno, agino := g.InodeAddress(p.ino)
	off := int64(g.Offset(agno, geometry.AGBlock(agino>>g.InodeBlockLog())))
	off += int64(agino) & int64(g.InodesPerBlock()-1) * int64(g.InodeSize)
	a, b := make([]byte, g.InodeSize), make([]byte, g.InodeSize)
	_, _ = p.ours.ReadAt(a, off)
	_, _ = p.ref.ReadAt(b, off)
	if i := differ(a, b); i >= 0 {
		p.t.Fatalf("%s: the inode differs at %s", what, window(a, b, i))
	}
	for _, e := range ip.Attr.Extents {
		for i := range e.Blocks {
			agno, agbno := g.BlockAddress(e.Start + geometry.FSBlock(i))
			off := int64(g.Offset(agno, agbno))
			a, b := make([]byte, g.BlockSize), make([]byte, g.BlockSize)
			_, _ = p.ours.ReadAt(a, off)
			_, _ = p.ref.ReadAt(b, off)
			if k := differ(a, b); k >= 0 {
				p.t.Fatalf("%s: block %d of the fork differs at %s", what, e.Offset+uint64(i), window(a, b, k))
			}
		}
	}
	p.compareAGs(what)
}

// compareAGs compares the headers of all AGs, with the roots of their btrees, but for the superblocks.
func (p *pair) compareAGs(what string) {
	p.t.Helper()
	g := p.fs.G
	for agno := range g.AGCount {
		off, n := int64(g.Offset(agno, 0)+g.SectorSize), int64(g.Bytes(g.HeaderBlocks())-g.SectorSize)
		if d := livetest.Differ(p.ours, p.ref, off, n); d != "" {
			p.t.Fatalf("%s: AG %d: %s", what, agno, d)
		}
	}
}

// window shows where two blocks differ.
func window(a, b []byte, at int) string {
	from, to := max(0, at-16), min(len(a), at+16)
	return fmt.Sprintf("byte %d: %x and %x, from %d on", at, a[from:to], b[from:to], from)
}

// differ is the first byte at which two blocks differ, or -1.
func differ(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// fill makes a value that is like no other.
func fill(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	r.Read(b)
	return bytes.ReplaceAll(b, []byte{0}, []byte{1})
}

func TestListLikeReference(t *testing.T) {
	p := newPair(t, rootDir)
	r := rand.New(rand.NewSource(1))
	for i, c := range []change{
		{name: "foo", value: fill(r, 10)},
		{name: "foo", value: fill(r, 10)},
		{name: "foo", value: fill(r, 20)},
		{name: "bar", value: fill(r, 60), space: Secure},
		{name: "bar", value: fill(r, 0), space: Root},
		{name: "foo", remove: true},
		{name: "foo", remove: true},
		{name: "bar", value: fill(r, 0), space: Root, how: Create},
		{name: "nobar", value: fill(r, 0), space: Root, how: Replace},
		{name: "bar", remove: true, space: Root},
		{name: "bar", remove: true, space: Secure},
		{name: "large", value: fill(r, 300)},
		{name: "second", value: fill(r, 100)},
		{name: "large", remove: true},
		{name: "second", remove: true},
	} {
		_ = i
		p.do(c)
	}
}
