package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// kind is how files of one kind are written.
type kind struct {
	meta ondisk.MetaType // if they are in the metadata directory
	// fork completes the inode and writes what is in its data fork, for files
	// that have more in it than extents.
	fork func(b *Builder, i *ondisk.Inode, f *geometry.File, fork []byte)
	// block writes a block of the file, whose place in it is given, into zeros.
	block func(b *Builder, f *geometry.File, offset geometry.Blocks, at geometry.FSBlock, dst []byte)
}

// kinds has a row for each kind of file.
var kinds map[geometry.FileKind]kind

func init() {
	kinds = map[geometry.FileKind]kind{
		geometry.RootDirectory:    {fork: (*Builder).rootDir},
		geometry.MetadataRoot:     {meta: ondisk.MetaDirectory, fork: (*Builder).metaDir},
		geometry.GroupDirectory:   {meta: ondisk.MetaDirectory, fork: (*Builder).metaDir, block: (*Builder).dirBlock},
		geometry.RealtimeBitmap:   {meta: ondisk.MetaRTBitmap, fork: (*Builder).bitmapInode, block: (*Builder).bitmapBlock},
		geometry.RealtimeSummary:  {meta: ondisk.MetaRTSummary, block: (*Builder).summaryBlock},
		geometry.RealtimeRmap:     {meta: ondisk.MetaRTRmap, fork: (*Builder).rmapFork},
		geometry.RealtimeRefcount: {meta: ondisk.MetaRTRefcount, fork: (*Builder).refcountFork},
	}
}

// file writes the inode of a file, unsealed.
func (b *Builder) file(n numbered, dst []byte) {
	clear(dst)
	f := n.File
	i := b.used(f)
	i.Generation = n.generation
	literal := dst[ondisk.CoreSize(b.v5()):]
	k := kinds[f.Kind]
	if b.g.Features.Metadir && k.meta != 0 {
		b.metadata(&i, f, k.meta, literal)
	}
	if k.fork != nil {
		k.fork(b, &i, f, literal)
	}
	b.extents(&i, f, literal)
	i.Put(dst)
}

// extents lists a file's extents in its data fork, or puts the root of their
// btree there, over what was there before.
func (b *Builder) extents(i *ondisk.Inode, f *geometry.File, fork []byte) {
	if i.ForkOffset > 0 {
		fork = fork[:8*int(i.ForkOffset)]
	}
	for _, was := range f.Before {
		putFork(was, fork)
	}
	putFork(f.Fork(), fork)
	i.Blocks = uint64(f.DataBlocks())
	if f.Tree != nil {
		i.Format = ondisk.FormatBtree
		i.Blocks += uint64(f.Tree.Blocks())
	}
	if b.g.Features.Nrext64 {
		i.BigExtents = uint64(len(f.Extents))
	} else {
		i.Extents = uint32(len(f.Extents))
	}
}

// metadata marks the inode of a file in the metadata directory, which user
// space does not see, and points to its directory.
func (b *Builder) metadata(i *ondisk.Inode, f *geometry.File, t ondisk.MetaType, literal []byte) {
	i.Metadata = t
	i.Flags |= ondisk.FlagImmutable | ondisk.FlagSync | ondisk.FlagNoAtime | ondisk.FlagNoDump | ondisk.FlagNoDefrag
	i.Flags2 |= ondisk.Flag2Metadata
	i.ProjectID = uint32(f.Group)
	if f.Parent == nil || !b.g.Features.Parent {
		return
	}
	const forkOffset = geometry.ParentForkOffset / 8
	i.AttrFormat, i.ForkOffset = ondisk.FormatLocal, forkOffset
	ondisk.PutAttrs(literal[8*forkOffset:], []ondisk.Attr{{
		Flags: ondisk.AttrParent, Name: f.Name,
		Value: ondisk.PutParent(uint64(f.Parent.Inode), b.from(f.Parent.Inode)[0].generation),
	}})
}

// metaDir completes a directory of metadata. Behind the extents of one that has
// left the inode its entries remain as they were.
func (b *Builder) metaDir(i *ondisk.Inode, f *geometry.File, fork []byte) {
	i.Mode, i.Nlink = ondisk.ModeDirectory, 2
	i.Flags |= ondisk.FlagNoSymlinks
	for _, e := range f.Dir.Entries {
		if e.IsDir() {
			i.Nlink++
		}
	}
	ondisk.PutShortDir(fork, uint64(f.ParentInode()), f.Wide(), encoded(f.Dir.Entries[:f.Dir.InInode]))
	if f.Dir.Form == geometry.DirInInode {
		i.Format = ondisk.FormatLocal
	}
}

// bitmapInode completes the bitmap's inode. Without groups its access time is
// a sequence number, at first 0.
func (b *Builder) bitmapInode(i *ondisk.Inode, _ *geometry.File, _ []byte) {
	if !b.g.Features.Metadir {
		i.Flags |= ondisk.FlagNewBitmap
		i.Atime = b.time(0, 0)
	}
}

// rmapFork is the root of the btree of the owners of a realtime group's
// blocks: of the first group, the superblock.
func (b *Builder) rmapFork(i *ondisk.Inode, f *geometry.File, fork []byte) {
	i.Format = ondisk.FormatMetaBtree
	if f.Group != 0 || !b.g.HasRealtimeSuper() {
		ondisk.PutMetaLeaf(fork, 0)
		return
	}
	ondisk.RmapRecord{Blocks: uint32(b.g.RT.Extent), Owner: ondisk.OwnFS}.Put(ondisk.PutMetaLeaf(fork, 1))
}

// refcountFork is the root of the btree of shared blocks, without any.
func (b *Builder) refcountFork(i *ondisk.Inode, _ *geometry.File, fork []byte) {
	i.Format = ondisk.FormatMetaBtree
	ondisk.PutMetaLeaf(fork, 0)
}

// FileBlocks writes blocks of a file into dst, which holds as many as are
// wanted: those of one of its extents, from its block skip on. Both are
// multiples of a directory block's where there are such.
func (b *Builder) FileBlocks(f *geometry.File, e geometry.FileExtent, skip geometry.Blocks, dst []byte) {
	clear(dst)
	step := b.fileStep(f)
	size := int(b.g.Bytes(step))
	for n := range len(dst) / size {
		at := skip + geometry.Blocks(n)*step
		kinds[f.Kind].block(b, f, e.Offset+at, e.Start+geometry.FSBlock(at), dst[n*size:][:size])
	}
}

// fileStep is how many blocks of a file are one: those of a directory block.
func (b *Builder) fileStep(f *geometry.File) geometry.Blocks {
	if f.Kind == geometry.GroupDirectory {
		return geometry.Blocks(b.g.DirBlockSize / b.g.BlockSize)
	}
	return 1
}

// RealtimeSuper is the superblock of the realtime section, a block, or nil if
// it has none.
func (b *Builder) RealtimeSuper() []byte {
	if !b.g.HasRealtimeSuper() {
		return nil
	}
	block := make([]byte, b.g.BlockSize)
	s := ondisk.RTSuper{UUID: b.id.UUID, MetaUUID: b.id.UUID}
	copy(s.Label[:], b.g.Label)
	s.Put(block)
	ondisk.Seal(block, ondisk.RTSuperCRC)
	return block
}
