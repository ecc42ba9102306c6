package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// usedInodes is how many inodes a new filesystem has: the root directory and
// the realtime section's bitmap and summary, which exist even without one.
const usedInodes = 3

// autofsckName is the root directory's attribute that tells a background
// checker how far it may go.
const autofsckName = "xfs:autofsck"

// InodeChunk is the root inode's chunk, whole blocks, to be written at
// geometry's Root in AG 0. It takes inode generations from the identity.
func (b *Builder) InodeChunk() []byte {
	g := b.g
	chunk := make([]byte, g.Bytes(g.Root.Blocks))
	size := int(g.InodeSize)
	free := b.id.Generation() // all free inodes of a chunk share one
	for i := range g.ChunkInodes() {
		dst := chunk[i*size:][:size]
		ino := uint64(g.RootInode()) + uint64(i)
		switch i {
		case 0:
			b.rootDir(dst, ino)
		case 1:
			b.realtimeInode(dst, ino, true)
		case 2:
			b.realtimeInode(dst, ino, false)
		default:
			inode := b.inode(ino)
			inode.Generation = free
			inode.Put(dst)
		}
		if b.v5() {
			ondisk.Seal(dst, ondisk.InodeCRC)
		}
	}
	return chunk
}

// inode is a free inode.
func (b *Builder) inode(ino uint64) ondisk.Inode {
	i := ondisk.Inode{Version: 2, NextUnlinked: geometry.NullAGInode}
	if b.v5() {
		i.Version, i.Number, i.UUID = 3, ino, b.id.UUID
	}
	return i
}

// used is a fresh inode of a mode, changed as often as creating one takes.
func (b *Builder) used(ino uint64, mode uint16) ondisk.Inode {
	i := b.inode(ino)
	now := b.time(b.id.Seconds, b.id.Nanos)
	i.Mode, i.Nlink = mode, 1
	i.Format, i.AttrFormat = ondisk.FormatExtents, ondisk.FormatExtents
	i.Atime, i.Mtime, i.Ctime = now, now, now
	if b.v5() {
		i.ChangeCount, i.Crtime = 2, now
		if b.g.Features.Bigtime {
			i.Flags2 |= ondisk.Flag2Bigtime
		}
		if b.g.Features.Nrext64 {
			i.Flags2 |= ondisk.Flag2Nrext64
		}
	}
	return i
}

func (b *Builder) time(sec int64, nsec uint32) uint64 {
	if b.g.Features.Bigtime {
		return ondisk.TimeBig(sec, nsec)
	}
	return ondisk.TimeClassic(sec, nsec)
}

// rootDir writes the root directory. Its generation is 0, for the sake of backup tools.
func (b *Builder) rootDir(dst []byte, ino uint64) {
	i := b.used(ino, ondisk.ModeDirectory|0o755)
	i.Nlink, i.Format = 2, ondisk.FormatLocal
	b.inherit(&i)
	literal := dst[ondisk.CoreSize(b.v5()):]
	i.Size = uint64(ondisk.PutEmptyDir(literal, ino))
	if attrs := b.rootAttrs(); attrs != nil {
		i.ChangeCount += 2 // for the fork and for the attribute
		i.AttrFormat = ondisk.FormatLocal
		i.ForkOffset = forkOffset(len(literal), ondisk.AttrsSize(attrs))
		ondisk.PutAttrs(literal[8*int(i.ForkOffset):], attrs)
	}
	i.Put(dst)
}

func (b *Builder) hasAttrs() bool { return b.g.Features.Autofsck != geometry.AutofsckUnset }

func (b *Builder) rootAttrs() []ondisk.Attr {
	if !b.hasAttrs() {
		return nil
	}
	return []ondisk.Attr{{Flags: ondisk.AttrRoot, Name: autofsckName, Value: string(b.g.Features.Autofsck)}}
}

// forkOffset is where an attribute fork of size bytes begins in a literal area
// of room bytes, in units of 8: as far back as it fits, but leaving space for
// the smallest btree root, of two pointers.
func forkOffset(room, size int) uint8 {
	const smallestRoot = 4 + 2*16
	return uint8((room - max(size, smallestRoot)) / 8)
}

// inherit sets what files in the root directory are to inherit.
func (b *Builder) inherit(i *ondisk.Inode) {
	in := &b.g.Inherit
	if in.ProjectID.Given {
		i.ProjectID = in.ProjectID.Value
		i.Flags |= ondisk.FlagProjInherit
	}
	if in.ExtentSize.Value > 0 {
		i.ExtentSize = in.ExtentSize.Value
		i.Flags |= ondisk.FlagExtentInherit
	}
	if in.Realtime.Value {
		i.Flags |= ondisk.FlagRTInherit
	}
	if !b.v5() {
		return
	}
	if in.CowExtent.Value > 0 {
		i.CowExtent = in.CowExtent.Value
		i.Flags2 |= ondisk.Flag2CowExtent
	}
	if in.DAX.Value {
		i.Flags2 |= ondisk.Flag2DAX
	}
}

// realtimeInode writes the inode of the realtime bitmap or summary, without
// blocks. The bitmap's access time is a sequence number, at first 0.
func (b *Builder) realtimeInode(dst []byte, ino uint64, bitmap bool) {
	i := b.used(ino, ondisk.ModeRegular)
	i.Generation = b.id.Generation()
	if bitmap {
		i.Flags = ondisk.FlagNewBitmap
		i.Atime = b.time(0, 0)
	}
	i.Put(dst)
}

// LogRecord is the record that makes a zeroed log a clean one, to be written
// at its start.
func (b *Builder) LogRecord() []byte {
	l := &b.g.Log
	stripe := 0
	if b.g.Features.LogVersion == 2 {
		stripe = int(b.g.Bytes(l.StripeUnit))
	}
	record := make([]byte, ondisk.CleanLogSize(stripe))
	ondisk.PutCleanLog(record, b.id.UUID, uint32(b.g.Features.LogVersion), stripe)
	return record
}
