package symlink_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

const size = 300 << 20

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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

// made is a filesystem of the reference's, with symbolic links in its root directory.
type made struct {
	t     testing.TB
	fs    *live.FS
	d     *livetest.Device
	names *namei.Names
	root  *inode.Inode
}

func newMade(t testing.TB, args ...string) *made {
	t.Helper()
	d := livetest.Open(t, livetest.Reference(t, size, args...))
	fs := livetest.Load(t, d)
	m := &made{t: t, fs: fs, d: d, names: namei.New(fs)}
	m.root = m.read(fs.G.RootInode())
	return m
}

func (m *made) do(reserve geometry.Blocks, f func(tr *live.Trans) error) {
	m.t.Helper()
	tr := m.fs.Begin(reserve)
	must(m.t, f(tr))
	must(m.t, tr.Commit())
}

func (m *made) read(ino geometry.Inode) (ip *inode.Inode) {
	m.t.Helper()
	m.do(0, func(tr *live.Trans) (err error) {
		ip, err = inode.Read(tr, ino)
		return err
	})
	return ip
}

func (m *made) create(name, target string) (ip *inode.Inode) {
	m.t.Helper()
	m.do(m.names.Space.Create(len(name))+symlink.Blocks(m.fs, len(target)), func(tr *live.Trans) (err error) {
		var ok bool
		ip, ok, err = m.names.Symlink(tr, m.root, name, target, ialloc.New{Mode: 0o777})
		if !ok && err == nil {
			err = fmt.Errorf("%s: no room", name)
		}
		return err
	})
	return ip
}

// reads makes sure that a symbolic link has a target, in memory and on the device.
func (m *made) reads(ip *inode.Inode, want string) {
	m.t.Helper()
	must(m.t, m.fs.Cache.Flush())
	again := livetest.Load(m.t, m.d)
	for _, fs := range []*live.FS{m.fs, again} {
		tr := fs.Begin(0)
		other, err := inode.Read(tr, ip.Ino)
		must(m.t, err)
		if got, err := symlink.Read(tr, other); got != want || err != nil {
			m.t.Errorf("%d bytes: %q, %v", len(want), got, err)
		}
		must(m.t, tr.Commit())
	}
}

// Targets of all lengths that need more than a block of 1 KiB are whole, which the reference's are not.
func TestTwoBlocks(t *testing.T) {
	m := newMade(t, "-b", "size=1024")
	for n := 960; n <= symlink.MaxTarget; n++ {
		ip := m.create(fmt.Sprint(n), target(n))
		want := geometry.Blocks(1)
		if n > 1024-ondisk.SymlinkHeader {
			want = 2
		}
		if ip.Core.Blocks != uint64(want) {
			t.Errorf("%d bytes in %d blocks", n, ip.Core.Blocks)
		}
		m.reads(ip, target(n))
	}
	livetest.Mounted(t, m.repair(), func(dir string) {
		for n := 960; n <= symlink.MaxTarget; n++ {
			if got, err := os.Readlink(filepath.Join(dir, fmt.Sprint(n))); got != target(n) || err != nil {
				t.Errorf("the kernel reads %q, %v; want %d bytes", got, err, n)
			}
		}
	})
}

// repair has xfs_repair judge the filesystem, and returns an image of it.
func (m *made) repair() string {
	m.t.Helper()
	must(m.t, m.fs.Cache.Flush())
	b := make([]byte, 512)
	_, _ = m.d.ReadAt(b, 0)
	ondisk.SetCounters(b, m.fs.Counts.Inodes, m.fs.Counts.FreeInodes, uint64(m.fs.Counts.FreeBlocks))
	if m.fs.V5 {
		ondisk.Seal(b, ondisk.SuperblockCRC)
	}
	_, _ = m.d.WriteAt(b, 0)
	image := filepath.Join(m.t.TempDir(), "image")
	m.d.Save(m.t, image, size)
	if out, err := livetest.Run(m.t, "xfs_repair", "-n", image); err != nil {
		m.t.Errorf("xfs_repair: %v\n%s", err, out)
	}
	return image
}

// A target that lies in two places has a header in each.
func TestTwoExtents(t *testing.T) {
	for _, args := range [][]string{{"-b", "size=1024"}, {"-m", "crc=0", "-b", "size=512"}} {
		m := newMade(t, args...)
		var ip *inode.Inode
		m.do(100, func(tr *live.Trans) (err error) {
			ip, _, err = m.names.Inode(tr, m.root, ialloc.New{Mode: ondisk.ModeSymlink | 0o777})
			must(t, err)
			other, _, err := m.names.Inode(tr, m.root, ialloc.New{Mode: ondisk.ModeRegular})
			must(t, err)
			for at, ip := range []*inode.Inode{ip, other, ip} { // at 0 of each, and at 1 of the link
				_, err := bmap.Write(tr, ip, bmap.Data, uint64(at/2), 1, bmap.Metadata, 100)
				must(t, err)
			}
			must(t, enter(m.names.Enter(tr, m.root, "other", other, 100)))
			ok, err := symlink.Write(tr, ip, target(1023), 2)
			must(t, enter(ok, err))
			return enter(m.names.Enter(tr, m.root, "link", ip, 100))
		})
		if len(ip.Data.Extents) != 2 {
			t.Fatalf("%v: %v", args, ip.Data.Extents)
		}
		m.reads(ip, target(1023))
		m.repair()
	}
}

