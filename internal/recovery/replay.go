package recovery

import (
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/super"
	"mkfs/internal/xlog"
)

// replay is what the passes over the log know.
type replay struct {
	fs    *super.Filesystem
	cache *blocks
	depth int
	size  int64    // of the device
	head  xlog.LSN // of the log, which no block can be ahead of
	stats *Stats

	cancelled map[span]int // blocks that are freed in the part of the log that is yet to come
	parts     map[span]int // of directory blocks, that would be replayed; where in the log
	quotaOff  map[ondisk.BufferFlags]bool
	dquotOff  ondisk.DquotType
	promises  map[promiseKey][]byte // descriptions of the intents

	queue   []*item // committed, in order
	started int     // items of the queue whose blocks are being read, or are there
	lsn     xlog.LSN
	scratch []byte // for an inode
}

// newReplay knows nothing yet of a filesystem on a device of size bytes,
// and a log with a head.
func newReplay(fs *super.Filesystem, cache *blocks, depth int, size int64, head xlog.LSN) *replay {
	cache.stats.Items = map[string]int64{}
	return &replay{
		fs: fs, cache: cache, depth: depth, size: size, head: head, stats: &cache.stats,
		cancelled: map[span]int{}, parts: map[span]int{},
		quotaOff: map[ondisk.BufferFlags]bool{}, promises: map[promiseKey][]byte{},
	}
}

// replay does the two passes.
func (r *recoverer) replay() error {
	p := newReplay(r.fs, r.cache, r.Depth, r.Data.Size, r.report.Log.HeadLSN())
	err := r.pass(0, p.firstPass)
	if err == nil {
		err = p.checkParts()
	}
	if err == nil {
		err = r.pass(1, p.secondPass)
	}
	if err == nil {
		err = p.drain(0)
	}
	if err != nil {
		return err
	}
	p.cache.endCheckpoint()
	r.fs = p.fs
	for k := range p.promises {
		if r.report.Remains.Intents == nil {
			r.report.Remains.Intents = map[string]int64{}
		}
		r.report.Remains.Intents[k.work.name]++
	}
	return nil
}

// passes is how often the log is gone through.
const passes = 2

// pass hands the transactions between the log's tail and its head on.
func (r *recoverer) pass(number int64, commit func(*transaction) error) error {
	state := &r.report.Log
	a := newAssembler(commit)
	total := int64(r.fs.Log().Blocks)
	if state.Head > state.Tail {
		total = 0
	}
	total += int64(state.Head - state.Tail)
	done := number * total
	r.cache.stats.Records = 0
	for rec, err := range r.log.Records(state.Tail, state.Head) {
		if err == nil {
			err = r.ctx.Err()
		}
		if err == nil {
			err = r.log.Open(rec)
		}
		if err == nil {
			err = a.add(rec)
		}
		if err != nil {
			return err
		}
		r.cache.stats.Records++
		done += int64(rec.Blocks())
		r.Progress(done*xlog.BlockSize, passes*total*xlog.BlockSize)
	}
	return nil
}

func (p *replay) firstPass(t *transaction) error {
	for _, it := range t.ordered() {
		if it.kind.first == nil {
			continue
		}
		if err := it.kind.first(p, it); err != nil {
			return err
		}
	}
	return nil
}

// secondPass queues the items of a transaction, and replays what is far enough
// ahead of them.
func (p *replay) secondPass(t *transaction) error {
	p.stats.Transactions++
	for _, it := range t.ordered() {
		p.stats.Items[it.kind.name]++
		p.queue = append(p.queue, it)
	}
	return p.drain(p.window())
}

// aheadOf is how many items there are in the queue for each read in flight.
// What is changed together is often in one block: a block of inodes is 32 items
// if all of them were changed.
const aheadOf = 64

// maxWindow bounds the items in the queue, and with them the records that they
// are in.
const maxWindow = 16 << 10

// window is how many items there may be in the queue.
func (p *replay) window() int { return min(aheadOf*p.depth, max(maxWindow, p.depth)) }

// drain replays items until no more than a number of them are queued.
func (p *replay) drain(keep int) error {
	for len(p.queue) > keep {
		if err := p.readAhead(); err != nil {
			return err
		}
		it := p.queue[0]
		p.queue[0] = nil
		p.queue = p.queue[1:]
		p.started = max(0, p.started-1)
		if err := p.item(it); err != nil {
			return err
		}
	}
	return p.readAhead()
}

// readAhead starts to read the blocks of items in the queue, as long as the
// ring and the cache have room.
func (p *replay) readAhead() error {
	window := min(len(p.queue), p.window())
	for ; p.started < window; p.started++ {
		it := p.queue[p.started]
		if it.kind.place == nil {
			continue
		}
		off, n, ok := it.kind.place(p, it)
		if !ok {
			continue
		}
		if room, err := p.cache.Ahead(off, n); err != nil || !room {
			return err
		}
	}
	return nil
}

// item replays one item. Those of several transactions may bear the number of
// one record, and only when the last of them is done is a block up to that.
func (p *replay) item(it *item) error {
	if it.lsn != p.lsn {
		p.cache.endCheckpoint()
		p.lsn = it.lsn
	}
	if it.kind.second == nil {
		return nil
	}
	p.cache.letGo()
	return it.kind.second(p, it)
}

// wanted is where a block is, unless it is no block or will not be replayed.
func (p *replay) wanted(s span) (off int64, n int, ok bool) {
	if p.cancelled[s] > 0 || p.checkSpan(s) != "" {
		return 0, 0, false
	}
	return s.daddr * xlog.BlockSize, s.length * xlog.BlockSize, true
}

// checkSpan says what is wrong with the place of a block.
func (p *replay) checkSpan(s span) string {
	g := &p.fs.Geometry
	sector := int64(g.SectorSize / geometry.BasicBlock)
	end := int64(g.Bytes(g.Blocks) / geometry.BasicBlock)
	switch {
	case s.length <= 0 || s.length > buffer.MaxBlock/xlog.BlockSize || int64(s.length)%sector != 0:
		return fmt.Sprintf("a block of %d bytes", s.length*xlog.BlockSize)
	case s.daddr < 0 || s.daddr%sector != 0 || s.daddr > end-int64(s.length):
		return fmt.Sprintf("a block at daddr %d of %d", s.daddr, end)
	}
	return ""
}

// block returns the block that an item is about.
func (p *replay) block(it *item, s span) (*buffer.Buf, error) {
	if text := p.checkSpan(s); text != "" {
		return nil, corrupt(it.block, "%s", text)
	}
	b, err := p.cache.get(s.daddr*xlog.BlockSize, s.length*xlog.BlockSize)
	if err != nil {
		return nil, fmt.Errorf("log block %d: replaying: %w", it.block, err)
	}
	return b, nil
}

// superblockReplayed takes what has changed with the primary superblock: the
// filesystem may have grown.
func (p *replay) superblockReplayed(it *item, b *buffer.Buf) error {
	sealed := append([]byte(nil), b.Data...)
	if p.fs.V5 {
		ondisk.Seal(sealed, ondisk.SuperblockCRC)
	}
	fs, err := readSuperblock(sealed, p.size)
	if err != nil {
		return corrupt(it.block, "replaying the superblock: %v", err)
	}
	if fs.Geometry.AGCount < p.fs.Geometry.AGCount {
		return corrupt(it.block, "the superblock has %d AGs, fewer than %d before", fs.Geometry.AGCount,
			p.fs.Geometry.AGCount)
	}
	p.fs = fs
	return nil
}
