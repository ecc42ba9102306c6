package aginit

import (
	"math/bits"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// rtPayload writes the header of a block of bitmap or summary, if they have
// any, and returns the place of the words.
func (b *Builder) rtPayload(f *geometry.File, magic uint32, at geometry.FSBlock, dst []byte) []byte {
	if !b.g.Features.Metadir {
		return dst
	}
	h := ondisk.RTBlock{
		Magic: magic, Owner: uint64(f.Inode), UUID: b.id.UUID,
		Blkno: uint64(b.g.Daddr(b.g.BlockAddress(at))),
	}
	h.Put(dst)
	return dst[ondisk.RTBlockHeader:]
}

func (b *Builder) sealRT(dst []byte) {
	if b.g.Features.Metadir {
		ondisk.Seal(dst, ondisk.RTBlockCRC)
	}
}

// freeRun is the free allocation units that a bitmap is for: all but that of
// the section's superblock.
func (b *Builder) freeRun(f *geometry.File) (first, end uint64) {
	r := &b.g.RT
	if !b.g.Features.Metadir {
		return 0, r.Extents()
	}
	if f.Group == 0 {
		first = 1
	}
	return first, r.ExtentsOf(f.Group)
}

// bitmapBlock has a bit for each free allocation unit.
func (b *Builder) bitmapBlock(f *geometry.File, offset geometry.Blocks, at geometry.FSBlock, dst []byte) {
	const wordBits = 8 * ondisk.RTWordSize
	words := b.rtPayload(f, ondisk.RTBitmapMagic, at, dst)
	first, end := b.freeRun(f)
	bit := uint64(offset) * uint64(len(words)) * 8
	for ; len(words) > 0 && bit < end; words, bit = words[ondisk.RTWordSize:], bit+wordBits {
		word := ^uint32(0)
		if bit < first {
			word <<= first - bit
		}
		if end-bit < wordBits {
			word &= 1<<(end-bit) - 1
		}
		ondisk.PutRTWord(words, word, b.g.Features.Metadir)
	}
	b.sealRT(dst)
}

// summaryBlock counts, for each block of the bitmap and each power of two, the
// free runs that begin there and are that long: there is one.
func (b *Builder) summaryBlock(f *geometry.File, offset geometry.Blocks, at geometry.FSBlock, dst []byte) {
	words := b.rtPayload(f, ondisk.RTSummaryMagic, at, dst)
	if first, end := b.freeRun(f); first < end {
		log := uint64(bits.Len64(end-first) - 1)
		perBlock := uint64(len(words) / ondisk.RTWordSize)
		if word := log * uint64(b.g.RT.BitmapBlocks); word/perBlock == uint64(offset) {
			ondisk.PutRTWord(words[word%perBlock*ondisk.RTWordSize:], 1, b.g.Features.Metadir)
		}
	}
	b.sealRT(dst)
}
