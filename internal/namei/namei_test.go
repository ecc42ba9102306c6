package namei_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/attr"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live/livetest"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Directories count their subdirectories, names lead to inodes, and these back to
// their directory and name.
func TestCreate(t *testing.T) {
	fs, _ := livetest.New(t, livetest.Plan(t, 300<<20, nil))
	n := namei.New(fs)
	tr := fs.Begin(n.Space.Inode())
	root, ok, err := n.Root(tr, ialloc.New{Mode: ondisk.ModeDirectory | 0o755, Unlinkable: true})
	must(t, err)
	must(t, tr.Commit())
	if !ok || root.Ino != fs.G.RootInode() || root.Core.Nlink != 2 {
		t.Fatalf("root %d, want %d; %d links", root.Ino, fs.G.RootInode(), root.Core.Nlink)
	}
	for i := range 300 {
		mode := uint16(ondisk.ModeRegular)
		if i%3 == 0 {
			mode = ondisk.ModeDirectory
		}
		name := fmt.Sprintf("%d%s", i, strings.Repeat("x", i%50))
		tr := fs.Begin(n.Space.Create(len(name)))
		ip, ok, err := n.Create(tr, root, name, ialloc.New{Mode: mode})
		must(t, err)
		must(t, tr.Commit())
		if !ok {
			t.Fatalf("%s: no room", name)
		}
		tr = fs.Begin(0)
		e, found, err := n.Dirs.Lookup(tr, root, name)
		must(t, err)
		must(t, tr.Commit())
		if want := namei.FileType(mode); !found || e.Ino != ip.Ino || e.Type != want {
			t.Fatalf("%s: %+v, found %v; want inode %d of type %d", name, e, found, ip.Ino, want)
		}
		if attrs, ok := ondisk.DecodeAttrs(ip.Attr.Local); !ok || len(attrs) != 1 || attrs[0].Name != name {
			t.Fatalf("%s: %q", name, attrs)
		}
	}
	if root.Core.Nlink != 102 {
		t.Errorf("the root has %d links, want 102", root.Core.Nlink)
	}
}

// A directory leaves its inode where an attribute needs the room.
func TestSpill(t *testing.T) {
	path := livetest.Reference(t, 300<<20)
	d := livetest.Open(t, path)
	fs := livetest.Load(t, d)
	n := namei.New(fs)
	tr := fs.Begin(0)
	root, err := inode.Read(tr, fs.G.RootInode())
	must(t, err)
	must(t, tr.Commit())
	for i := range 9 {
		name := fmt.Sprintf("a name of some length %d", i)
		tr := fs.Begin(n.Space.Create(len(name)))
		_, ok, err := n.Create(tr, root, name, ialloc.New{Mode: ondisk.ModeRegular | 0o644})
		must(t, err)
		must(t, tr.Commit())
		if !ok {
			t.Fatal("no room")
		}
	}
	if root.Data.Format != ondisk.FormatLocal {
		t.Fatalf("the directory has form %d before", root.Data.Format)
	}
	r, err := n.Attrs.Set(root, attr.User, []byte("large"), []byte(strings.Repeat("v", 200)), attr.Create)
	must(t, err)
	if r != attr.Done {
		t.Fatalf("result %d", r)
	}
	tr = fs.Begin(0)
	for i := range 9 {
		if _, found, err := n.Dirs.Lookup(tr, root, fmt.Sprintf("a name of some length %d", i)); !found || err != nil {
			t.Errorf("entry %d: %v, %v", i, found, err)
		}
	}
	must(t, tr.Commit())
	(&made{t: t, fs: fs, d: d}).repair()
}

// repair has xfs_repair judge the filesystem.
func (m *made) repair() {
	m.t.Helper()
	must(m.t, m.fs.Cache.Flush())
	b := make([]byte, m.fs.G.SectorSize)
	_, _ = m.d.ReadAt(b, 0)
	c := &m.fs.Counts
	ondisk.SetCounters(b, c.Inodes, c.FreeInodes, uint64(c.FreeBlocks))
	if m.fs.Attrs {
		const version = 100 // where that is
		b[version+1] |= uint8(ondisk.VersionAttr)
	}
	if m.fs.V5 {
		ondisk.Seal(b, ondisk.SuperblockCRC)
	}
	_, _ = m.d.WriteAt(b, 0)
	image := filepath.Join(m.t.TempDir(), "image")
	m.d.Save(m.t, image, size)
	if out, err := livetest.Run(m.t, "xfs_repair", "-n", image); err != nil {
		m.t.Errorf("xfs_repair: %v\n%s", err, out)
	}
}
