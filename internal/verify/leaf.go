package verify

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// tally is what the records of a leaf come to. It is known only if they are
// all of a tree's, and sound.
type tally struct {
	known   bool
	blocks  uint64 // of extents; of used ones those of several owners once
	longest uint64
	mix     uint64 // of all records, whatever their order
	inodes  uint64
	free    uint64 // inodes
}

// leafChecks check the records of the leaves of rootRows and count them.
var leafChecks = [len(rootRows)]func(*checker, *rootBlock, *tally){
	rootBno: byStart, rootCnt: bySize, rootIno: inodes, rootFino: freeInodes, rootRmap: owners, rootRefcount: shares,
}

func (r *rootBlock) extent(i int) ondisk.AllocRecord {
	return ondisk.DecodeAllocRecord(r.body[i*ondisk.AllocRecordSize:])
}

// record tells of a faulty record.
func (c *checker) record(r *rootBlock, i int, format string, args ...any) {
	c.tell(r.place, fmt.Sprintf("record %d ", i)+fmt.Sprintf(format, args...))
}

func (t *tally) extent(e ondisk.AllocRecord) {
	t.blocks += uint64(e.Blocks)
	t.longest = max(t.longest, uint64(e.Blocks))
	h := (uint64(e.Start)<<32 | uint64(e.Blocks)) * 0x9e3779b97f4a7c15
	t.mix += h ^ h>>29
}

// byStart checks free extents by their start.
func byStart(c *checker, r *rootBlock, t *tally) {
	end := uint32(0)
	for i := range int(r.Records) {
		e := r.extent(i)
		if !c.isExtent(e.Start, e.Blocks) {
			c.record(r, i, "is %d blocks from %d on, not within the AG's %d blocks", e.Blocks, e.Start, c.length)
			return
		}
		if e.Start < end {
			c.record(r, i, "begins at block %d, before the end of the one before it at %d", e.Start, end)
			return
		}
		end = e.Start + e.Blocks
		t.extent(e)
	}
	t.known = true
}

// bySize checks free extents by their size.
func bySize(c *checker, r *rootBlock, t *tally) {
	var last ondisk.AllocRecord
	for i := range int(r.Records) {
		e := r.extent(i)
		if !c.isExtent(e.Start, e.Blocks) {
			c.record(r, i, "is %d blocks from %d on, not within the AG's %d blocks", e.Blocks, e.Start, c.length)
			return
		}
		if e.Blocks < last.Blocks || e.Blocks == last.Blocks && e.Start <= last.Start {
			c.record(r, i, "is %d blocks from %d on, out of order", e.Blocks, e.Start)
			return
		}
		last = e
		t.extent(e)
	}
	t.known = true
}

// inodes checks chunks of inodes.
func inodes(c *checker, r *rootBlock, t *tally) {
	next := uint64(0)
	for i := range int(r.Records) {
		rec := ondisk.DecodeInodeRecord(r.body[i*ondisk.InodeRecordSize:], c.fs.Geometry.Features.Sparse)
		holes, free := rec.Holes()
		count := geometry.InodesPerChunk - holes
		switch {
		case c.isInode(rec.Start) != "" || c.isInode(rec.Start+geometry.InodesPerChunk-1) != "" ||
			rec.Start == geometry.NullAGInode:
			c.record(r, i, "begins with inode %d, which with the 63 behind it is not within the AG", rec.Start)
			return
		case uint64(rec.Start) < next:
			c.record(r, i, "begins with inode %d, before the end of the one before it", rec.Start)
			return
		case rec.Sparse && int(rec.Count) != count:
			c.record(r, i, "has %d inodes, by its holes there are %d", rec.Count, count)
			return
		case count == 0:
			c.record(r, i, "has no inodes")
			return
		case int64(rec.FreeCount) != int64(free):
			c.record(r, i, "has %d free inodes, by their bits there are %d", rec.FreeCount, free)
			return
		}
		next = uint64(rec.Start) + geometry.InodesPerChunk
		t.inodes += uint64(count)
		t.free += uint64(free)
	}
	t.known = true
}