func enter(ok bool, err error) error {
	if !ok && err == nil {
		err = bmap.ErrNoRoom
	}
	return err
}

// Blocks of a target that are freed before they were written are written no more.
func TestTruncate(t *testing.T) {
	for _, args := range [][]string{{"-b", "size=1024"}, {"-m", "crc=0"}} {
		m := newMade(t, args...)
		ip := m.create("link", target(1023))
		e := ip.Data.Extents[0]
		m.do(0, func(tr *live.Trans) error { return symlink.Truncate(tr, ip) })
		if ip.Core.Blocks != 0 || len(ip.Data.Extents) != 0 {
			t.Errorf("%d blocks, %v", ip.Core.Blocks, ip.Data.Extents)
		}
		must(t, m.fs.Cache.Flush())
		if b := m.bytes(e); bytes.Contains(b, []byte(target(1023)[:100])) {
			t.Error("a block that is free was written")
		}
	}
}

func (m *made) at(e inode.Extent) int64 { return m.fs.Offset(m.fs.G.BlockAddress(e.Start)) }

func (m *made) bytes(e inode.Extent) []byte {
	b := make([]byte, m.fs.G.Bytes(e.Blocks))
	_, _ = m.d.ReadAt(b, m.at(e))
	return b
}

// What cannot be a target is refused, and nothing is changed.
func TestRefused(t *testing.T) {
	m := newMade(t)
	was := m.fs.Counts
	for _, c := range []struct{ target, want string }{
		{"", "has 0 bytes"}, {target(1024), "has 1024 bytes"}, {"a\x00b", "zero byte"},
	} {
		tr := m.fs.Begin(100)
		_, _, err := m.names.Symlink(tr, m.root, "name", c.target, ialloc.New{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %q", c.target, err, c.want)
		}
		must(t, tr.Commit())
	}
	if m.fs.Counts != was {
		t.Errorf("%+v, want %+v", m.fs.Counts, was)
	}
}

// Damaged targets are errors that say which inode has them.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name, want string
		inode      func(ip *inode.Inode)
		block      func(b []byte)
	}{
		{"magic", "magic number", nil, func(b []byte) { b[0] = 'Y' }},
		{"checksum", "checksum", nil, func(b []byte) { b[100]++; b[12]++ }},
		{"offset", "bytes from byte 1 on", nil, func(b []byte) { b[7] = 1 }},
		{"length", "1 bytes from byte 0 on", nil, func(b []byte) { binary.BigEndian.PutUint32(b[8:], 1) }},
		{"UUID", "another filesystem", nil, func(b []byte) { b[16]++ }},
		{"owner", "belongs to inode 1", nil, func(b []byte) { binary.BigEndian.PutUint64(b[32:], 1) }},
		{"place", "says that its place", nil, func(b []byte) { b[47]++ }},
		{"zero", "zero byte", nil, func(b []byte) { b[60] = 0 }},
		{"long", "1024 bytes", func(ip *inode.Inode) { ip.Core.Size = 1024 }, nil},
		{"huge", "9223372036854775807 bytes", func(ip *inode.Inode) { ip.Core.Size = 1<<63 - 1 }, nil},
		{"longer", "900 are to be", func(ip *inode.Inode) { ip.Core.Size = 900 }, nil},
		{"empty", "target of 0 bytes", func(ip *inode.Inode) { ip.Core.Size = 0 }, nil},
		{"hole", "not mapped", func(ip *inode.Inode) { ip.Data.Extents[0].Offset = 1; ip.Core.Size = 1000 }, nil},
		{"no blocks", "0 bytes of the target", func(ip *inode.Inode) { ip.Data.Extents = nil }, nil},
		{"realtime", "realtime section", func(ip *inode.Inode) { ip.Core.Flags |= ondisk.FlagRealtime }, nil},
		{"device", "has no extents", func(ip *inode.Inode) { ip.Data.Reset(ondisk.FormatDev) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMade(t, "-b", "size=1024")
			ip := m.create("link", target(800))
			must(t, m.fs.Cache.Flush())
			if c.block != nil {
				e := ip.Data.Extents[0]
				b := m.bytes(e)
				c.block(b)
				if c.name != "checksum" {
					ondisk.Seal(b, ondisk.SymlinkCRC)
				}
				_, _ = m.d.WriteAt(b, m.at(e))
			}
			m.fs = livetest.Load(t, m.d)
			ip = m.read(ip.Ino)
			if c.inode != nil {
				c.inode(ip)
			}
			tr := m.fs.Begin(0)
			got, err := symlink.Read(tr, ip)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprint("inode ", ip.Ino)) {
				t.Errorf("%.20q, %v; want %q", got, err, c.want)
			}
			must(t, tr.Commit())
		})
	}
}
