package rescue

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/recovery"
	"mkfs/internal/super"
)

// space is the free space of a filesystem.
type space struct {
	free  []recovery.Span // runs of least bytes or more
	notes []string        // about AGs of which nothing is certain
}

// group is an AG whose btrees are being read.
type group struct {
	no      geometry.AGNumber
	agf     ondisk.AGF
	pending int // blocks that are to be read
	visited geometry.Blocks
	fault   string // the first one
	extents []ondisk.AllocRecord
	bno     tally
	cnt     tally
}

// tally is what the records of a btree come to, in whatever order they are read.
type tally struct {
	records, blocks uint64
	mix             uint64
}

func (t *tally) add(e ondisk.AllocRecord) {
	t.records++
	t.blocks += uint64(e.Blocks)
	h := (uint64(e.Start)<<32 | uint64(e.Blocks)) * 0x9e3779b97f4a7c15
	t.mix += h ^ h>>29
}

// blockOf is a block that is to be read: one of a btree, or an AGF's sector.
type blockOf struct {
	g     *group
	agbno geometry.AGBlock
	tree  ondisk.BtreeMagic // BnoMagic or CntMagic, of V4 too; 0 for the AGF
	level uint32            // of the block; leaves are 0
}

// walker goes through the free space btrees of all AGs, many blocks at a time.
type walker struct {
	ctx  context.Context
	fs   *super.Filesystem
	view *recovery.View
	r    *reader
	todo []blockOf
	next geometry.AGNumber
	space
}

// freeSpace finds the free space as it is once the log is replayed.
func freeSpace(ctx context.Context, opts *recovery.Options, v *recovery.View) (*space, error) {
	w := &walker{ctx: ctx, fs: v.FS, view: v, r: newReader(&opts.Data, opts, opts.Depth)}
	defer w.r.release()
	for {
		if err := w.fill(); err != nil {
			return nil, err
		}
		if w.r.flying == 0 && len(w.r.done) == 0 {
			return &w.space, nil
		}
		s, err := w.r.next()
		if err != nil {
			return nil, err
		}
		w.view.Overlay(s.data, s.off)
		w.take(s.of.(blockOf), s.data)
		w.r.giveBack(s)
	}
}

