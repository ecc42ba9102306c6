package recovery

import (
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
	"mkfs/internal/xlog"
)

// span is a block of the disk in units of the log.
type span struct {
	daddr  int64
	length int // basic blocks
}

func decodeBlock(it *item) (ondisk.BufferItem, error) {
	f, ok := ondisk.DecodeBufferItem(it.regions[0])
	if !ok {
		return f, corrupt(it.block, "a block's description of %d bytes", len(it.regions[0]))
	}
	return f, nil
}

func orderOfBlock(it *item) order {
	f, _ := ondisk.DecodeBufferItem(it.regions[0])
	switch {
	case f.Flags&ondisk.BufferFlagCancel != 0:
		return orderCancel
	case f.Flags&ondisk.BufferFlagInodes != 0:
		return orderInodes
	}
	return orderBlock
}

// noteCancel counts how often a block is cancelled. What was logged of it
// before the last time must not be replayed, since it may have become another
// kind of block, or a file's.
func noteCancel(r *replay, it *item) error {
	f, err := decodeBlock(it)
	if err != nil {
		return err
	}
	at := span{f.Daddr, int(f.Length)}
	switch {
	case f.Flags&ondisk.BufferFlagCancel != 0:
		r.cancelled[at]++
		delete(r.parts, at)
	case r.isPart(&f):
		r.parts[at] = it.block
	}
	return nil
}

// wholeTypes are blocks that are as long as directory blocks are said to be.
var wholeTypes = map[ondisk.BufferType]bool{
	ondisk.BufferDirBlock: true, ondisk.BufferDirData: true, ondisk.BufferDirFree: true,
	ondisk.BufferDirLeaf1: true, ondisk.BufferDirLeafN: true,
}

// isPart tells whether what is logged is part of a directory block of several
// blocks that are not next to each other.
func (r *replay) isPart(f *ondisk.BufferItem) bool {
	return r.fs.V5 && wholeTypes[f.Type] && int(f.Length)*xlog.BlockSize < int(r.fs.Geometry.DirBlockSize)
}

// checkParts refuses such parts, before anything is written. A checksum covers
// all of them, and the log does not say where those are that have not changed.
// The kernel cannot replay them either.
func (r *replay) checkParts() error {
	for s, block := range r.parts {
		return fmt.Errorf("%w: log block %d: at byte %d is a part of a directory block that is in several places; the "+
			"kernel cannot replay that either",
			ErrRefused, block, s.daddr*xlog.BlockSize)
	}
	return nil
}

// lift takes back one of the counts.
func (r *replay) lift(s span) {
	switch n := r.cancelled[s]; n {
	case 0:
	case 1:
		delete(r.cancelled, s)
	default:
		r.cancelled[s] = n - 1
	}
}

func placeOfBlock(r *replay, it *item) (int64, int, bool) {
	f, err := decodeBlock(it)
	if err != nil || f.Flags&ondisk.BufferFlagCancel != 0 {
		return 0, 0, false
	}
	return r.wanted(span{f.Daddr, int(f.Length)})
}

func replayBlock(r *replay, it *item) error {
	f, err := decodeBlock(it)
	if err != nil {
		return err
	}
	at := span{f.Daddr, int(f.Length)}
	if f.Flags&ondisk.BufferFlagCancel != 0 {
		r.lift(at)
		return nil
	}
	if r.cancelled[at] > 0 {
		r.stats.Cancelled++
		return nil
	}
	b, err := r.block(it, at)
	if err != nil {
		return err
	}
	if lsn := r.lsnOf(b, f.Type); lsn != 0 && lsn >= it.lsn {
		if text := r.fs.Ahead(uint64(lsn), r.head); text != "" {
			return fmt.Errorf("%w: log block %d: LSN of the block at byte %d %s", ErrRefused, it.block, b.Off, text)
		}
		r.stats.Skipped++
		return r.checkSkipped(it, b, f.Type)
	}
	switch {
	case f.Flags&ondisk.BufferFlagInodes != 0:
		return replayUnlinked(r, it, &f, b)
	case f.Flags&ondisk.BufferFlagQuota != 0:
		if r.quotaOff[f.Flags&ondisk.BufferFlagQuota] {
			return nil
		}
		if err := copyRuns(it, &f, b); err != nil {
			return err
		}
		r.cache.mark(b, it.lsn, nil)
		return nil
	}
	if err := copyRuns(it, &f, b); err != nil {
		return err
	}
	var kind *ondisk.Described
	if r.fs.V5 {
		if kind = ondisk.DescribeAs(f.Type, b.Data); kind != nil {
			if err := r.checkOwn(it, b, kind); err != nil {
				return err
			}
		}
	}
	r.cache.mark(b, it.lsn, kind)
	if f.Type == ondisk.BufferSuperblock && b.Off == 0 {
		return r.superblockReplayed(it, b)
	}
	return nil
}

