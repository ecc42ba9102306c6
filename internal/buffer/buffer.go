package buffer

import (
	"errors"
	"fmt"
	"math"

	"mkfs/internal/delwri"
)

// MaxBlock is the length of the longest block there is, in bytes.
const MaxBlock = 64 << 10

// Ring is what a Cache needs below it; aio.Ring is one.
type Ring interface {
	delwri.Writer
	// Read is Write for filling vec.
	Read(off int64, vec [][]byte, done func(error)) error
}

// Kind says what a block is. Blocks of a kind are known by its address.
type Kind struct {
	Name string // for messages: "bnobt"
	// Check tells what is wrong with a block that comes from disk; nil for a
	// kind that nothing can be told of.
	Check func(data []byte, off int64) error
	// Seal puts the checksum in, just before a block goes to disk; nil for a
	// kind that has none.
	Seal func(data []byte)
}

// Buf is a block in memory. Off and Data do not change while it is pinned.
type Buf struct {
	Off  int64 // bytes from the start of the device
	Data []byte
	Kind *Kind

	pins      int
	pending   int   // reads of it that are in flight
	err       error // of those
	unchecked bool  // it comes from disk and nobody has looked
	gone      bool  // forgotten, evicted, or displaced

	used    int64 // tick at which it was last put in front of all others
	changed int64 // tick of the last change that is not issued; -1 for none
	older   *Buf  // by use
	newer   *Buf

	frame frame
	first part
	more  *spread // nil for a block in one place
}

// part is a block, or the part of one that is in one place.
type part struct {
	delwri.Buffer
	buf        *Buf
	chain      *part // of those with the same hash
	prev, next *part // of those that begin in the same region
}

// spread is what a block in several places has more.
type spread struct {
	parts []*part // all of them
	copy  []byte  // that was sealed last
	round int64   // when it was
}

// Span is a place on the device.
type Span struct {
	Off int64
	Len int
}

// Dirty tells whether the block has changes that were not issued.
func (b *Buf) Dirty() bool {
	for i := range b.count() {
		if b.part(i).Queued() {
			return true
		}
	}
	return false
}

// Gone tells whether the block is not in the cache any more.
func (b *Buf) Gone() bool { return b.gone }

// count and part give the parts of a block.
func (b *Buf) count() int {
	if b.more == nil {
		return 1
	}
	return len(b.more.parts)
}

func (b *Buf) part(i int) *part {
	if i == 0 {
		return &b.first
	}
	return b.more.parts[i]
}

// When changes are written.
const (
	// AtOnce writes what an operation has changed at its end.
	AtOnce = -1
	// AtEnd writes when memory is short, and in the end.
	AtEnd = math.MaxInt64
	// DefaultAge is enough for a cluster of inodes and a directory block to be filled
	// by operations that take turns in some hundred directories.
	DefaultAge = 32 << 10
)

// Defaults of a Config.
const (
	DefaultLimit = 64 << 20
	DefaultBatch = 1 << 20
)

// slabs is how many take turns: one is filled, the others are in flight.
const slabs = 4

// Config of a Cache. The zero value is good.
type Config struct {
	Device string // for messages
	Limit  int64  // bytes of blocks in memory; 0 for DefaultLimit
	// Age is after how many ticks a change is old: AtOnce, AtEnd, or a number; 0 for DefaultAge.
	Age int64
	// Batch is how many bytes of old blocks are written together, MaxBlock at least; 0 for
	// DefaultBatch. Besides the Limit there are four times as many bytes of copies.
	Batch int
	// Depth is how many blocks are being read ahead at most; 0 for no bound.
	Depth int
	// ReadOnly keeps what is changed in memory; if that is short it is ErrFull.
	ReadOnly bool
	// Stream lets blocks that are read ahead take the place of those that were not used for longest:
	// for who goes through more than fits, and reads no further ahead than a part of that.
	Stream bool
	// Memory gives slabs that are fit for IO, aligned to a page, and functions to release
	// them; nil for memory of the heap.
	Memory func(size int) (slab []byte, release func() error, err error)
	// Place names the AG of a byte, for messages; nil for none.
	Place func(off int64) int64
	// Seen is told of each place that a block in memory is of. It may be nil.
	Seen func(off int64, n int)
}

