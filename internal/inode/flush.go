package inode

import (
	"fmt"

	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Flush puts the inode into its block, which Log has a transaction do at its end. It
// counts a change (libxfs_iflush_int).
func (ip *Inode) Flush(t *live.Trans) error {
	if ip.gone {
		return nil
	}
	b, dst, err := get(t, ip.Ino)
	if err != nil {
		return err
	}
	ip.settle(t.FS)
	core := &ip.Core
	core.NextUnlinked = ondisk.NextUnlinked(dst) // which is changed there
	core.ChangeCount++
	core.Put(dst)
	body := dst[ondisk.CoreSize(t.V5):]
	if err := ip.Data.put(body[:ip.Room(t.FS, false)]); err != nil {
		return fmt.Errorf("inode %d: data fork: %w", ip.Ino, err)
	}
	if ip.ForkOffset > 0 {
		if err := ip.Attr.put(body[ip.ForkOffset:]); err != nil {
			return fmt.Errorf("inode %d: attribute fork: %w", ip.Ino, err)
		}
	}
	t.Dirty(b)
	return nil
}

// settle puts into the core what follows from the forks and the filesystem.
func (ip *Inode) settle(fs *live.FS) {
	core, f := &ip.Core, &fs.G.Features
	if f.Bigtime && core.Flags2&ondisk.Flag2Bigtime == 0 {
		ip.widenTimes()
	}
	const both = ondisk.FlagRTInherit | ondisk.FlagExtentInherit
	if core.Flags&both == both && core.ExtentSize%uint32(max(1, fs.G.RT.Extent)) != 0 {
		core.Flags &^= ondisk.FlagExtentSize | ondisk.FlagExtentInherit // xfs_inode_item_precommit
		core.ExtentSize = 0
	}
	core.Format, core.AttrFormat, core.ForkOffset = ip.Data.Format, ip.Attr.Format, uint8(ip.ForkOffset/8)
	data, attr := uint64(len(ip.Data.Extents)), len(ip.Attr.Extents)
	if core.Flags2&ondisk.Flag2Nrext64 != 0 {
		core.BigExtents, core.Extents, core.AttrExtents = data, uint32(attr), 0
	} else {
		core.Extents, core.AttrExtents = uint32(data), uint16(attr)
	}
	core.LSN = 0
	if fs.V5 {
		core.Version, core.Number, core.UUID = 3, uint64(ip.Ino), fs.UUID
		return
	}
	core.Version = 2
	core.BigExtents &= 1<<16 - 1 // in V4 how often it was flushed, and padding before
}

// put writes the fork, over what was there before.
func (f *Fork) put(dst []byte) error {
	switch f.Format {
	case ondisk.FormatDev:
		ondisk.PutDevice(dst, f.Device)
	case ondisk.FormatLocal, ondisk.FormatMetaBtree:
		if len(f.Local) > len(dst) {
			return fmt.Errorf("%d bytes where there is room for %d", len(f.Local), len(dst))
		}
		copy(dst, f.Local)
	case ondisk.FormatExtents:
		if n := len(dst) / ondisk.FileExtentSize; len(f.Extents) > n {
			return fmt.Errorf("%d extents where there is room for %d", len(f.Extents), n)
		}
		for i, e := range f.Extents {
			e.Put(dst[i*ondisk.FileExtentSize:])
		}
	case ondisk.FormatBtree:
		f.Root.Put(dst)
	}
	return nil
}
