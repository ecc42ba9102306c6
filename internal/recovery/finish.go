package recovery

import (
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// finish writes what was replayed, and if nothing remains to be done makes the
// log clean:
//
//	blocks; flush
//	the superblock's counters, and what could be mistaken for records behind the log's head; flush
//	an unmount record at the head; flush
//
// Up to the last step the log wants replaying, which comes to the same.
func (r *recoverer) finish() error {
	sums, err := r.survey()
	if err != nil {
		return err
	}
	r.report.Finished = r.report.Remains.None()
	if r.DryRun {
		return nil
	}
	if err := r.flush(); err != nil || !r.report.Finished {
		return err
	}
	if err := r.counters(sums); err != nil {
		return err
	}
	if err := r.writeLog(r.log.Stale(&r.report.Log)); err != nil {
		return err
	}
	if err := r.flush(); err != nil {
		return err
	}
	if err := r.writeLog(r.log.Unmount(&r.report.Log)); err != nil {
		return err
	}
	if err := r.flush(); err != nil {
		return err
	}
	return r.clearLogFeatures()
}

// flush writes all blocks and makes everything durable.
func (r *recoverer) flush() error {
	r.cache.letGo()
	if err := r.cache.Flush(); err != nil {
		return err
	}
	if err := r.Data.Ring.Sync(); err != nil {
		return fmt.Errorf("%s: flushing: %w", r.Data.Name, err)
	}
	if r.Log == nil {
		return nil
	}
	if err := r.Log.Ring.Sync(); err != nil {
		return fmt.Errorf("%s: flushing: %w", r.Log.Name, err)
	}
	return nil
}

// primary is the sector of the primary superblock.
func (r *recoverer) primary() (*buffer.Buf, error) {
	return r.cache.get(0, int(r.fs.Geometry.SectorSize))
}

// counters puts the sums over all AGs in the superblock. Only at an unmount
// does the kernel.
func (r *recoverer) counters(s sums) error {
	if !r.fs.Lazy {
		return nil
	}
	b, err := r.primary()
	if err != nil {
		return err
	}
	ondisk.SetCounters(b.Data, s.inodes, s.freeInodes, s.freeBlocks)
	r.rewriteSuperblock(b)
	return nil
}

// clearLogFeatures takes back the bits that say what is in the log, once
// nothing is.
func (r *recoverer) clearLogFeatures() error {
	if !r.fs.V5 || r.fs.SB.LogIncompat == 0 {
		return nil
	}
	b, err := r.primary()
	if err != nil {
		return err
	}
	ondisk.ClearLogIncompat(b.Data)
	r.rewriteSuperblock(b)
	return r.flush()
}

func (r *recoverer) rewriteSuperblock(b *buffer.Buf) {
	var kind *ondisk.Described
	if r.fs.V5 {
		kind = ondisk.Describe(b.Data)
	}
	r.cache.rewrite(b, kind)
}

// writeLog writes parts of the log, one after the other: with a short log two
// may be in one sector.
func (r *recoverer) writeLog(parts []xlog.Part) error {
	for _, part := range parts {
		if err := r.writePart(part); err != nil {
			return err
		}
	}
	return nil
}

// writePart writes a part of the log, which is made whole sectors with what is
// on disk.
func (r *recoverer) writePart(part xlog.Part) error {
	dev, base := r.reader.dev, r.reader.base
	sector := int64(r.fs.Geometry.Log.SectorSize)
	if dev == &r.Data {
		sector = max(sector, int64(r.fs.Geometry.SectorSize))
	}
	list := delwri.NewList(dev.Ring, delwri.Config{Device: dev.Name})
	memory := slabs{get: r.Memory}
	defer memory.release()
	off := int64(part.Block) * xlog.BlockSize
	from, to := off&^(sector-1), (off+int64(len(part.Data))+sector-1)&^(sector-1)
	for at := from; at < to; {
		n := min(to-at, mostPart)
		b, err := memory.take(int(n))
		if err != nil {
			return err
		}
		if _, err := r.reader.ReadAt(b, at); err != nil {
			return err
		}
		if at < off {
			copy(b[off-at:], part.Data)
		} else {
			copy(b, part.Data[at-off:])
		}
		list.Add(&delwri.Buffer{Off: base + at, Data: b, Place: delwri.Place{AG: -1, Name: "log"}})
		at += n
	}
	if err := list.Submit(); err != nil {
		return err
	}
	return r.reader.release() // it has the old contents
}

// mostPart is how many bytes of a part are one piece of memory.
const mostPart = 1 << 20

// sums are over all AGs.
type sums struct{ inodes, freeInodes, freeBlocks uint64 }

// survey reads the headers of all AGs: it sums up their counters and looks for
// what remains to be done.
func (r *recoverer) survey() (s sums, err error) {
	err = r.eachAG(func(agno geometry.AGNumber, agf *ondisk.AGF, agi *ondisk.AGI) error {
		s.inodes += uint64(agi.Count)
		s.freeInodes += uint64(agi.FreeCount)
		s.freeBlocks += uint64(agf.FreeBlocks) + uint64(agf.FreeCount) + uint64(agf.BtreeBlocks)
		if err := r.unlinked(agno, agi); err != nil {
			return err
		}
		if r.fs.Geometry.Features.Reflink {
			return r.staging(agno, agf)
		}
		return nil
	})
	if err == nil && (s.freeBlocks > r.fs.SB.DataBlocks || s.freeInodes > s.inodes) {
		err = fmt.Errorf("%w: the AGs have %d free blocks of %d, and %d free inodes of %d",
			ErrRefused, s.freeBlocks, r.fs.SB.DataBlocks, s.freeInodes, s.inodes)
	}
	return s, err
}

// eachAG reads the AGF and the AGI of all AGs, which must not be ahead of the log.
func (r *recoverer) eachAG(do func(agno geometry.AGNumber, agf *ondisk.AGF, agi *ondisk.AGI) error) error {
	g := &r.fs.Geometry
	sector := int(g.SectorSize)
	next := geometry.AGNumber(0)
	for agno := range g.AGCount {
		r.cache.letGo()
		if err := r.ctx.Err(); err != nil {
			return err
		}
		for ; next < g.AGCount && (next == agno || r.cache.Reading()+2 <= r.Depth); next++ {
			for i := range int64(2) {
				if _, err := r.cache.Ahead(int64(g.Offset(next, 0))+(1+i)*int64(sector), sector); err != nil {
					return err
				}
			}
		}
		agf, agi, err := r.headersOf(agno)
		if err == nil {
			err = do(agno, agf, agi)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// headersOf reads the AGF and the AGI of an AG.
func (r *recoverer) headersOf(agno geometry.AGNumber) (*ondisk.AGF, *ondisk.AGI, error) {
	g := &r.fs.Geometry
	sector := int(g.SectorSize)
	start := int64(g.Offset(agno, 0))
	header := func(i int) (*buffer.Buf, error) {
		b, err := r.cache.get(start+int64(i*sector), sector)
		if err != nil {
			err = fmt.Errorf("AG %d: %w", agno, err)
		}
		return b, err
	}
	b, err := header(1)
	if err != nil {
		return nil, nil, err
	}
	agf, ok := ondisk.DecodeAGF(b.Data)
	if !ok || agf.Seqno != uint32(agno) {
		return nil, nil, fmt.Errorf("%w: AG %d has no AGF", ErrRefused, agno)
	}
	if b, err = header(2); err != nil {
		return nil, nil, err
	}
	agi, ok := ondisk.DecodeAGI(b.Data)
	if !ok || agi.Seqno != uint32(agno) {
		return nil, nil, fmt.Errorf("%w: AG %d has no AGI", ErrRefused, agno)
	}
	for _, h := range []struct {
		name string
		lsn  uint64
	}{{"AGF", agf.LSN}, {"AGI", agi.LSN}} {
		if text := r.fs.Ahead(h.lsn, r.report.Log.HeadLSN()); text != "" {
			return nil, nil, fmt.Errorf("%w: AG %d: LSN of the %s %s", ErrRefused, agno, h.name, text)
		}
	}
	return &agf, &agi, nil
}

// unlinked counts the inodes that were deleted but not freed, which are in
// lists that begin in the AGI.
func (r *recoverer) unlinked(agno geometry.AGNumber, agi *ondisk.AGI) error {
	g := &r.fs.Geometry
	left := min(int64(agi.Count), int64(g.AGLength(agno))<<g.InodeBlockLog()) // so that a circle ends
	for _, agino := range agi.Unlinked {
		for agino != ondisk.NullAGInode {
			r.report.Remains.Unlinked++
			block := geometry.AGBlock(agino >> g.InodeBlockLog())
			if left--; left < 0 || geometry.Blocks(block) >= g.AGLength(agno) {
				return nil // the kernel drops such a list
			}
			start := int64(g.Offset(agno, block))
			off := start + int64(agino)&(1<<g.InodeBlockLog()-1)<<g.InodeLog
			r.cache.letGo()
			b, err := r.cache.peek(off, int(g.InodeSize), start, int(g.BlockSize))
			if err != nil {
				return fmt.Errorf("AG %d: unlinked inodes: %w", agno, err)
			}
			in, ok := ondisk.DecodeInode(b)
			if !ok {
				return nil
			}
			agino = in.NextUnlinked
		}
	}
	return nil
}

// staging counts the extents that were set aside for copies on write. They are
// the last in the refcount btree.
func (r *recoverer) staging(agno geometry.AGNumber, agf *ondisk.AGF) error {
	g := &r.fs.Geometry
	agbno, level := agf.RefcountRoot, int(agf.RefcountLevel)
	for ; level > 0; level-- {
		if geometry.Blocks(agbno) >= g.AGLength(agno) {
			return fmt.Errorf("%w: AG %d: the refcount btree leads to block %d", ErrRefused, agno, agbno)
		}
		b, err := r.cache.get(int64(g.Offset(agno, geometry.AGBlock(agbno))), int(g.BlockSize))
		if err != nil {
			return fmt.Errorf("AG %d: refcount btree: %w", agno, err)
		}
		h, ok := ondisk.DecodeBtreeBlock(b.Data, true)
		body := b.Data[ondisk.BtreeHeader:]
		n := int(h.Records)
		if !ok || h.Magic != ondisk.RefcountMagic || int(h.Level) != level-1 ||
			n > len(body)/ondisk.RefcountRecordSize || level > 1 && (n == 0 || n > ondisk.NodeCapacity(len(body), refcountKey)) {
			return fmt.Errorf("%w: AG %d: the block of the refcount btree at byte %d makes no sense", ErrRefused, agno, b.Off)
		}
		if level > 1 {
			agbno = ondisk.NodePointer(body, ondisk.NodeCapacity(len(body), refcountKey), refcountKey, n-1)
			continue
		}
		for i := n - 1; i >= 0; i-- {
			if ondisk.DecodeRefcountRecord(body[i*ondisk.RefcountRecordSize:]).Start&ondisk.RefcountCow == 0 {
				return nil
			}
			r.report.Remains.Staging++
		}
	}
	return nil
}

// refcountKey is the length of a key of the refcount btree.
const refcountKey = 4
