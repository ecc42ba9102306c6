package recovery

import (
	"slices"

	"mkfs/internal/buffer"
	"mkfs/internal/ondisk"
)

func decodeInode(it *item) (ondisk.InodeItem, error) {
	f, ok := ondisk.DecodeInodeItem(it.regions[0])
	if !ok {
		return f, corrupt(it.block, "an inode's description of %d bytes", len(it.regions[0]))
	}
	return f, nil
}

func placeOfInode(r *replay, it *item) (int64, int, bool) {
	f, err := decodeInode(it)
	if err != nil {
		return 0, 0, false
	}
	return r.wanted(span{f.Daddr, int(f.Length)})
}

// replayInode puts a logged inode, with the forks that were logged, in its
// place within the block that holds it.
func replayInode(r *replay, it *item) error {
	f, err := decodeInode(it)
	if err != nil {
		return err
	}
	if r.cancelled[span{f.Daddr, int(f.Length)}] > 0 {
		r.stats.Cancelled++
		return nil
	}
	b, err := r.block(it, span{f.Daddr, int(f.Length)})
	if err != nil {
		return err
	}
	size := int(r.fs.Geometry.InodeSize)
	if f.Offset < 0 || int(f.Offset)+size > len(b.Data) {
		return corrupt(it.block, "inode %d is said to be at byte %d of a block of %d", f.Inode, f.Offset, len(b.Data))
	}
	in := inode{r: r, it: it, f: &f, b: b, disk: b.Data[f.Offset:][:size]}
	if err := in.check(); err != nil {
		return err
	}
	if in.newer() {
		r.stats.Skipped++
	} else if err := in.replay(); err != nil {
		return err
	}
	return in.changeOwners()
}

// inode is one that is being replayed.
type inode struct {
	r    *replay
	it   *item
	f    *ondisk.InodeItem
	b    *buffer.Buf
	disk []byte
	old  ondisk.Inode // as on disk, before
	now  ondisk.Inode // as on disk, after
}

func (in *inode) corrupt(format string, args ...any) error {
	return corrupt(in.it.block, "inode %d: "+format, append([]any{in.f.Inode}, args...)...)
}

// check looks at what can be known before anything is changed.
func (in *inode) check() (err error) {
	var ok bool
	if in.old, ok = ondisk.DecodeInode(in.disk); !ok {
		return in.corrupt("there is none at byte %d", in.b.Off+int64(in.f.Offset))
	}
	if len(in.it.regions) < 2 {
		return in.corrupt("it is not in the log")
	}
	core, least := in.it.regions[1], ondisk.LogInodeSize(in.r.fs.V5)
	if len(core) != least && !(len(core) > least && !in.r.fs.V5) || !ondisk.LogInodeIsInode(core) {
		return in.corrupt("what is logged is none: %d bytes", len(core))
	}
	if (core[4] >= 3) != in.r.fs.V5 {
		return in.corrupt("what is logged is of version %d", core[4])
	}
	if len(in.it.regions) > 4 {
		return in.corrupt("it has %d regions in the log, more than 4", len(in.it.regions))
	}
	return nil
}

// newer tells whether the inode on disk has seen later changes already.
func (in *inode) newer() bool {
	if in.r.fs.V5 {
		return in.old.LSN != ondisk.NullLSN && in.old.LSN > uint64(in.it.lsn)
	}
	// V4 counts how often an inode was written, which wraps.
	const most = 0xffff
	logged, disk := ondisk.LogInodeFlushes(in.it.regions[1]), ondisk.InodeFlushes(in.disk)
	return logged < disk && !(disk == most && logged < most/2)
}

func (in *inode) replay() error {
	// In a copy, so that one that makes no sense changes nothing.
	now := append(in.r.scratch[:0], in.disk...)
	in.r.scratch = now
	ondisk.PutLogInode(now, in.it.regions[1], uint64(in.it.lsn))
	if !in.r.fs.V5 {
		ondisk.ResetInodeFlushes(now)
	}
	in.now, _ = ondisk.DecodeInode(now)
	if err := in.checkCore(); err != nil {
		return err
	}
	if err := in.forks(now); err != nil {
		return err
	}
	copy(in.disk, now)
	in.seal()
	in.r.cache.mark(in.b, in.it.lsn, nil)
	return nil
}

// formats are what a data fork may be by the kind of file.
var formats = map[uint16][]ondisk.Format{
	ondisk.ModeRegular:   {ondisk.FormatExtents, ondisk.FormatBtree, ondisk.FormatMetaBtree},
	ondisk.ModeDirectory: {ondisk.FormatLocal, ondisk.FormatExtents, ondisk.FormatBtree},
}

