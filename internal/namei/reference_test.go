package namei_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/attr"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/metafile"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
	"mkfs/internal/symlink"
)

const size = 300 << 20

// format is one of filesystems: what the reference is told, and we.
type format struct {
	args []string
	ask  func(*geometry.Spec)
	// shortest and longest bound the targets to be made.
	shortest, longest int
}

var no = geometry.Given(false)

var formats = []format{
	{nil, nil, 1, 1023},
	{[]string{"-n", "parent=0"}, func(s *geometry.Spec) { s.Features.Parent = no }, 1, 1023},
	{[]string{"-i", "size=1024"}, func(s *geometry.Spec) { s.Inode.Size = geometry.Given[int64](1024) }, 400, 1023},
	{[]string{"-i", "size=2048"}, func(s *geometry.Spec) { s.Inode.Size = geometry.Given[int64](2048) }, 1, 1023},
	// Of blocks of 1 KiB the reference has one for each 1024 bytes, while 968 fit it: longer targets are cut off.
	{[]string{"-b", "size=1024"}, func(s *geometry.Spec) { s.BlockSize = geometry.Given(int64(1024)) }, 1, 968},
	{[]string{"-b", "size=2048", "-n", "parent=0"}, func(s *geometry.Spec) {
		s.BlockSize, s.Features.Parent = geometry.Given(int64(2048)), no
	}, 1, 1023},
	{[]string{"-b", "size=65536"}, func(s *geometry.Spec) { s.BlockSize = geometry.Given(int64(65536)) }, 100, 1023},
	{[]string{"-m", "crc=0"}, func(s *geometry.Spec) { s.Features.CRC = no }, 1, 1023},
	{[]string{"-m", "crc=0", "-b", "size=512"}, func(s *geometry.Spec) {
		s.Features.CRC, s.BlockSize = no, geometry.Given(int64(512))
	}, 1, 1023},
	{[]string{"-m", "crc=0", "-b", "size=1024", "-i", "size=512"}, func(s *geometry.Spec) {
		s.Features.CRC, s.BlockSize = no, geometry.Given(int64(1024))
		s.Inode.Size = geometry.Given[int64](512)
	}, 300, 1023},
	{[]string{"-m", "crc=0", "-b", "size=65536"}, func(s *geometry.Spec) {
		s.Features.CRC, s.BlockSize = no, geometry.Given(int64(65536))
	}, 150, 1023},
}

// made is a filesystem with a root directory and the files of the realtime section.
type made struct {
	t     testing.TB
	fs    *live.FS
	d     *livetest.Device
	names *namei.Names
	root  *inode.Inode
}

func newMade(t testing.TB, ask func(*geometry.Spec)) *made {
	t.Helper()
	g := livetest.Plan(t, size, ask)
	autofsck := g.Features.Autofsck
	g.Features.Autofsck = geometry.AutofsckUnset // which the reference sets in the end
	fs, d := livetest.New(t, g)
	_, err := metafile.New(fs).All(context.Background())
	must(t, err)
	g.Features.Autofsck = autofsck
	m := &made{t: t, fs: fs, d: d, names: namei.New(fs)}
	m.do(0, func(tr *live.Trans) (err error) {
		m.root, err = inode.Read(tr, fs.G.RootInode())
		return err
	})
	return m
}

// do does something in a transaction.
func (m *made) do(reserve geometry.Blocks, f func(tr *live.Trans) error) {
	m.t.Helper()
	tr := m.fs.Begin(reserve)
	must(m.t, f(tr))
	must(m.t, tr.Commit())
}

// enter makes a file as mkfs.xfs does: more completes it before it has a name.
func (m *made) enter(dp *inode.Inode, name string, what ialloc.New,
	more func(tr *live.Trans, ip *inode.Inode) (bool, error)) (ip *inode.Inode) {
	m.t.Helper()
	m.do(m.names.Space.Create(len(name)), func(tr *live.Trans) error {
		var ok bool
		var err error
		ip, ok, err = m.names.Inode(tr, dp, what)
		if ok && err == nil && more != nil {
			ok, err = more(tr, ip)
		}
		if ok && err == nil {
			ok, err = m.names.Enter(tr, dp, name, ip, tr.Reserve)
		}
		if !ok && err == nil {
			err = fmt.Errorf("%s: no room", name)
		}
		return err
	})
	return ip
}

