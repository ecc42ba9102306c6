package ialloc

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// New is what a new inode is to be.
type New struct {
	Mode     uint16
	UID, GID uint32
	Nlink    uint32 // 0 for that of its type: 2 of a directory, else 1
	Device   uint32 // of a device node, as ondisk.DeviceNumber makes it
	// Unlinkable: no directory will name it. Others have an attribute fork from the
	// start where they are to have parent pointers.
	Unlinkable bool
	// InitAttr: it has an attribute fork from the start anyway.
	InitAttr bool
}

// Create makes an inode out of one that Alloc gave, in a directory or, if that is nil,
// as the root of a tree. It inherits the directory's project, extent sizes, being in
// the realtime section, DAX, and being metadata, as far as these are set there
// (xfs_inode_init). It is logged, with the generation number that was drawn for it.
func Create(t *live.Trans, ino geometry.Inode, parent *inode.Inode, n New) (*inode.Inode, error) {
	ip, err := inode.Make(t, ino)
	if err != nil {
		return nil, err
	}
	core := &ip.Core
	core.Mode, core.Nlink, core.UID, core.GID = n.Mode, n.Nlink, n.UID, n.GID
	if core.Nlink == 0 {
		core.Nlink = 1
		if ip.IsDir() {
			core.Nlink = 2
		}
	}
	if parent != nil {
		if ip.IsDir() {
			core.Mode |= parent.Core.Mode & ondisk.ModeSetGID
		}
		if parent.Core.Flags&ondisk.FlagProjInherit != 0 {
			core.ProjectID = parent.Core.ProjectID
		}
	}
	times := inode.Access | inode.Modified | inode.Changed
	if t.V5 {
		core.ChangeCount = 1
		times |= inode.Created
	}
	ip.Stamp(t.FS, times)
	switch n.Mode & ondisk.ModeType {
	case ondisk.ModeFIFO, ondisk.ModeSocket, ondisk.ModeCharacter, ondisk.ModeBlock:
		ip.Data.Reset(ondisk.FormatDev)
		ip.Data.Device = n.Device
	case ondisk.ModeRegular, ondisk.ModeDirectory:
		if parent != nil {
			inherit(t.FS, core, &parent.Core)
		}
	case ondisk.ModeSymlink:
	default:
		panic(fmt.Sprintf("ialloc: a file of mode %#o", n.Mode))
	}
	if n.InitAttr || !n.Unlinkable && t.G.Features.Parent {
		ip.ForkOffset = ip.DefaultForkOffset(t.FS)
	}
	ip.Log(t)
	return ip, nil
}

// inherit gives a new file or directory what its directory has for it. Extent sizes
// that would be wrong are not inherited (xfs_inode_inherit_flags,
// xfs_inode_inherit_flags2).
func inherit(fs *live.FS, i, dir *ondisk.Inode) {
	if dir.Flags&ondisk.FlagExtentInherit != 0 {
		i.ExtentSize = dir.ExtentSize
	}
	if i.Mode&ondisk.ModeType == ondisk.ModeDirectory {
		i.Flags |= dir.Flags & (ondisk.FlagRTInherit | ondisk.FlagExtentInherit | ondisk.FlagProjInherit)
	} else {
		if dir.Flags&ondisk.FlagRTInherit != 0 && fs.G.RT.Blocks > 0 {
			i.Flags |= ondisk.FlagRealtime
		}
		if dir.Flags&ondisk.FlagExtentInherit != 0 {
			i.Flags |= ondisk.FlagExtentSize
		}
	}
	i.Flags |= dir.Flags & ondisk.FlagFilestream
	if inode.BadExtentSize(fs, i) != "" {
		i.Flags &^= ondisk.FlagExtentSize | ondisk.FlagExtentInherit
		i.ExtentSize = 0
	}
	i.Flags2 |= dir.Flags2 & (ondisk.Flag2CowExtent | ondisk.Flag2DAX | ondisk.Flag2Metadata)
	if dir.Flags2&ondisk.Flag2CowExtent != 0 {
		i.CowExtent = dir.CowExtent
	}
	if fs.V5 && inode.BadCowExtent(fs, i) != "" {
		i.Flags2 &^= ondisk.Flag2CowExtent
		i.CowExtent = 0
	}
}
