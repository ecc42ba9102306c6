package ialloc_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// target is a block that is damaged, and where its checksum is.
type target struct {
	off  int64
	n    int
	crc  int
	each int // of how many bytes each that has a checksum is
}

// targets lists what is about the inodes of AG 0: AGI, both trees, and two clusters.
func targets(t testing.TB, fs *live.FS) []target {
	t.Helper()
	tr := fs.Begin(0)
	agi, err := tr.AGI(0)
	must(t, err)
	sector, block, size := int(fs.G.SectorSize), int(fs.G.BlockSize), int(fs.G.InodeSize)
	list := []target{{2 * int64(sector), sector, ondisk.AGICRC, sector}}
	root, _ := agi.Root()
	list = append(list, target{fs.Offset(0, geometry.AGBlock(root)), block, ondisk.BtreeCRC, block})
	if fs.G.Features.Finobt {
		root, _ := agi.FreeRoot()
		list = append(list, target{fs.Offset(0, geometry.AGBlock(root)), block, ondisk.BtreeCRC, block})
	}
	first := fs.Offset(0, fs.G.Root.Start)
	list = append(list, target{first, 16 * size, ondisk.InodeCRC, size})
	commit(t, tr)
	return list
}

// damage changes some bytes of a block, where they are likely to matter, and makes the
// checksums right.
func damage(d *livetest.Device, at target, v5 bool, random *rand.Rand) {
	b := make([]byte, at.n)
	_, _ = d.ReadAt(b, at.off)
	values := []byte{0, 1, 2, 3, 5, 7, 8, 0x40, 0x7f, 0x80, 0xfe, 0xff}
	for range 1 + random.IntN(4) {
		part := b[random.IntN(at.n/at.each)*at.each:][:at.each]
		i := random.IntN(min(at.each, 200))
		if random.IntN(2) == 0 {
			part[i] = values[random.IntN(len(values))]
		} else {
			part[i] ^= 1 << random.IntN(8)
		}
	}
	for i := 0; v5 && i < at.n; i += at.each {
		ondisk.Seal(b[i:][:at.each], at.crc)
	}
	_, _ = d.WriteAt(b, at.off)
}

// Whatever is damaged, an operation ends, with an error or without.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	for seed, args := range [][]string{nil, {"-m", "finobt=0"}, {"-m", "crc=0"}, {"-b", "size=1024", "-i", "sparse=0"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			d := livetest.Open(t, livetest.Reference(t, size, append(args, "-n", "size=64k", "-p", proto(t, dir, 150))...))
			fs := livetest.Load(t, d)
			where := targets(t, fs)
			random := rand.New(rand.NewPCG(3, uint64(seed)))
			errors := 0
			for range 500 {
				d := d.Clone()
				damage(d, where[random.IntN(len(where))], fs.V5, random)
				errors += operate(t, livetest.Load(t, d), random)
			}
			if errors < 100 {
				t.Errorf("only %d operations found that something is damaged", errors)
			}
		})
	}
}

// operate reads, frees, unlinks and allocates inodes of AG 0, until something is
// found wrong, and counts how often.
func operate(t *testing.T, fs *live.FS, random *rand.Rand) (errors int) {
	t.Helper()
	began := time.Now()
	first := fs.G.RootInode()
	try := func(what string, f func(tr *live.Trans) error) {
		tr := fs.Begin(0)
		err := f(tr)
		if err == nil {
			err = tr.Commit()
		}
		if err != nil {
			errors++
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Fatalf("%s took %v", what, d)
		}
	}
	var root *inode.Inode
	try("reading", func(tr *live.Trans) (err error) {
		root, err = inode.Read(tr, first)
		return err
	})
	if root == nil {
		root = inode.New(first)
	}
	for _, i := range slices.Sorted(slices.Values(random.Perm(100)[:10])) {
		unlink := random.IntN(2) == 0
		try("freeing", func(tr *live.Trans) error {
			ip, err := inode.Read(tr, first+3+geometry.Inode(i))
			switch {
			case err != nil:
				return err
			case unlink:
				return ialloc.Unlink(tr, ip)
			}
			return ialloc.Free(tr, ip)
		})
	}
	try("listing", func(tr *live.Trans) error {
		_, err := ialloc.Unlinked(tr, 0)
		return err
	})
	for range 80 {
		try("allocating", func(tr *live.Trans) error {
			ino, ok, err := ialloc.Alloc(tr, root, ondisk.ModeRegular)
			if err != nil || !ok {
				return err
			}
			_, err = ialloc.Create(tr, ino, root, ialloc.New{Mode: ondisk.ModeRegular})
			return err
		})
	}
	return errors
}