// lsnOf is the last change that a block has seen, or 0 if that is not known,
// so that it must be replayed. It goes by what the block on disk is, which may
// be another kind than what is logged, or another filesystem's.
func (r *replay) lsnOf(b *buffer.Buf, logged ondisk.BufferType) xlog.LSN {
	if !r.fs.V5 || !r.groups() && (logged == ondisk.BufferBitmap || logged == ondisk.BufferSummary) {
		return 0
	}
	d := ondisk.Describe(b.Data)
	if d == nil || d.Unordered || r.blockUUID(d, b.Data) != r.fs.MetaUUID {
		return 0
	}
	if lsn := d.BlockLSN(b.Data); lsn != ondisk.NullLSN {
		return xlog.LSN(lsn)
	}
	return 0
}

// groups tells whether the realtime section is made of groups, whose bitmaps
// describe themselves.
func (r *replay) groups() bool { return r.fs.SB.Incompat&ondisk.IncompatMetadir != 0 }

// blockUUID is the UUID that a block has: superblocks may have two.
func (r *replay) blockUUID(d *ondisk.Described, b []byte) ondisk.UUID {
	if d.Type == ondisk.BufferSuperblock && r.fs.SB.Incompat&ondisk.IncompatMetaUUID != 0 {
		s, _ := ondisk.DecodeSuperblock(b)
		return s.MetaUUID
	}
	return d.BlockUUID(b)
}

// checkSkipped checks a block that is newer than what is logged of it.
func (r *replay) checkSkipped(it *item, b *buffer.Buf, t ondisk.BufferType) error {
	d := ondisk.DescribeAs(t, b.Data)
	if d == nil || b.Dirty() || ondisk.Sealed(b.Data, d.CRC) {
		return nil
	}
	return corrupt(it.block, "the %s at byte %d, which is newer than the log, has a wrong checksum", d.Name, b.Off)
}

// checkOwn checks that a block that was replayed is of this filesystem and in
// its place.
func (r *replay) checkOwn(it *item, b *buffer.Buf, d *ondisk.Described) error {
	if u := r.blockUUID(d, b.Data); u != r.fs.MetaUUID && d.Type != ondisk.BufferSuperblock {
		return corrupt(it.block, "the %s for byte %d: its UUID %s", d.Name, b.Off, rule.IsUUID(u, r.fs.MetaUUID))
	}
	if !d.At(b.Data, uint64(b.Off/xlog.BlockSize)) {
		return corrupt(it.block, "the %s for byte %d says that it belongs elsewhere", d.Name, b.Off)
	}
	return nil
}

// copyRuns puts the logged parts of a block in their places. A run may be in
// several regions.
func copyRuns(it *item, f *ondisk.BufferItem, b *buffer.Buf) error {
	next := 1
	for _, run := range f.Runs() {
		for at := run[0]; at < run[1]; next++ {
			src, err := it.part(next, run[1]-at, len(b.Data)-at)
			if err != nil {
				return err
			}
			copy(b.Data[at:], src)
			at += len(src)
		}
	}
	return nil
}

// part is the whole chunks of a region, at most as many as are missing from a
// run. There must be room for them in the block.
func (it *item) part(i, missing, room int) ([]byte, error) {
	if i >= len(it.regions) {
		return nil, corrupt(it.block, "a block's description names more than its %d regions", len(it.regions)-1)
	}
	src := it.regions[i]
	n := min(len(src)&^(ondisk.BufferChunk-1), missing)
	switch {
	case n == 0:
		return nil, corrupt(it.block, "a region of %d bytes, less than a chunk", len(src))
	case n > room:
		return nil, corrupt(it.block, "a region of %d bytes reaches over the end of its block", n)
	}
	return src[:n], nil
}
