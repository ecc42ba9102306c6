package bmap

import (
	"math/rand/v2"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// treeBlocks lists the places of the blocks of a file's btree.
func treeBlocks(t *testing.T, fs *live.FS, dev *livetest.Device, ip *inode.Inode) (list []int64) {
	t.Helper()
	form := &ondisk.LongBtreeV4
	if fs.V5 {
		form = &ondisk.LongBtreeV5
	}
	var below func(ptr uint64, level int)
	below = func(ptr uint64, level int) {
		off := fs.Offset(fs.G.BlockAddress(geometry.FSBlock(ptr)))
		list = append(list, off)
		if level == 0 {
			return
		}
		b := make([]byte, fs.G.BlockSize)
		_, _ = dev.ReadAt(b, off)
		_, ptrs := ondisk.BtreeNode(b[form.Header:], ondisk.BmbtKeySize, ondisk.LongPointerSize)
		for i := range ondisk.BtreeRecords(b) {
			below(form.Ptr(ptrs[i*ondisk.LongPointerSize:]), level-1)
		}
	}
	if ip.Data.Format == ondisk.FormatBtree {
		root := &ip.Data.Root
		for i := range root.Live() {
			below(root.Below(i), root.Level()-1)
		}
	}
	return list
}

// Whatever is wrong with a file's btree or its inode, an operation ends, and none panics. The blocks are of V4,
// which have no
// checksums.
func TestDamaged(t *testing.T) {
	path, inos := emptyFiles(t, 300<<20, 1, "-m", "crc=0", "-b", "size=512")
	dev := livetest.Open(t, path)
	fs := livetest.Load(t, dev)
	ip := read(t, fs, inos[0])
	for i := range uint64(900) {
		deed{"falloc", i * 5, 2}.do(t, fs, ip)
	}
	if err := fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	agno, agino := fs.G.InodeAddress(ip.Ino)
	places := append([]int64{fs.Offset(agno, geometry.AGBlock(agino>>fs.G.InodeBlockLog()))}, treeBlocks(t, fs, dev, ip)...)
	r := rand.New(rand.NewPCG(5, 6))
	refused, worked := 0, 0
	for range 1500 {
		copied := dev.Clone()
		for range 1 + r.IntN(3) {
			off := places[r.IntN(len(places))]
			if r.IntN(3) == 0 {
				off = places[r.IntN(3)] // the inode, and the first blocks
			}
			at, b := off+r.Int64N(int64(fs.G.BlockSize)), []byte{0}
			if r.IntN(2) == 0 {
				at = off + r.Int64N(40) // headers
			}
			_, _ = copied.ReadAt(b, at)
			b[0] ^= byte(1 << r.IntN(8))
			_, _ = copied.WriteAt(b, at)
		}
		if err := use(livetest.Load(t, copied), ip.Ino, r); err != nil {
			refused++
		} else {
			worked++
		}
	}
	t.Logf("%d refused, %d worked", refused, worked)
	if refused == 0 || worked == 0 {
		t.Error("damage was to be refused, and some to go unnoticed")
	}
}

// use does this and that to a file.
func use(fs *live.FS, ino geometry.Inode, r *rand.Rand) error {
	tr := fs.Begin(100)
	ip, err := inode.Read(tr, ino)
	if err != nil {
		return err
	}
	for range 3 {
		if _, err := Write(tr, ip, Data, r.Uint64N(5000), 3, 0, 0); err != nil {
			return err
		}
		if _, err := Unmap(tr, ip, Data, r.Uint64N(5000), 1, 0, 0); err != nil {
			return err
		}
	}
	if err := AddAttrFork(tr, ip, 30, func() error { return ErrNoRoom }); err != nil {
		return err
	}
	if err := tr.Commit(); err != nil {
		return err
	}
	tr = fs.Begin(0)
	if _, err := Unmap(tr, ip, Data, 0, inode.MaxOffset, 0, 0); err != nil {
		return err
	}
	return tr.Commit()
}
