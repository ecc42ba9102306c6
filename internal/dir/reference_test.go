package dir_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

const size = 300 << 20

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// made is a directory that has been made in a new filesystem.
type made struct {
	fs   *live.FS
	d    *livetest.Device
	dirs *dir.Dirs
	root *inode.Inode
}

// newRoot makes a root directory and the two files of the realtime section that follow it.
func newRoot(t testing.TB, g *geometry.Geometry) *made {
	t.Helper()
	fs, d := livetest.New(t, g)
	m := &made{fs: fs, d: d, dirs: dir.New(fs)}
	m.root = m.create(t, nil, ondisk.ModeDirectory|0o755)
	tr := fs.Begin(0)
	m.dirs.Init(tr, m.root, m.root.Ino)
	must(t, tr.Commit())
	for range 2 {
		m.create(t, nil, ondisk.ModeRegular)
	}
	return m
}

func (m *made) create(t testing.TB, parent *inode.Inode, mode uint16) *inode.Inode {
	t.Helper()
	tr := m.fs.Begin(0)
	ip := m.alloc(t, tr, parent, mode)
	must(t, tr.Commit())
	return ip
}

func (m *made) alloc(t testing.TB, tr *live.Trans, parent *inode.Inode, mode uint16) *inode.Inode {
	t.Helper()
	ino, ok, err := ialloc.Alloc(tr, parent, mode)
	must(t, err)
	if !ok {
		t.Fatal("no inode")
	}
	ip, err := ialloc.Create(tr, ino, parent, ialloc.New{Mode: mode})
	must(t, err)
	return ip
}

// enter makes a fifo in the root directory.
func (m *made) enter(t testing.TB, name string) {
	t.Helper()
	const most = 200 // blocks
	tr := m.fs.Begin(most)
	ip := m.alloc(t, tr, m.root, 0o010644)
	ok, err := m.dirs.Add(tr, m.root, name, ip.Ino, 5, most)
	must(t, err)
	if !ok {
		t.Fatalf("%q: no room", name)
	}
	must(t, tr.Commit())
}

// names are random ones, of random lengths.
func names(n int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 0))
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%d%s", i, strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(40)))
	}
	return list
}