// ErrFull says that what was changed has no room in memory, and may not be written.
var ErrFull = errors.New("too much to be kept in memory")

// Stats counts what a Cache has done.
type Stats struct {
	Reads    int64 // of blocks, ahead or when they were wanted
	Changes  int64 // of a block by an operation, however often it says so
	Writes   int64 // of a block
	Bytes    int64 // written
	Requests int64 // of the ring, for those, after merging
	Promoted int64 // blocks written before they were old, for their memory or their place
	Evicted  int64 // blocks
	Reread   int64 // blocks that had been evicted; a few may be missed
}

// Saved is how many changes were not written, as a later one of the same block was. It
// counts those that still wait.
func (s Stats) Saved() int64 { return s.Changes - s.Writes }

// Cache holds blocks.
type Cache struct {
	ring Ring
	cfg  Config
	list *delwri.List
	now  int64 // ticks
	err  error // the first of a write; nothing goes on after it

	index   index
	pool    pool
	bytes   int64 // of frames
	reading int   // reads in flight
	lru     Buf   // older is the most recently used, newer the least
	evicted *[4096]int64

	least    int64 // bytes that are worth a batch
	flushing bool  // blocks are issued as they are, pinned or not
	slabs    [slabs]copies
	turn     int   // of the slabs
	full     bool  // what is issued does not fit the slab
	round    int64 // counts issues

	stats Stats
}

// New makes an empty cache.
func New(ring Ring, cfg Config) *Cache {
	if cfg.Limit == 0 {
		cfg.Limit = DefaultLimit
	}
	if cfg.Batch == 0 {
		cfg.Batch = DefaultBatch
	}
	cfg.Batch = max(cfg.Batch, MaxBlock)
	if cfg.Age == 0 {
		cfg.Age = DefaultAge
	}
	if cfg.Memory == nil {
		cfg.Memory = func(size int) ([]byte, func() error, error) {
			return make([]byte, size), func() error { return nil }, nil
		}
	}
	c := &Cache{ring: ring, cfg: cfg, least: int64(cfg.Batch)}
	if cfg.Age == AtOnce {
		c.least = 1
	}
	c.list = delwri.NewList(ring, delwri.Config{Device: cfg.Device, Age: max(0, cfg.Age), Take: c.take})
	c.lru.older, c.lru.newer = &c.lru, &c.lru
	c.index.init()
	c.pool.get = cfg.Memory
	return c
}

// Stats returns the counts so far.
func (c *Cache) Stats() Stats {
	s := c.stats
	l := c.list.Stats()
	s.Bytes, s.Requests = l.Bytes, l.Requests
	return s
}

// Issued counts what the delayed-write list has issued.
func (c *Cache) Issued() delwri.Stats { return c.list.Stats() }

// Reading is how many reads are in flight, and Bytes how many bytes of blocks are in memory.
func (c *Cache) Reading() int { return c.reading }
func (c *Cache) Bytes() int64 { return c.bytes }

// Release waits for all that is in flight and gives the memory back. The cache must
// not be used afterwards, nor any block. What is dirty is lost.
func (c *Cache) Release() error {
	const all = 1 << 30
	for c.reading > 0 || c.list.Done() < c.list.Issued() {
		_ = c.ring.Reap(all) // it completes whatever there is, with errors or without
	}
	var errs []error
	for i := range c.slabs {
		if s := &c.slabs[i]; s.release != nil {
			errs = append(errs, s.release())
		}
	}
	return errors.Join(append(errs, c.pool.release())...)
}

// place says what a block is, for messages.
func (c *Cache) place(off int64, k *Kind) delwri.Place {
	p := delwri.Place{AG: -1}
	if c.cfg.Place != nil {
		p.AG = c.cfg.Place(off)
	}
	if k != nil {
		p.Name = k.Name
	}
	return p
}

// faulty is an error about a block.
func (c *Cache) faulty(off int64, k *Kind, err error) error {
	return fmt.Errorf("%s at byte %d: %w", c.place(off, k), off, err)
}
