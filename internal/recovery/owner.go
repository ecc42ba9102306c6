package recovery

import (
	"bytes"

	"mkfs/internal/ondisk"
)

// changeOwners makes the inode the owner of the blocks of its extent btrees.
// Two files have exchanged their extents; that their btree blocks have changed
// hands is not logged block by block.
func (in *inode) changeOwners() error {
	if in.f.Fields&(ondisk.InodeDataOwner|ondisk.InodeAttrOwner) == 0 || !in.r.fs.V5 {
		return nil
	}
	disk := bytes.Clone(in.disk)
	in.r.cache.letGo()
	now, _ := ondisk.DecodeInode(disk)
	if now.Mode == 0 {
		return nil // it was deleted
	}
	core := ondisk.CoreSize(true)
	split := core + 8*int(now.ForkOffset)
	if split > len(disk) {
		return in.corrupt("its attributes are said to begin at byte %d of %d", split, len(disk))
	}
	data, attr := disk[core:], disk[split:]
	if now.ForkOffset > 0 {
		data = disk[core:split]
	}
	for _, fork := range []struct {
		field  ondisk.InodeFields
		format ondisk.Format
		root   []byte
	}{
		{ondisk.InodeDataOwner, now.Format, data},
		{ondisk.InodeAttrOwner, now.AttrFormat, attr},
	} {
		if in.f.Fields&fork.field == 0 || fork.format != ondisk.FormatBtree {
			continue
		}
		level, children, ok := ondisk.BmbtRoot.Children(fork.root)
		if !ok {
			return in.corrupt("the root of its btree makes no sense")
		}
		if err := in.adopt(level, children, now.Blocks, map[uint64]bool{}); err != nil {
			return err
		}
	}
	return nil
}

// adopt changes the owner of blocks of a level below level, and of all below
// them. Each is seen once, and no more than the inode has, so that this ends.
func (in *inode) adopt(level int, blocks []uint64, most uint64, seen map[uint64]bool) error {
	g := &in.r.fs.Geometry
	for _, addr := range blocks {
		agno, agbno, ok := in.r.fs.Split(addr, 1)
		if !ok || seen[addr] || uint64(len(seen)) >= most {
			return in.corrupt("its btree leads to block %d, which is not in it", addr)
		}
		seen[addr] = true
		in.r.cache.letGo()
		b, err := in.r.cache.get(int64(g.Offset(agno, agbno)), int(g.BlockSize))
		if err != nil {
			return err
		}
		d := ondisk.DescribeAs(ondisk.BufferBtree, b.Data)
		if d == nil || d.Magic != ondisk.BmbtMagic || ondisk.BtreeLevel(b.Data) != level-1 {
			return in.corrupt("there is no block of its btree at byte %d", b.Off)
		}
		if ondisk.SetBmbtOwner(b.Data, in.f.Inode) {
			in.r.cache.rewrite(b, d) // which is no change of the log
		}
		if level > 1 {
			children, ok := ondisk.BmbtChildren(b.Data)
			if !ok {
				return in.corrupt("the block of its btree at byte %d makes no sense", b.Off)
			}
			if err := in.adopt(level-1, children, most, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
