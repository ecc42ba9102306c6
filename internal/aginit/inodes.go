package aginit

import (
	"cmp"
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// numbered is a file and its generation number.
type numbered struct {
	*geometry.File
	generation uint32
}

// number draws the generation numbers of all files, in the order in which they
// were made, and sorts them by inode. The root directory's is 0, for the sake of
// backup tools.
func (b *Builder) number() {
	b.files = make([]numbered, len(b.g.Contents.Files))
	for i, f := range b.g.Contents.Files {
		b.files[i].File = f
		if f.Kind != geometry.RootDirectory {
			b.files[i].generation = b.id.Generation()
		}
	}
	slices.SortFunc(b.files, func(x, y numbered) int { return cmp.Compare(x.Inode, y.Inode) })
}

// from is the files from an inode on.
func (b *Builder) from(ino geometry.Inode) []numbered {
	i, _ := slices.BinarySearchFunc(b.files, ino, func(f numbered, ino geometry.Inode) int {
		return cmp.Compare(f.Inode,
			ino)
	})
	return b.files[i:]
}

// InodeChunk writes a chunk of inodes of an AG, or a part of one, whole blocks. It
// takes the generation number that free inodes share from the identity.
func (b *Builder) InodeChunk(agno geometry.AGNumber, at geometry.Extent, chunk []byte) {
	g := b.g
	clear(chunk)
	size := int(g.InodeSize)
	first := g.InodeOf(agno, uint32(at.Start)<<g.InodeBlockLog())
	files := b.from(first)
	free := b.id.Generation()
	for i := range int(at.Blocks) << g.InodeBlockLog() {
		ino := first + geometry.Inode(i)
		place := chunk[i*size:][:size]
		if len(files) > 0 && files[0].Inode == ino {
			b.file(files[0], place)
			files = files[1:]
		} else {
			inode := b.inode(uint64(ino))
			inode.Generation = free
			inode.Put(place)
		}
		if b.v5() {
			ondisk.Seal(place, ondisk.InodeCRC)
		}
	}
}

// inode is a free inode.
func (b *Builder) inode(ino uint64) ondisk.Inode {
	i := ondisk.Inode{Version: 2, NextUnlinked: geometry.NullAGInode}
	if b.v5() {
		i.Version, i.Number, i.UUID = 3, ino, b.id.UUID
	}
	return i
}

// used is the inode of a file: a regular one, but for what its kind changes.
func (b *Builder) used(f *geometry.File) ondisk.Inode {
	i := b.inode(uint64(f.Inode))
	now := b.time(b.id.Seconds, b.id.Nanos)
	i.Mode, i.Nlink = ondisk.ModeRegular, 1
	i.Format, i.AttrFormat = ondisk.FormatExtents, ondisk.FormatExtents
	i.Atime, i.Mtime, i.Ctime = now, now, now
	i.Size = uint64(f.Size)
	if b.v5() {
		i.ChangeCount, i.Crtime = f.Changes, now
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

// rootDir completes the root directory, which is its own parent.
func (b *Builder) rootDir(i *ondisk.Inode, f *geometry.File, literal []byte) {
	i.Mode, i.Nlink, i.Format = ondisk.ModeDirectory|0o755, 2, ondisk.FormatLocal
	b.inherit(i)
	i.Size = uint64(ondisk.PutEmptyDir(literal, uint64(f.Inode)))
	if attrs := b.rootAttrs(); attrs != nil {
		i.ChangeCount += 2 // for the fork and for the attribute
		i.AttrFormat = ondisk.FormatLocal
		i.ForkOffset = forkOffset(len(literal), ondisk.AttrsSize(attrs))
		ondisk.PutAttrs(literal[8*int(i.ForkOffset):], attrs)
	}
}

func (b *Builder) hasAttrs() bool { return b.g.Features.Autofsck != geometry.AutofsckUnset }

func (b *Builder) rootAttrs() []ondisk.Attr {
	if !b.hasAttrs() {
		return nil
	}
	return []ondisk.Attr{{Flags: ondisk.AttrRoot, Name: ondisk.AutofsckName, Value: string(b.g.Features.Autofsck)}}
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
