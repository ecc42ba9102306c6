package super

import (
	"fmt"
	"io"
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// ReadRoot completes the geometry with what only the inode of the root directory
// says: what new files inherit, and how far a background checker may go. r is
// the filesystem. tell is told of all that is wrong. known is false if it was not
// all found, which is no fault where the directory has more attributes than its
// inode holds. While the log is dirty it may be what it was before.
func (f *Filesystem) ReadRoot(r io.ReaderAt, tell func(message string)) (known bool, err error) {
	g := &f.Geometry
	agno, agino := g.InodeAddress(geometry.Inode(f.SB.RootInode))
	block := make([]byte, g.BlockSize)
	if _, err := r.ReadAt(block, int64(g.Offset(agno, geometry.AGBlock(agino>>g.InodeBlockLog())))); err != nil {
		return false, fmt.Errorf("root inode: %w", err)
	}
	b := block[int(agino)&(g.InodesPerBlock()-1)<<g.InodeLog:][:g.InodeSize]
	i, ok := ondisk.DecodeInode(b)
	switch {
	case !ok || i.Mode&ondisk.ModeType != ondisk.ModeDirectory:
		tell("root inode: it is no directory's")
		return false, nil
	case f.V5 && !ondisk.Sealed(b, ondisk.InodeCRC):
		tell("root inode: " + BadChecksum)
		return false, nil
	}
	g.Inherit = inheritOf(&i)
	blocks := uint32(i.AttrExtents)
	if i.Flags2&ondisk.Flag2Nrext64 != 0 {
		blocks = i.Extents // which BigExtents takes the place of
	}
	if i.ForkOffset == 0 || i.AttrFormat == ondisk.FormatExtents && blocks == 0 {
		return true, nil // there are none
	}
	return i.AttrFormat == ondisk.FormatLocal && f.takeAutofsck(&i, b[ondisk.CoreSize(f.V5):], tell), nil
}

func inheritOf(i *ondisk.Inode) (in geometry.Inherit) {
	if i.Flags&ondisk.FlagProjInherit != 0 {
		in.ProjectID = geometry.Given(i.ProjectID)
	}
	if i.Flags&ondisk.FlagExtentInherit != 0 {
		in.ExtentSize = geometry.Given(i.ExtentSize)
	}
	if i.Flags2&ondisk.Flag2CowExtent != 0 {
		in.CowExtent = geometry.Given(i.CowExtent)
	}
	in.Realtime = geometry.Given(i.Flags&ondisk.FlagRTInherit != 0)
	in.DAX = geometry.Given(i.Flags2&ondisk.Flag2DAX != 0)
	return in
}

// takeAutofsck looks for the property among the attributes in an inode.
func (f *Filesystem) takeAutofsck(i *ondisk.Inode, literal []byte, tell func(string)) bool {
	attrs, ok := ondisk.DecodeAttrs(literal[min(8*int(i.ForkOffset), len(literal)):])
	if !ok {
		tell("root inode: its attributes make no sense")
		return false
	}
	at := slices.IndexFunc(attrs, func(a ondisk.Attr) bool {
		return a.Flags&ondisk.AttrRoot != 0 && a.Name == ondisk.AutofsckName
	})
	if at < 0 {
		return true
	}
	switch word := geometry.Autofsck(attrs[at].Value); word {
	case geometry.AutofsckNone, geometry.AutofsckCheck, geometry.AutofsckOptimize, geometry.AutofsckRepair:
		f.Geometry.Features.Autofsck = word
		return true
	default:
		tell(fmt.Sprintf("root directory: its property autofsck is %q, which is none of none, check, optimize and repair",
			word))
		return false
	}
}
