package recovery

import (
	"bytes"
	"errors"
	"testing"

	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

const (
	fieldData, fieldExtents, fieldBtree   = 0x02, 0x04, 0x08
	fieldDevice                           = 0x10
	fieldAttr, fieldAttrExts, fieldAttrBt = 0x40, 0x80, 0x100
	fieldOwner, fieldAttrOwner            = 0x200, 0x400
)

// root is the root of a btree as it is logged: a block with a header, room
// for some keys, and as many pointers.
func (f *filesystem) root(magic uint32, level, records, room, key int) []byte {
	header := 72
	if !f.fs.V5 {
		header = 24
	}
	b := make([]byte, header+room*(key+8))
	be.PutUint32(b, magic)
	be.PutUint16(b[4:], uint16(level))
	be.PutUint16(b[6:], uint16(records))
	for i := header; i < len(b); i++ {
		b[i] = byte(i)
	}
	return b
}

// onDisk is the root in a fork of a size.
func (f *filesystem) onDisk(root []byte, room, key, size int) []byte {
	header := len(root) - room*(key+8)
	n := int(be.Uint16(root[6:]))
	b := make([]byte, size)
	copy(b, root[4:8])
	most := (size - 4) / (key + 8)
	copy(b[4:], root[header:][:n*key])
	copy(b[4+most*key:], root[header+room*key:][:n*8])
	return b
}

// An inode is replayed with its forks, field by field.
func TestInodeForks(t *testing.T) {
	data := bytes.Repeat([]byte("fork"), 12)
	for _, c := range []struct {
		name   string
		v4     bool
		fields uint32
		change func(i *ondisk.Inode)
		forks  func(f *filesystem) (logged [][]byte, data, attr []byte)
	}{
		{"core", false, 0, nil, nil},
		{"core, V4", true, 0, nil, nil},
		{"classic times", false, 0, func(i *ondisk.Inode) { i.Flags2 = 0; i.BigExtents = 0; i.Extents, i.AttrExtents = 5, 2 }, nil},
		{"extents", false, fieldExtents, nil, func(*filesystem) ([][]byte, []byte, []byte) { return [][]byte{data}, data, nil }},
		{"extents, V4", true, fieldExtents, nil, func(*filesystem) ([][]byte, []byte, []byte) { return [][]byte{data}, data, nil }},
		{"local", false, fieldData, func(i *ondisk.Inode) { i.Mode, i.Format = ondisk.ModeDirectory|0o755, ondisk.FormatLocal },
			func(*filesystem) ([][]byte, []byte, []byte) { return [][]byte{data}, data, nil }},
		{"device", false, fieldDevice, func(i *ondisk.Inode) { i.Mode, i.Format = 0o020000, ondisk.FormatDev },
			func(*filesystem) ([][]byte, []byte, []byte) { return nil, []byte{0x12, 0x34, 0x56, 0x78}, nil }},
		{"attributes", false, fieldAttr, func(i *ondisk.Inode) { i.ForkOffset, i.AttrFormat = 15, ondisk.FormatLocal },
			func(*filesystem) ([][]byte, []byte, []byte) { return [][]byte{data}, nil, data }},
		{"both", false, fieldExtents | fieldAttrExts, func(i *ondisk.Inode) { i.ForkOffset = 15 },
			func(*filesystem) ([][]byte, []byte, []byte) {
				return [][]byte{data, data[2:46]}, data, data[2:46]
			}},
		{"btree", false, fieldBtree, func(i *ondisk.Inode) { i.Format = ondisk.FormatBtree },
			func(f *filesystem) ([][]byte, []byte, []byte) {
				r := f.root(ondisk.BmbtMagic, 1, 3, 5, 8)
				return [][]byte{r}, f.onDisk(r, 5, 8, 336), nil
			}},
		{"btree, V4", true, fieldBtree, func(i *ondisk.Inode) { i.Format = ondisk.FormatBtree },
			func(f *filesystem) ([][]byte, []byte, []byte) {
				r := f.root(ondisk.BmbtMagicV4, 1, 3, 3, 8)
				return [][]byte{r}, f.onDisk(r, 3, 8, int(f.fs.Geometry.InodeSize)-100), nil
			}},
		{"btree of attributes", false, fieldAttrBt, func(i *ondisk.Inode) { i.ForkOffset, i.AttrFormat = 15, ondisk.FormatBtree },
			func(f *filesystem) ([][]byte, []byte, []byte) {
				r := f.root(ondisk.BmbtMagic, 2, 4, 4, 8)
				return [][]byte{r}, nil, f.onDisk(r, 4, 8, 336-120)
			}},
		{"rtrmap", false, fieldBtree, func(i *ondisk.Inode) { i.Format, i.Metadata = ondisk.FormatMetaBtree, ondisk.MetaRTRmap },
			func(f *filesystem) ([][]byte, []byte, []byte) {
				r := f.root(ondisk.RTRmapMagic, 1, 2, 6, 40)
				return [][]byte{r}, f.onDisk(r, 6, 40, 336), nil
			}},
		{"rtrefcount", false, fieldBtree, func(i *ondisk.Inode) { i.Format, i.Metadata = ondisk.FormatMetaBtree, ondisk.MetaRTRefcount },
			func(f *filesystem) ([][]byte, []byte, []byte) {
				r := f.root(ondisk.RTRefcountMagic, 1, 7, 9, 4)
				return [][]byte{r}, f.onDisk(r, 9, 4, 336), nil
			}},
		{"rtrmap, a leaf", false, fieldBtree, func(i *ondisk.Inode) { i.Format, i.Metadata = ondisk.FormatMetaBtree, ondisk.MetaRTRmap },
			func(f *filesystem) ([][]byte, []byte, []byte) {
				r := f.root(ondisk.RTRmapMagic, 0, 2, 6, 40)
				return [][]byte{r}, append(bytes.Clone(r[4:8]), r[72:72+48]...), nil
			}},
		{"rtrefcount, a leaf", false, fieldBtree, func(i *ondisk.Inode) { i.Format, i.Metadata = ondisk.FormatMetaBtree, ondisk.MetaRTRefcount },
			func(f *filesystem) ([][]byte, []byte, []byte) {
				r := f.root(ondisk.RTRefcountMagic, 0, 3, 9, 4)
				return [][]byte{r}, append(bytes.Clone(r[4:8]), r[72:72+36]...), nil
			}},
	} {
		for _, packed := range []bool{false, true} {
			f := plain(t)
			if c.v4 {
				f = version4(t)
			}
			at, off := f.inodeAt(5)
			want := f.inode(5)
			core := f.file(5, c.change)
			var logged [][]byte
			var dataFork, attrFork []byte
			if c.forks != nil {
				logged, dataFork, attrFork = c.forks(f)
			}
			it := logtest.Inode(at, c.fields, 0x78563412, core, logged...)
			if c.fields == fieldDevice { // as the kernel has it in memory
				it = logtest.Inode(at, c.fields, 0x12345678, core)
			}
			if packed {
				it = logtest.Packed(it)
			}
			lsn := f.commit(it)
			f.expectInode(want, f.core(5, c.change), lsn)
			start := ondisk.CoreSize(f.fs.V5)
			copy(want[start:], dataFork)
			copy(want[start+8*int(want[82]):], attrFork)
			if f.fs.V5 {
				ondisk.Seal(want, ondisk.InodeCRC)
			}
			if rep := f.recover(nil); !rep.Finished {
				t.Errorf("%s: %+v", c.name, rep)
			}
			if got := f.bytes(off, len(want)); !bytes.Equal(got, want) {
				t.Errorf("%s:\n%x\nwant\n%x", c.name, got, want)
			}
		}
	}
}

// expectInode puts a core over an inode on disk.
func (f *filesystem) expectInode(disk, core []byte, lsn xlog.LSN) {
	copy(disk, core[:96])
	if f.fs.V5 {
		copy(disk[104:], core[104:])
		be.PutUint64(disk[112:], uint64(lsn))
	}
}

// An inode on disk that is newer is left alone; an equal one is not.
func TestInodeAge(t *testing.T) {
	for _, c := range []struct {
		name     string
		v4       bool
		disk     int64  // change on disk, from that in the log
		flushes  [2]int // on disk and in the log, in V4
		replayed bool
	}{
		{"older", false, -1, [2]int{}, true},
		{"equal", false, 0, [2]int{}, true},
		{"newer", false, 1, [2]int{}, false},
		{"fewer flushes", true, 0, [2]int{5, 6}, true},
		{"as many", true, 0, [2]int{6, 6}, true},
		{"more flushes", true, 0, [2]int{7, 6}, false},
		{"the count begins again", true, 0, [2]int{0xffff, 6}, true},
		{"but that is too far", true, 0, [2]int{0xffff, 0x8000}, false},
	} {
		f := plain(t)
		if c.v4 {
			f = version4(t)
		}
		at, off := f.inodeAt(5)
		old := f.inode(5)
		core := f.file(5, nil)
		if c.v4 {
			be.PutUint16(old[30:], uint16(c.flushes[0]))
			le.PutUint16(core[30:], uint16(c.flushes[1]))
		} else {
			be.PutUint64(old[112:], uint64(int64(f.log.LSN())+c.disk))
			ondisk.Seal(old, ondisk.InodeCRC)
		}
		f.d.WriteAt(old, off)
		f.commit(logtest.Inode(at, 0, 0, core))
		rep := f.recover(nil)
		if got := !bytes.Equal(f.bytes(off, len(old)), old); got != c.replayed || (rep.Stats.Skipped == 0) != c.replayed {
			t.Errorf("%s: replayed %v, %+v", c.name, got, rep.Stats)
		}
	}
}

// ownedTree makes a btree of two levels below the roots of both forks.
func (f *filesystem) ownedTree(n int) (blocks []int64) {
	block := func(i, level int, children ...int) {
		off := f.free(100 + i)
		b := f.described(ondisk.BmbtMagic, off, 0, byte(i))
		be.PutUint16(b[4:], uint16(level))
		be.PutUint16(b[6:], uint16(len(children)))
		for j, c := range children {
			be.PutUint64(b[72+(4096-72)/16*8+8*j:], uint64(f.free(100+c))>>12)
		}
		be.PutUint64(b[56:], 999)
		ondisk.Seal(b, 64)
		f.d.WriteAt(b, off)
		blocks = append(blocks, off)
	}
	block(0, 1, 1, 2)
	block(1, 0)
	block(2, 0)
	block(3, 0)
	return blocks
}

// The blocks of the extent btrees of a file get its number, with memory for
// one of them only too, and whether or not the inode is newer.
func TestOwner(t *testing.T) {
	for _, limit := range []int64{0, 1, 20 << 10} {
		for _, newer := range []bool{false, true} {
			f := plain(t)
			at, off := f.inodeAt(5)
			blocks := f.ownedTree(5)
			root := f.root(ondisk.BmbtMagic, 2, 1, 1, 8)
			be.PutUint64(root[72+8:], uint64(blocks[0])>>12)
			attr := f.root(ondisk.BmbtMagic, 1, 1, 1, 8)
			be.PutUint64(attr[72+8:], uint64(blocks[3])>>12)
			core := f.file(5, func(i *ondisk.Inode) {
				i.Format, i.AttrFormat, i.ForkOffset = ondisk.FormatBtree, ondisk.FormatBtree, 15
			})
			it := logtest.Inode(at, fieldBtree|fieldAttrBt|fieldOwner|fieldAttrOwner, 0, core, root, attr)
			f.commit(it)
			if newer {
				f.recover(nil)
				b := f.inode(5)
				be.PutUint64(b[112:], 7<<32)
				ondisk.Seal(b, ondisk.InodeCRC)
				f.d.WriteAt(b, off)
				f.ownedTree(5)
			}
			f.recover(func(o *Options) { o.Limit = limit })
			for i, at := range blocks {
				b := f.bytes(at, 4096)
				if be.Uint64(b[56:]) != f.fs.SB.RootInode+5 || !ondisk.Sealed(b, 64) {
					t.Errorf("limit %d: block %d is owned by %d", limit, i, be.Uint64(b[56:]))
				}
			}
		}
	}
}

// A btree that leads to the same block again and again is none, and does not
// take for ever.
func TestOwnerOfNoTree(t *testing.T) {
	f := plain(t)
	at, _ := f.inodeAt(5)
	const levels = 9
	for i := range levels {
		off := f.free(100 + i)
		b := f.described(ondisk.BmbtMagic, off, 0, byte(i))
		be.PutUint16(b[4:], uint16(i))
		be.PutUint16(b[6:], 250)
		for j := range 250 {
			be.PutUint64(b[72+(4096-72)/16*8+8*j:], uint64(f.free(100+i-1))>>12)
		}
		ondisk.Seal(b, 64)
		f.d.WriteAt(b, off)
	}
	root := f.root(ondisk.BmbtMagic, levels, 1, 1, 8)
	be.PutUint64(root[72+8:], uint64(f.free(100+levels-1))>>12)
	core := f.file(5, func(i *ondisk.Inode) { i.Format, i.Blocks = ondisk.FormatBtree, 1<<60 })
	f.commit(logtest.Inode(at, fieldBtree|fieldOwner, 0, core, root))
	var bad *xlog.Corrupt
	if _, err := f.try(nil); !errors.As(err, &bad) {
		t.Error(err)
	}
}

// What is logged must be an inode of the filesystem's version.
func TestInodeOfAnotherVersion(t *testing.T) {
	for _, f := range []*filesystem{plain(t), version4(t)} {
		at, _ := f.inodeAt(5)
		core := f.file(5, nil)
		core[4] ^= 1 // 2 is 3 and 3 is 2
		f.commit(logtest.Inode(at, 0, 0, core))
		var bad *xlog.Corrupt
		if _, err := f.try(nil); !errors.As(err, &bad) {
			t.Errorf("V5 %v: %v", f.fs.V5, err)
		}
	}
}
