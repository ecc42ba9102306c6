package bmap

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// The least that the root of a btree takes in a fork: its header, and pointers with keys.
const (
	rootHeader    = 4
	rootEntry     = ondisk.BmbtKeySize + ondisk.LongPointerSize
	leastDataRoot = rootHeader + 3*rootEntry
	leastAttrRoot = rootHeader + 2*rootEntry
)

// AddAttrFork makes an attribute fork, without contents, with room for size bytes of attributes if that can be. A data
// fork that does not fit any more gets another form: extents get a btree, the root of a btree a block. What a
// local fork has is for spill to move to a block, since it depends on what that is.
// (xfs_bmap_add_attrfork in libxfs.)
func AddAttrFork(t *live.Trans, ip *inode.Inode, size int, spill func() error) error {
	if ip.ForkOffset != 0 {
		return fail(ip, Attr, "it is there already")
	}
	ip.Log(t)
	switch ip.Data.Format {
	case ondisk.FormatDev:
		ip.ForkOffset = ip.DefaultForkOffset(t.FS)
	case ondisk.FormatLocal, ondisk.FormatExtents, ondisk.FormatBtree:
		if ip.ForkOffset = AttrForkOffset(t.FS, ip, size); ip.ForkOffset == 0 {
			ip.ForkOffset = ip.DefaultForkOffset(t.FS)
		}
	default:
		return fail(ip, Attr, "a data fork of form %d leaves no room for it", ip.Data.Format)
	}
	ip.Attr.Reset(ondisk.FormatExtents)
	o := on(t, ip, Data)
	defer o.end()
	switch ip.Data.Format {
	case ondisk.FormatLocal:
		if len(ip.Data.Local) > o.room() {
			return spill()
		}
	case ondisk.FormatExtents:
		return o.outgrow()
	case ondisk.FormatBtree:
		return o.resize()
	}
	return nil
}

// AttrForkOffset is where the attribute fork is to begin so that attributes of so many bytes fit the inode, 0 if
// they cannot: where it is, if it has the room, else as far in front as they need and the data fork allows.
// (xfs_attr_shortform_bytesfit in libxfs 7.2, which does so in a filesystem made with attr=1 as well: noattr2 is gone.)
func AttrForkOffset(fs *live.FS, ip *inode.Inode, size int) int {
	literal := int(fs.G.InodeSize) - ondisk.CoreSize(fs.V5)
	if size > literal {
		return 0
	}
	wanted := (literal - size) &^ 7
	switch f := &ip.Data; {
	case f.Format == ondisk.FormatDev:
		if wanted >= 8 {
			return 8
		}
		return 0
	case size <= ip.Room(fs, true):
		return ip.ForkOffset
	case f.Format == ondisk.FormatBtree && ip.ForkOffset != 0:
		if wanted < ip.ForkOffset {
			return 0
		}
		return ip.ForkOffset
	}
	most := (literal - leastAttrRoot) &^ 7
	switch least := (max(dataSize(fs, ip), leastDataRoot) + 7) &^ 7; {
	case wanted >= most:
		return most
	case wanted >= least:
		return wanted
	}
	return 0
}

// dataSize is how many bytes a data fork needs, as AttrForkOffset takes it.
func dataSize(fs *live.FS, ip *inode.Inode) int {
	switch f := &ip.Data; f.Format {
	case ondisk.FormatExtents:
		// Extents that would not fit beside an attribute fork as it is by default get a btree.
		n := len(f.Extents) * ondisk.FileExtentSize
		if ip.ForkOffset == 0 && n > ip.DefaultForkOffset(fs) {
			return leastDataRoot
		}
		return n
	case ondisk.FormatBtree:
		return f.Root.Needs()
	default:
		return len(f.Local)
	}
}

// LocalToExtents gives a local fork a block, for the caller to put its contents there, and makes it a fork with
// that as its only extent. The contents are no more in the inode afterwards. ok is false if there is no room.
// (xfs_bmap_local_to_extents in libxfs.)
func LocalToExtents(t *live.Trans, ip *inode.Inode, id ForkID, total geometry.Blocks) (
	e inode.Extent, ok bool, err error) {
	o := on(t, ip, id)
	defer o.end()
	if o.f.Format != ondisk.FormatLocal {
		return e, false, o.fail("form %d is not local", o.f.Format)
	}
	e.Blocks = 1
	e.Start, ok, err = o.takeOne(total)
	if err != nil || !ok {
		return e, false, err
	}
	EmptyLocal(t, ip, id)
	o.f.Extents = append(o.f.Extents, e)
	ip.Core.Blocks++
	return e, true, nil
}

// EmptyLocal makes a local fork one that has no extents. An attribute fork that was large gives the data fork some
// of its
// room. (xfs_bmap_local_to_extents_empty in libxfs.)
func EmptyLocal(t *live.Trans, ip *inode.Inode, id ForkID) {
	if id == Attr && ip.Data.Format != ondisk.FormatDev && ip.Data.Format != ondisk.FormatBtree {
		ip.ForkOffset = max(ip.ForkOffset, ip.DefaultForkOffset(t.FS))
	}
	id.of(ip).Reset(ondisk.FormatExtents)
	ip.Log(t)
}