// protofile has names as fifos.
func protofile(t testing.TB, list []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("/stand\n0 0\nd--755 0 0\n")
	for _, n := range list {
		fmt.Fprintf(&b, "%s p--644 0 0\n", n)
	}
	b.WriteString("$\n")
	path := filepath.Join(t.TempDir(), "proto")
	must(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

var off = geometry.Given(false)

// filesystem is a kind of filesystem: options of the reference, and what is to be asked for.
type filesystem struct {
	name string
	args []string
	ask  func(*geometry.Spec)
}

func number(n int64) geometry.Opt[int64] { return geometry.Given(n) }

var filesystems = []filesystem{
	{"default", nil, func(*geometry.Spec) {}},
	{"1k", []string{"-b", "size=1024"}, func(s *geometry.Spec) { s.BlockSize = number(1024) }},
	{"ci", []string{"-n", "version=ci"}, func(s *geometry.Spec) { s.Features.CaseFold = geometry.Given(true) }},
	{"V4", []string{"-m", "crc=0"}, func(s *geometry.Spec) { s.Features.CRC = off }},
	{"V4 512", []string{"-m", "crc=0", "-b", "size=512"}, func(s *geometry.Spec) {
		s.Features.CRC, s.BlockSize = off, number(512)
	}},
	{"V4 ftype", []string{"-m", "crc=0", "-n", "ftype=1"}, func(s *geometry.Spec) {
		s.Features.CRC, s.Features.Ftype = off, geometry.Given(true)
	}},
	{"64k directory blocks", []string{"-n", "size=64k"}, func(s *geometry.Spec) {
		s.DirBlockSize = geometry.Given(geometry.Size{Count: 65536, Limits: geometry.Limits{Max: 65536}})
	}},
}

// reference has the reference make one with names.
func (c filesystem) reference(t *testing.T, list []string) (path string) {
	args := append([]string{"-p", protofile(t, list)}, c.args...)
	if !slices.Contains(c.args, "crc=0") {
		args = append(args, "-n", "parent=0")
	}
	return livetest.Reference(t, size, args...)
}

// likeReference enters names, and compares with what the reference makes of them.
func (c filesystem) likeReference(t *testing.T, list []string) {
	ref := livetest.Open(t, c.reference(t, list))
	g := livetest.Plan(t, size, func(s *geometry.Spec) {
		c.ask(s)
		s.Features.Parent = off
	})
	m := newRoot(t, g)
	for _, n := range list {
		m.enter(t, n)
	}
	must(t, m.fs.Cache.Flush())
	compare(t, m, ref)
}

// Directories are what the reference makes of the same names.
func TestAddIsTheReferences(t *testing.T) {
	t.Parallel()
	for _, c := range filesystems {
		for _, n := range []int{3, 12, 40, 90, 200, 600, 3000, 20000} {
			t.Run(fmt.Sprintf("%s %d", c.name, n), func(t *testing.T) { c.likeReference(t, names(n, uint64(n))) })
		}
	}
}

// Names of one hash, of any bytes, of one byte and of the most are entered as the reference does.
func TestOddNamesAreTheReferences(t *testing.T) {
	t.Parallel()
	for _, c := range filesystems {
		for _, n := range []int{8, 60, 1500} {
			for name, list := range map[string][]string{
				"equal": equalNames(n, 18), "any": anyNames(n, uint64(n)), "some equal": mixedNames(n),
			} {
				t.Run(fmt.Sprintf("%s %s %d", c.name, name, n), func(t *testing.T) { c.likeReference(t, list) })
			}
		}
	}
}

// equalNames are up to 1 << (length-5) names of one hash: the lowest bit of each byte counts as much as the bit of 8 in
// the fifth behind it. Folding case changes none.
func equalNames(n, length int) []string {
	list := make([]string, n)
	for i := range list {
		b := []byte(strings.Repeat("p", length))
		for bit := range length - 5 {
			if i>>bit&1 != 0 {
				b[bit] ^= 1
				b[bit+5] ^= 8
			}
		}
		list[i] = string(b)
	}
	return list
}

// anyNames are random names of all bytes but those that a prototype file cannot have. Every third has one byte, if
// there is one left, or the most.
func anyNames(n int, seed uint64) (list []string) {
	random := rand.New(rand.NewPCG(seed, 2))
	var bytes []byte
	for c := 1; c < 256; c++ {
		if !strings.ContainsRune(" \t\n/:$", rune(c)) {
			bytes = append(bytes, byte(c))
		}
	}
	there := map[string]bool{"": true, ".": true, "..": true}
	for len(list) < n {
		length := 1 + random.IntN(dir.MaxName)
		switch random.IntN(6) {
		case 0:
			length = 1
		case 1:
			length = dir.MaxName
		}
		var b strings.Builder
		for range length {
			b.WriteByte(bytes[random.IntN(len(bytes))])
		}
		if !there[b.String()] {
			there[b.String()] = true
			list = append(list, b.String())
		}
	}
	return list
}

// mixedNames are names of some hashes, which are a third of all, among others.
func mixedNames(n int) (list []string) {
	equal := [][]string{equalNames(n/6+1, 17), equalNames(n/6+1, 18)}
	for i, name := range names(n, 5) {
		list = append(list, name)
		if i%6 < 2 {
			list = append(list, equal[i%6][i/6])
		}
	}
	return list
}

// compare compares the root directories.
func compare(t *testing.T, m *made, ref *livetest.Device) {
	t.Helper()
	fs := livetest.Load(t, ref)
	tr, tr2 := fs.Begin(0), m.fs.Begin(0)
	want, err := inode.Read(tr, fs.G.RootInode())
	must(t, err)
	got, err := inode.Read(tr2, m.fs.G.RootInode())
	must(t, err)
	if got.Core.Size != want.Core.Size ||
		!slices.Equal(got.Data.Local, want.Data.Local) || !slices.Equal(got.Data.Extents, want.Data.Extents) {
		t.Fatalf("size %d, form %d, %v, %v\nwant %d, %d, %v, %v", got.Core.Size, got.Data.Format, got.Data.Local, got.Data.Extents,
			want.Core.Size, want.Data.Format, want.Data.Local, want.Data.Extents)
	}
	for _, e := range got.Data.Extents {
		agno, agbno := fs.G.BlockAddress(e.Start)
		if diff := livetest.Differ(m.d, ref, fs.Offset(agno, agbno), int64(fs.G.Bytes(e.Blocks))); diff != "" {
			t.Errorf("extent %+v: %s", e, diff)
		}
	}
}