func (m *made) symlink(dp *inode.Inode, name, target string, mode uint16) *inode.Inode {
	m.t.Helper()
	return m.enter(dp, name, ialloc.New{Mode: ondisk.ModeSymlink | mode}, func(tr *live.Trans, ip *inode.Inode) (bool, error) {
		return symlink.Write(tr, ip, target, symlink.Blocks(m.fs, len(target)))
	})
}

// same ends the filesystem as the reference does, and compares all but the superblocks and the log.
func (m *made) same(want *livetest.Device) {
	m.t.Helper()
	if value := m.fs.G.Features.Autofsck; value != geometry.AutofsckUnset {
		_, err := m.names.Attrs.Set(m.root, attr.Root, []byte(ondisk.AutofsckName), []byte(value), attr.Upsert)
		must(m.t, err)
	}
	must(m.t, m.fs.Cache.Flush())
	g := m.fs.G
	const piece = 1 << 20
	a, b := make([]byte, piece), make([]byte, piece)
	for off, bad := int64(0), 0; off < size && bad < 8; off += piece {
		_, _ = m.d.ReadAt(a, off)
		_, _ = want.ReadAt(b, off)
		if bytes.Equal(a, b) {
			continue
		}
		step := int64(g.BlockSize)
		for i := int64(0); i < piece; i += step {
			block := geometry.Blocks(off+i) >> g.BlockLog
			agno, agbno := geometry.AGNumber(block/g.AGBlocks), geometry.AGBlock(block%g.AGBlocks)
			x, y := a[i:i+step], b[i:i+step]
			if agbno == 0 {
				n := min(step, int64(g.SectorSize))
				clear(x[:n])
				clear(y[:n])
			}
			inLog := agno == g.Log.AG && agbno >= g.Log.Start && agbno < g.Log.Start+geometry.AGBlock(g.Log.Blocks)
			if inLog || bytes.Equal(x, y) {
				continue
			}
			if bad++; bad < 8 {
				m.t.Errorf("block %d of AG %d: %s", agbno, agno, livetest.Differ(m.d, want, off+i, step))
			}
		}
	}
	if loaded := livetest.Load(m.t, want); m.fs.Counts != loaded.Counts {
		m.t.Errorf("%+v, want %+v", m.fs.Counts, loaded.Counts)
	}
}

// lengths are lengths of targets, in no order: among them those where they leave the inode or need
// another block.
func lengths(c format) (list []int) {
	for n := c.shortest; n <= c.longest; n++ {
		switch {
		case n < 40, n > c.longest-30, n%37 == 0, n >= 145 && n < 200, n >= 330 && n < 340, n >= 505 && n < 520:
			list = append(list, n)
		}
	}
	rand.New(rand.NewSource(1)).Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// Symbolic links, and what is beside them, are the reference's, to the byte.
func TestSymlinksAreTheReferences(t *testing.T) {
	for _, c := range formats {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			list := lengths(c)
			var b strings.Builder
			b.WriteString("/stand/x\n0 0\nd--755 0 0\n")
			for i, n := range list {
				if i%20 == 0 {
					fmt.Fprintf(&b, "d%d d--755 0 0 $\nd%d/f ---644 0 0 /dev/null\n", i, i)
				}
				fmt.Fprintf(&b, "l%d l--777 0 0 %s\n", n, target(n))
			}
			path := filepath.Join(t.TempDir(), "proto")
			must(t, os.WriteFile(path, []byte(strings.ReplaceAll(b.String(), "/f", "-f")+"$\n"), 0o600))
			args := append([]string{"-p", path}, c.args...)
			want := livetest.Open(t, livetest.Reference(t, size, args...))
			m := newMade(t, c.ask)
			links := map[int]*inode.Inode{}
			for i, n := range list {
				if i%20 == 0 {
					m.enter(m.root, fmt.Sprint("d", i), ialloc.New{Mode: ondisk.ModeDirectory | 0o755}, nil)
					m.enter(m.root, fmt.Sprintf("d%d-f", i), ialloc.New{Mode: ondisk.ModeRegular | 0o644}, nil)
				}
				links[n] = m.symlink(m.root, fmt.Sprint("l", n), target(n), 0o777)
			}
			m.same(want)
			m.do(0, func(tr *live.Trans) error {
				for n, ip := range links {
					again, err := inode.Read(tr, ip.Ino)
					must(t, err)
					if got, err := symlink.Read(tr, again); got != target(n) || err != nil {
						t.Errorf("%d bytes: %q, %v", n, got, err)
					}
				}
				return nil
			})
		})
	}
}

// target is one of n bytes.
func target(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "/%d", 1000*n+b.Len())
	}
	return b.String()[:n]
}
