package inode_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"mkfs/internal/bmap"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// scatter gives a file so many extents.
func scatter(t testing.TB, fs *live.FS, ino geometry.Inode, n int) {
	t.Helper()
	for i := range n {
		tr := fs.Begin(100)
		ip, err := inode.Read(tr, ino)
		if err != nil {
			t.Fatal(err)
		}
		got, err := bmap.Write(tr, ip, bmap.Data, uint64(10+2*i), 1, 0, 1)
		if err != nil || len(got) != 1 {
			t.Fatalf("%v: %v", got, err)
		}
		if err := tr.Commit(); err != nil {
			t.Fatal(err)
		}
		ip.Release()
	}
}

// Whatever is damaged, inodes are read or an error tells what is wrong, soon, and what was
// read is written without another.
func TestDamagedInodes(t *testing.T) {
	file := proto(t)
	for seed, args := range [][]string{nil, {"-m", "crc=0"}, {"-i", "nrext64=0"}, {"-m", "metadir=1"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			random := rand.New(rand.NewPCG(4, uint64(seed)))
			d := livetest.Open(t, livetest.Reference(t, size, append(args, "-p", file)...))
			fs := livetest.Load(t, d)
			list := inodes(t, fs, d)
			scatter(t, fs, list[len(list)-1], 300)
			tr := fs.Begin(0)
			ip, err := inode.Read(tr, list[len(list)-1])
			if err != nil || ip.Data.Format != ondisk.FormatBtree || len(ip.Data.Extents) < 300 {
				t.Fatalf("%d extents, form %d: %v", len(ip.Data.Extents), ip.Data.Format, err)
			}
			if err := fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			agno, agino := fs.G.InodeAddress(list[0])
			inodeSize, block := int(fs.G.InodeSize), int(fs.G.BlockSize)
			first := fs.Offset(agno, geometry.AGBlock(agino>>fs.G.InodeBlockLog()))
			found := 0
			for range 2000 {
				d := d.Clone()
				if random.IntN(4) == 0 {
					off := fs.Offset(fs.G.BlockAddress(geometry.FSBlock(ip.Data.Root.Below(random.IntN(ip.Data.Root.Live())))))
					damage(d, off, block, ondisk.LongBtreeCRC, fs.V5, random)
				} else {
					n := int(list[random.IntN(len(list))] - list[0])
					damage(d, first+int64(n*inodeSize), inodeSize, ondisk.InodeCRC, fs.V5, random)
				}
				found += readAll(t, livetest.Load(t, d), list)
			}
			if found < 500 {
				t.Errorf("only %d damages were found", found)
			}
		})
	}
}

func damage(d *livetest.Device, off int64, n, crc int, v5 bool, random *rand.Rand) {
	b := make([]byte, n)
	_, _ = d.ReadAt(b, off)
	values := []byte{0, 1, 2, 3, 5, 7, 0x40, 0x7f, 0x80, 0xff}
	for range 1 + random.IntN(3) {
		i := random.IntN(min(n, 300))
		if random.IntN(2) == 0 {
			b[i] = values[random.IntN(len(values))]
		} else {
			b[i] ^= 1 << random.IntN(8)
		}
	}
	if v5 {
		ondisk.Seal(b, crc)
	}
	_, _ = d.WriteAt(b, off)
}

// readAll reads inodes and writes them, and counts those that are damaged.
func readAll(t *testing.T, fs *live.FS, list []geometry.Inode) (damaged int) {
	t.Helper()
	began := time.Now()
	for _, ino := range list {
		tr := fs.Begin(0)
		ip, err := inode.Read(tr, ino)
		if err != nil {
			damaged++
			continue
		}
		ip.Log(tr)
		if err := tr.Commit(); err != nil {
			t.Fatalf("%+v: %v", ip, err)
		}
		ip.Release()
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Fatalf("it took %v", d)
	}
	return damaged
}