func (in *inode) checkCore() error {
	i := &in.now
	if allowed, ok := formats[i.Mode&ondisk.ModeType]; ok && !slices.Contains(allowed, i.Format) {
		return in.corrupt("a file of mode %#o in format %d", i.Mode, i.Format)
	}
	extents := uint64(i.Extents) + uint64(i.AttrExtents)
	if i.Version >= 3 && i.Flags2&ondisk.Flag2Nrext64 != 0 {
		extents = i.BigExtents + uint64(i.Extents)
		if i.BigExtents > i.Blocks || i.AttrExtents != 0 {
			return in.corrupt("%d extents in %d blocks", i.BigExtents, i.Blocks)
		}
	}
	if extents > i.Blocks {
		return in.corrupt("%d extents in %d blocks", extents, i.Blocks)
	}
	if in.r.fs.V5 && (i.Version != 3 || i.Number != in.f.Inode || i.UUID != in.r.fs.MetaUUID) {
		return in.corrupt("what is logged is inode %d of version %d", i.Number, i.Version)
	}
	core := ondisk.CoreSize(i.Version >= 3)
	if core+8*int(i.ForkOffset) > len(in.disk) {
		return in.corrupt("its attributes are said to begin at byte %d of %d", core+8*int(i.ForkOffset), len(in.disk))
	}
	return nil
}

// forks replays the forks that were logged.
func (in *inode) forks(now []byte) error {
	core := ondisk.CoreSize(in.now.Version >= 3)
	data, attr := now[core:], []byte(nil)
	if at := 8 * int(in.now.ForkOffset); at > 0 {
		data, attr = now[core:core+at], now[core+at:]
	}
	if in.f.Fields&ondisk.InodeDevice != 0 {
		if len(data) < 4 {
			return in.corrupt("no room for a device number")
		}
		ondisk.PutDevice(data, in.f.Device)
	}
	next := 2
	for _, fork := range []struct {
		fields, btree ondisk.InodeFields
		format        ondisk.Format
		dst           []byte
	}{
		{in.f.Fields & ondisk.InodeDataFork, ondisk.InodeBtree, in.now.Format, data},
		{in.f.Fields & ondisk.InodeAttrFork, ondisk.InodeAttrBtree, ondisk.FormatBtree, attr},
	} {
		if fork.fields == 0 || next == len(in.it.regions) && next == 2 {
			continue
		}
		if next >= len(in.it.regions) {
			return in.corrupt("a fork is not in the log")
		}
		src := in.it.regions[next]
		next++
		if fork.fields != fork.btree {
			if fork.fields&(fork.fields-1) != 0 || len(src) > len(fork.dst) {
				return in.corrupt("a fork of %d bytes, where there is room for %d", len(src), len(fork.dst))
			}
			copy(fork.dst, src)
			continue
		}
		root, ok := in.root(fork.format)
		if !ok || !root.Put(fork.dst, src, in.r.fs.V5) {
			return in.corrupt("the root of a btree of %d bytes makes no sense", len(src))
		}
	}
	return nil
}

// root is the shape of the btree that a fork holds the root of.
func (in *inode) root(format ondisk.Format) (ondisk.ForkRoot, bool) {
	if format != ondisk.FormatMetaBtree {
		return ondisk.BmbtRoot, format == ondisk.FormatBtree
	}
	root, ok := ondisk.MetaRoots[in.now.Metadata]
	return root, ok
}

func (in *inode) seal() {
	if in.r.fs.V5 {
		ondisk.Seal(in.disk, ondisk.InodeCRC)
	}
}

// replayUnlinked replays the pointers to the next unlinked inode, which are
// logged with the block that the inodes are in.
func replayUnlinked(r *replay, it *item, f *ondisk.BufferItem, b *buffer.Buf) error {
	size := int(r.fs.Geometry.InodeSize)
	next := 1
	for _, run := range f.Runs() {
		for at := run[0]; at < run[1]; next++ {
			src, err := it.part(next, run[1]-at, len(b.Data)-at)
			if err != nil {
				return err
			}
			for i := (at + size - 1 - ondisk.InodeUnlinked) / size * size; i+ondisk.InodeUnlinked+4 <= at+len(src); i += size {
				if i+ondisk.InodeUnlinked < at || i+size > len(b.Data) {
					continue
				}
				pointer := src[i+ondisk.InodeUnlinked-at:][:4]
				if [4]byte(pointer) == [4]byte{} {
					return corrupt(it.block, "a pointer to unlinked inode 0 in the block for byte %d", b.Off)
				}
				inode := b.Data[i : i+size]
				copy(inode[ondisk.InodeUnlinked:], pointer)
				if r.fs.V5 {
					ondisk.Seal(inode, ondisk.InodeCRC)
				}
			}
			at += len(src)
		}
	}
	r.cache.mark(b, it.lsn, nil)
	return nil
}
