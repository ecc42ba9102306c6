package attr

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"path/filepath"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// repair has xfs_repair look at a filesystem.
func (d *desk) repair() {
	d.t.Helper()
	const freeBlocks = 144 // in the superblock
	sb := make([]byte, d.fs.G.SectorSize)
	_, _ = d.dev.ReadAt(sb, 0)
	binary.BigEndian.PutUint64(sb[freeBlocks:], uint64(d.fs.Counts.FreeBlocks))
	if d.fs.V5 {
		ondisk.Seal(sb, ondisk.SuperblockCRC)
	}
	_, _ = d.dev.WriteAt(sb, 0)
	path := filepath.Join(d.t.TempDir(), "image")
	d.dev.Save(d.t, path, imageSize)
	if out, err := livetest.Run(d.t, "xfs_repair", "-n", "-f", path); err != nil {
		d.t.Errorf("xfs_repair: %v\n%s", err, out)
	}
}

// The attributes of a file on real blocks are as the model has them, and sound for xfs_repair; without them all
// blocks are free again.
func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"V5 of 1 KiB", []string{"-b", "size=1024", "-i", "size=512"}},
		{"V5 of 4 KiB", nil},
		{"V5 of 64 KiB", []string{"-b", "size=64k"}},
		{"V4 of 512", []string{"-m", "crc=0", "-b", "size=512"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := livetest.Reference(t, imageSize, c.args...)
			ino := geometry.Inode(0)
			// The superblock of V4 is to say that there are attributes.
			fs := livetest.Load(t, livetest.Open(t, path))
			if !fs.V5 {
				if out, err := livetest.Run(t, "xfs_db", "-x", "-c", fmt.Sprint("inode ", fs.G.RootInode()),
					"-c", "attr_set name value", "-c", "attr_remove name", path); err != nil {
					t.Fatal(err, out)
				}
			}
			ino = fs.G.RootInode()
			d := &desk{t: t, dev: livetest.Open(t, path), ino: ino, real: true}
			d.fs = livetest.Load(t, d.dev)
			d.f = New(d.fs, nil)
			free := d.fs.Counts.FreeBlocks
			model := d.all()
			r := rand.New(rand.NewSource(1))
			mixes := []mix{{names: 300, sizes: []int{0, 20, 100, -60, -200}}, {names: 100, sizes: []int{0, 10, -20}}}
			for i := range 400 {
				d.step(r, mixes[i/100%2], model)
			}
			d.repair()
			for id := range model {
				d.remove(id)
			}
			d.sound()
			if d.fs.Counts.FreeBlocks != free {
				t.Errorf("%d blocks are free, %d were before", d.fs.Counts.FreeBlocks, free)
			}
			d.repair()
		})
	}
}

// Blocks of attributes that are damaged make errors, not a panic, and nothing goes round in circles.
func TestDamagedFork(t *testing.T) {
	for _, v5 := range []bool{true, false} {
		d := newDesk(t, func(s *geometry.Spec) {
			s.BlockSize = geometry.Given[int64](2048)
			s.Inode.Size = geometry.Given[int64](1024)
			s.Features.CRC = geometry.Given(v5)
		})
		d.makeFork()
		r := rand.New(rand.NewSource(1))
		model := map[string]string{"0:kept": "so that the fork stays"}
		d.must(func(_ *live.Trans, ip *inode.Inode) error {
			_, err := d.f.Set(ip, User, []byte("kept"), []byte(model["0:kept"]), Create)
			return err
		})
		for range 400 {
			d.step(r, mix{names: 400, sizes: []int{100, -40, -150}}, model)
		}
		good := d.dev
		var at []int64
		d.must(func(_ *live.Trans, ip *inode.Inode) error {
			for _, e := range ip.Attr.Extents {
				for i := range e.Blocks {
					agno, agbno := d.fs.G.BlockAddress(e.Start + geometry.FSBlock(i))
					at = append(at, int64(d.fs.G.Offset(agno, agbno)))
				}
			}
			return nil
		})
		failed := 0
		for range 300 {
			d.dev = good.Clone()
			for range 1 + r.Intn(4) {
				damage(r, d.dev, at[r.Intn(len(at))], v5)
			}
			d.remount()
			if d.abuse(r, model) {
				failed++
			}
		}
		if failed < 50 {
			t.Errorf("V5 %t: only %d of 300 damaged forks made errors", v5, failed)
		}
	}
}

// damage changes a block, with a right checksum.
func damage(r *rand.Rand, dev *livetest.Device, at int64, v5 bool) {
	b := make([]byte, 2048)
	_, _ = dev.ReadAt(b, at)
	switch r.Intn(6) {
	case 0:
		binary.BigEndian.PutUint32(b[4*r.Intn(2):], uint32(r.Intn(100))) // siblings
	case 1:
		binary.BigEndian.PutUint32(b[r.Intn(256)&^3:], uint32(r.Intn(100)))
	case 2:
		b[r.Intn(128)] = byte(r.Intn(256))
	case 3:
		b[r.Intn(2048)] ^= 1 << r.Intn(8)
	case 4:
		binary.BigEndian.PutUint16(b[56+r.Intn(20)&^1:], uint16(r.Intn(2100)))
	case 5:
		copy(b[64:], b[64+8*r.Intn(10):])
	}
	if v5 {
		ondisk.Seal(b, ondisk.AttrLeafCRC)
	}
	_, _ = dev.WriteAt(b, at)
}

// abuse does all that can be done, and tells whether something failed.
func (d *desk) abuse(r *rand.Rand, model map[string]string) (failed bool) {
	try := func(do func(t *live.Trans, ip *inode.Inode) error) {
		if d.with(do) != nil {
			failed = true
		}
	}
	try(func(t *live.Trans, ip *inode.Inode) error { return d.f.Each(t, ip, func(*Attr) error { return nil }) })
	n := 0
	for id := range model {
		if n++; n > 15 {
			break
		}
		var c change
		_, _ = fmt.Sscanf(id, "%d:%s", &c.space, &c.name)
		try(func(t *live.Trans, ip *inode.Inode) error {
			_, _, err := d.f.Get(t, ip, c.space, []byte(c.name), nil)
			return err
		})
		try(func(_ *live.Trans, ip *inode.Inode) error {
			_, err := d.f.Set(ip, c.space, []byte(c.name+[]string{"", "x"}[r.Intn(2)]), make([]byte, r.Intn(1800)), Upsert)
			return err
		})
		try(func(_ *live.Trans, ip *inode.Inode) error {
			_, err := d.f.Remove(ip, c.space, []byte(c.name))
			return err
		})
	}
	return failed
}
