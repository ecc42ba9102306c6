// Package buffer is a cache of metadata blocks by their place on the device. It
// is the only reader and writer of metadata of a filesystem that is worked on.
package buffer

import (
	"fmt"

	"mkfs/internal/delwri"
)

// Ring is what a Cache needs below it; aio.Ring is one.
type Ring interface {
	delwri.Writer
	// Read is Write for filling vec.
	Read(off int64, vec [][]byte, done func(error)) error
}

// Kind says what a block is.
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

	dirty bool
	pins  int
}

// Config of a Cache.
type Config struct {
	Device string // for messages
	Limit  int64  // bytes of blocks in memory
	// Place names the AG of a byte, for messages.
	Place func(off int64) int64
}

// Cache holds blocks. It has one owner and does no locking.
type Cache struct {
	ring   Ring
	cfg    Config
	frames map[int64]*Buf
}

// New makes an empty cache.
func New(ring Ring, cfg Config) *Cache {
	return &Cache{ring: ring, cfg: cfg, frames: map[int64]*Buf{}}
}

// Get returns the block of n bytes at a place, from disk if it has to, pinned.
func (c *Cache) Get(off int64, n int, k *Kind) (*Buf, error) {
	b := c.frames[off]
	if b == nil {
		b = c.add(off, n, k)
		err := error(nil)
		pending := true
		if err := c.ring.Read(off, [][]byte{b.Data}, func(e error) { err, pending = e, false }); err != nil {
			return nil, err
		}
		for pending {
			if err := c.ring.Reap(1); err != nil {
				return nil, err
			}
		}
		if err == nil && k.Check != nil {
			err = k.Check(b.Data, off)
		}
		if err != nil {
			delete(c.frames, off)
			return nil, fmt.Errorf("%s at byte %d: %w", k.Name, off, err)
		}
	}
	if len(b.Data) != n {
		panic(fmt.Sprintf("buffer: %d bytes at byte %d, where a block has %d", n, off, len(b.Data)))
	}
	b.pins++
	return b, nil
}

// Fresh returns the block of n bytes at a place with nothing but zeros in it,
// pinned. It is not read.
func (c *Cache) Fresh(off int64, n int, k *Kind) (*Buf, error) {
	b := c.frames[off]
	if b == nil || len(b.Data) != n {
		b = c.add(off, n, k)
	}
	clear(b.Data)
	b.Kind = k
	b.pins++
	return b, nil
}

func (c *Cache) add(off int64, n int, k *Kind) *Buf {
	b := &Buf{Off: off, Data: make([]byte, n), Kind: k}
	c.frames[off] = b
	return b
}

// Dirty says that a pinned block was changed, or is about to be. It is written
// some time after it is unpinned.
func (c *Cache) Dirty(b *Buf) { b.dirty = true }

// Unpin lets go of a block.
func (c *Cache) Unpin(b *Buf) { b.pins-- }

// Forget drops a block that is freed: what was changed in it is not written.
func (c *Cache) Forget(off int64) { delete(c.frames, off) }

// Tick says that an operation has ended; every changed block is one tick older.
func (c *Cache) Tick() error { return nil }

// Flush writes what was changed and waits for it.
func (c *Cache) Flush() error {
	list := delwri.NewList(c.ring, delwri.Config{Device: c.cfg.Device})
	for _, b := range c.frames {
		if !b.dirty {
			continue
		}
		if b.Kind.Seal != nil {
			b.Kind.Seal(b.Data)
		}
		b.dirty = false
		list.Add(&delwri.Buffer{Off: b.Off, Data: b.Data, Place: delwri.Place{AG: c.cfg.Place(b.Off), Name: b.Kind.Name}})
	}
	return list.Submit()
}