// fill starts as many reads as there is room for: blocks of AGs that were
// begun first, so that few are open at a time.
func (w *walker) fill() error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	geo := &w.fs.Geometry
	for w.r.room() {
		switch n := len(w.todo) - 1; {
		case n >= 0:
			b := w.todo[n]
			w.todo = w.todo[:n]
			if err := w.r.start(int64(geo.Offset(b.g.no, b.agbno)), int(geo.BlockSize), b); err != nil {
				return err
			}
		case w.next < geo.AGCount:
			g := &group{no: w.next, pending: 1}
			w.next++
			if err := w.r.start(int64(geo.Offset(g.no, 0)+geo.SectorSize), int(geo.SectorSize), blockOf{g: g}); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// take looks at a block that was read.
func (w *walker) take(b blockOf, data []byte) {
	g := b.g
	g.pending--
	if g.fault == "" {
		if b.tree == 0 {
			w.takeAGF(g, data)
		} else {
			w.takeBlock(b, data)
		}
	}
	if g.pending == 0 {
		w.settle(g)
	}
}

// want queues a block of a btree.
func (w *walker) want(g *group, tree ondisk.BtreeMagic, agbno, level uint32) {
	length := w.fs.Geometry.AGLength(g.no)
	g.visited++
	if geometry.Blocks(agbno) < w.fs.Geometry.SectorBlocks() || geometry.Blocks(agbno) >= length || g.visited > length {
		g.fault = fmt.Sprintf("a btree leads to block %d", agbno)
		return
	}
	g.pending++
	w.todo = append(w.todo, blockOf{g, geometry.AGBlock(agbno), tree, level})
}

// maxLevels is more than a free space btree ever has.
const maxLevels = 16

func (w *walker) takeAGF(g *group, data []byte) {
	a, ok := ondisk.DecodeAGF(data)
	switch {
	case !ok, ondisk.AGVersion(data) != 1:
		g.fault = "there is no AGF"
	case w.fs.V5 && !ondisk.Sealed(data, ondisk.AGFCRC):
		g.fault = "AGF: " + super.BadChecksum
	case w.fs.V5 && a.UUID != w.fs.MetaUUID:
		g.fault = "the AGF is of another filesystem"
	case a.Seqno != uint32(g.no), geometry.Blocks(a.Length) != w.fs.Geometry.AGLength(g.no):
		g.fault = fmt.Sprintf("the AGF is of AG %d and %d blocks", a.Seqno, a.Length)
	case a.BnoLevel < 1, a.BnoLevel > maxLevels, a.CntLevel < 1, a.CntLevel > maxLevels:
		g.fault = fmt.Sprintf("the AGF has btrees of %d and %d levels", a.BnoLevel, a.CntLevel)
	default:
		g.agf = a
		w.want(g, ondisk.BnoMagic, a.BnoRoot, a.BnoLevel-1)
		w.want(g, ondisk.CntMagic, a.CntRoot, a.CntLevel-1)
	}
}

// v4Magics are the magic numbers of V4.
var v4Magics = map[ondisk.BtreeMagic]ondisk.BtreeMagic{ondisk.BnoMagic: ondisk.BnoMagicV4,
	ondisk.CntMagic: ondisk.CntMagicV4}

// takeBlock takes records or pointers of a block of a btree.
func (w *walker) takeBlock(b blockOf, data []byte) {
	g := b.g
	h, ok := ondisk.DecodeBtreeBlock(data, w.fs.V5)
	magic, body := b.tree, data[ondisk.BtreeHeaderV4:]
	if w.fs.V5 {
		body = data[ondisk.BtreeHeader:]
	} else {
		magic = v4Magics[b.tree]
	}
	most := len(body) / ondisk.AllocRecordSize
	if b.level > 0 {
		most = ondisk.NodeCapacity(len(body), ondisk.AllocRecordSize)
	}
	root := b.tree == ondisk.BnoMagic && uint32(b.agbno) == g.agf.BnoRoot || b.tree == ondisk.CntMagic &&
		uint32(b.agbno) == g.agf.CntRoot
	switch v5 := w.fs.V5; {
	case !ok || h.Magic != magic || uint32(h.Level) != b.level,
		int(h.Records) > most, h.Records == 0 && !(root && b.level == 0),
		v5 && h.Blkno != uint64(w.fs.Geometry.Daddr(g.no, b.agbno)), v5 && h.Owner != uint32(g.no),
		v5 && h.UUID != w.fs.MetaUUID, v5 && !ondisk.Sealed(data, ondisk.BtreeCRC):
		g.fault = fmt.Sprintf("block %d is none of its free space btree", b.agbno)
		return
	}
	for i := range int(h.Records) {
		if b.level > 0 {
			w.want(g, b.tree, ondisk.NodePointer(body, most, ondisk.AllocRecordSize, i), b.level-1)
			continue
		}
		e := ondisk.DecodeAllocRecord(body[i*ondisk.AllocRecordSize:])
		if b.tree == ondisk.CntMagic {
			g.cnt.add(e)
			continue
		}
		g.bno.add(e)
		g.extents = append(g.extents, e)
	}
}

// settle ends an AG: all blocks of its btrees have been read, or one is faulty.
func (w *walker) settle(g *group) {
	if g.fault == "" {
		g.fault = w.check(g)
	}
	if g.fault != "" {
		w.notes = append(w.notes, fmt.Sprintf("AG %d is copied as a whole, free space too: %s", g.no, g.fault))
		return
	}
	geo := &w.fs.Geometry
	for _, e := range g.extents {
		if n := geo.Bytes(geometry.Blocks(e.Blocks)); n >= least {
			w.free = append(w.free, recovery.Span{Off: int64(geo.Offset(g.no, geometry.AGBlock(e.Start))), Len: int64(n)})
		}
	}
}

// check wants the records to be what the AGF says, and both btrees to agree.
func (w *walker) check(g *group) string {
	slices.SortFunc(g.extents, func(a, b ondisk.AllocRecord) int { return cmp.Compare(a.Start, b.Start) })
	end, longest := uint64(w.fs.Geometry.SectorBlocks()), uint32(0)
	for _, e := range g.extents {
		if uint64(e.Start) < end || e.Blocks == 0 {
			return fmt.Sprintf("a free extent begins at block %d, before the end of the one before it", e.Start)
		}
		end = uint64(e.Start) + uint64(e.Blocks)
		longest = max(longest, e.Blocks)
	}
	switch {
	case end > uint64(w.fs.Geometry.AGLength(g.no)):
		return fmt.Sprintf("a free extent ends at block %d, behind its end", end)
	case g.bno != g.cnt:
		return "the free extents by place and those by size are not the same"
	case g.bno.blocks != uint64(g.agf.FreeBlocks), longest != g.agf.Longest:
		return fmt.Sprintf("it has %d free blocks and %d in one piece, its AGF says %d and %d", g.bno.blocks, longest,
			g.agf.FreeBlocks, g.agf.Longest)
	}
	return ""
}