// freeInodes checks chunks that have free inodes.
func freeInodes(c *checker, r *rootBlock, t *tally) {
	inodes(c, r, t)
	for i := 0; i < int(r.Records) && t.known; i++ {
		rec := ondisk.DecodeInodeRecord(r.body[i*ondisk.InodeRecordSize:], c.fs.Geometry.Features.Sparse)
		if rec.FreeCount == 0 {
			c.record(r, i, "has no free inodes")
			t.known = false
		}
	}
}

// owners checks used extents. Files may share blocks; what has another owner
// it has alone.
func owners(c *checker, r *rootBlock, t *tally) {
	var last ondisk.RmapRecord
	end, endShared := uint64(0), true // of all extents so far, and whether that one may be shared
	for i := range int(r.Records) {
		rec := ondisk.DecodeRmapRecord(r.body[i*ondisk.RmapRecordSize:])
		inFile := c.isOwner(rec.Owner)
		shared := inFile && c.fs.Geometry.Features.Reflink
		switch {
		case !inFile && (rec.Owner < ondisk.OwnCow || rec.Owner > ondisk.OwnFS):
			c.record(r, i, "has the owner %#x, which is none", rec.Owner)
			return
		case rec.Owner == ondisk.OwnFS && (rec.Start != 0 || uint64(rec.Blocks) != uint64(c.fs.Geometry.SectorBlocks())),
			rec.Owner != ondisk.OwnFS && !c.isExtent(rec.Start, rec.Blocks):
			c.record(r, i, "is %d blocks from %d on, which its owner cannot have", rec.Blocks, rec.Start)
			return
		case !inFile && rec.Offset != 0:
			c.record(r, i, "has an offset in a file, and is in none")
			return
		case i > 0 && !rmapLess(&last, &rec):
			c.record(r, i, "from block %d on is out of order", rec.Start)
			return
		case uint64(rec.Start) < end && !(shared && endShared):
			c.record(r, i, "begins at block %d, before the end of another at %d", rec.Start, end)
			return
		}
		last = rec
		stop := uint64(rec.Start) + uint64(rec.Blocks)
		if stop > end {
			t.blocks += stop - max(end, uint64(rec.Start))
			end, endShared = stop, shared
		}
	}
	t.known = true
}

// isOwner tells whether a number is that of an inode.
func (c *checker) isOwner(owner uint64) bool {
	_, _, ok := c.fs.Split(owner>>c.fs.Geometry.InodeBlockLog(), 1)
	return ok
}

func rmapLess(a, b *ondisk.RmapRecord) bool {
	x, y := a.Offset&^ondisk.RmapUnwritten, b.Offset&^ondisk.RmapUnwritten
	switch {
	case a.Start != b.Start:
		return a.Start < b.Start
	case a.Owner != b.Owner:
		return a.Owner < b.Owner
	}
	return x < y
}

// shares checks extents that several files share and, behind them, those that
// are kept for copies on write.
func shares(c *checker, r *rootBlock, t *tally) {
	end := uint64(0)
	for i := range int(r.Records) {
		rec := ondisk.DecodeRefcountRecord(r.body[i*ondisk.RefcountRecordSize:])
		start, cow := rec.Start&^ondisk.RefcountCow, rec.Start&ondisk.RefcountCow != 0
		switch {
		case !c.isExtent(start, rec.Blocks):
			c.record(r, i, "is %d blocks from %d on, not within the AG's %d blocks", rec.Blocks, start, c.length)
			return
		case uint64(rec.Start) < end:
			c.record(r, i, "from block %d on is out of order", start)
			return
		case cow && rec.Count != 1 || !cow && rec.Count < 2:
			c.record(r, i, "has %d owners", rec.Count)
			return
		}
		end = uint64(rec.Start) + uint64(rec.Blocks)
		t.blocks += uint64(rec.Blocks)
	}
	t.known = true
}
