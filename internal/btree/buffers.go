package btree

import (
	"errors"
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// buffers are the blocks of a kind of tree, in V4 or V5.
type buffers struct {
	kind   buffer.Kind // what the cache knows
	magic  uint32
	form   *ondisk.BtreeForm
	blocks [maxBlockLog + 1 - minBlockLog]layouts // of each size
}

// Blocks are of 512 bytes to 64 KiB; tests have smaller ones.
const minBlockLog, maxBlockLog = 7, 16

// Faults of blocks.
var (
	errChecksum = errors.New("the checksum is wrong")
	errMagic    = errors.New("it is no block of this tree: the magic number is wrong")
	errBlkno    = errors.New("it is another block: its address is wrong")
)

// MaxLevels is more than any tree has: those of owners in an AG of 1 TiB, of
// blocks of 1 KiB with 10 pointers at least, may have 11.
const MaxLevels = 12

// newBuffers makes the row of a kind of tree in V4 or V5.
func newBuffers(k *Kind, v5 bool) buffers {
	b := buffers{magic: k.MagicV4, form: formOf(k.Long, v5)}
	for i := range b.blocks {
		b.blocks[i] = newLayouts(k, b.form, 1<<(minBlockLog+i))
	}
	b.kind.Name = k.Name
	if v5 {
		b.magic = k.Magic
		crc := b.form.CRC
		b.kind.Seal = func(data []byte) { ondisk.Seal(data, crc) }
	}
	magic, form, leafSize, nodeSize := b.magic, b.form, k.Record, k.Key+b.form.Pointer
	b.kind.Check = func(data []byte, off int64) error {
		if ondisk.BtreeMagicOf(data) != magic {
			return errMagic
		}
		if v5 && !ondisk.Sealed(data, form.CRC) {
			return errChecksum
		}
		if v5 && form.Blkno(data) != uint64(off)/geometry.BasicBlock {
			return errBlkno
		}
		level, n, size := ondisk.BtreeLevel(data), ondisk.BtreeRecords(data), leafSize
		if level >= MaxLevels {
			return fmt.Errorf("level %d is more than any tree has", level)
		}
		if level > 0 {
			size = nodeSize
		}
		if most := (len(data) - form.Header) / size; n > most {
			return fmt.Errorf("it has %d entries, and room for %d", n, most)
		}
		return nil
	}
	return b
}

func formOf(long, v5 bool) *ondisk.BtreeForm {
	switch {
	case long && v5:
		return &ondisk.LongBtreeV5
	case long:
		return &ondisk.LongBtreeV4
	case v5:
		return &ondisk.ShortBtreeV5
	}
	return &ondisk.ShortBtreeV4
}

// Buffer is what the cache knows of the blocks of a kind of tree, in V4 or V5.
func (k *Kind) Buffer(v5 bool) *buffer.Kind { return &k.buffers(v5).kind }

func (k *Kind) buffers(v5 bool) *buffers {
	if v5 {
		return &k.v5
	}
	return &k.v4
}
