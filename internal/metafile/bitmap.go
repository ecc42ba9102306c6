package metafile

import (
	"math/bits"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// content writes a block of a file into zeros: its block offset, which is at a place.
type content func(fs *live.FS, f *file, offset geometry.Blocks, at geometry.FSBlock, dst []byte)

// rtPayload writes the header of a block of bitmap or summary, if they have
// any, and returns the place of the words.
func rtPayload(fs *live.FS, f *file, magic uint32, at geometry.FSBlock, dst []byte) []byte {
	if !fs.G.Features.Metadir {
		return dst
	}
	h := ondisk.RTBlock{
		Magic: magic, Owner: uint64(f.ip.Ino), UUID: fs.UUID, Blkno: uint64(fs.G.Daddr(fs.G.BlockAddress(at))),
	}
	h.Put(dst)
	return dst[ondisk.RTBlockHeader:]
}

func sealRT(fs *live.FS, dst []byte) {
	if fs.G.Features.Metadir {
		ondisk.Seal(dst, ondisk.RTBlockCRC)
	}
}

// freeRun is the free allocation units that a bitmap is for: all but that of
// the section's superblock.
func freeRun(g *geometry.Geometry, group geometry.GroupNumber) (first, end uint64) {
	if !g.Features.Metadir {
		return 0, g.RT.Extents()
	}
	if group == 0 {
		first = 1
	}
	return first, g.RT.ExtentsOf(group)
}

// bitmapBlock has a bit for each free allocation unit.
func bitmapBlock(fs *live.FS, f *file, offset geometry.Blocks, at geometry.FSBlock, dst []byte) {
	const wordBits = 8 * ondisk.RTWordSize
	words := rtPayload(fs, f, ondisk.RTBitmapMagic, at, dst)
	first, end := freeRun(fs.G, f.group)
	bit := uint64(offset) * uint64(len(words)) * 8
	for ; len(words) > 0 && bit < end; words, bit = words[ondisk.RTWordSize:], bit+wordBits {
		word := ^uint32(0)
		if bit < first {
			word <<= first - bit
		}
		if end-bit < wordBits {
			word &= 1<<(end-bit) - 1
		}
		ondisk.PutRTWord(words, word, fs.G.Features.Metadir)
	}
	sealRT(fs, dst)
}

// summaryBlock counts, for each block of the bitmap and each power of two, the
// free runs that begin there and are that long: there is one.
func summaryBlock(fs *live.FS, f *file, offset geometry.Blocks, at geometry.FSBlock, dst []byte) {
	words := rtPayload(fs, f, ondisk.RTSummaryMagic, at, dst)
	if first, end := freeRun(fs.G, f.group); first < end {
		log := uint64(bits.Len64(end-first) - 1)
		perBlock := uint64(len(words) / ondisk.RTWordSize)
		if word := log * uint64(fs.G.RT.BitmapBlocks); word/perBlock == uint64(offset) {
			ondisk.PutRTWord(words[word%perBlock*ondisk.RTWordSize:], 1, fs.G.Features.Metadir)
		}
	}
	sealRT(fs, dst)
}
