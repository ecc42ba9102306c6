package alloc

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// filesystems are those that the rules differ for.
var filesystems = []struct {
	name string
	ask  func(*geometry.Spec)
}{
	{"plain", nil},
	{"small blocks", func(s *geometry.Spec) { s.BlockSize = geometry.Given[int64](1024) }},
	{"large blocks", func(s *geometry.Spec) { s.BlockSize = geometry.Given[int64](65536) }},
	{"large sectors", func(s *geometry.Spec) { s.SectorSize = geometry.Given[int64](4096) }},
	{"no rmapbt", func(s *geometry.Spec) { s.Features.Rmapbt = geometry.Given(false) }},
	{"no reflink", func(s *geometry.Spec) { s.Features.Reflink = geometry.Given(false) }},
	{"V4", func(s *geometry.Spec) { s.Features.CRC = geometry.Given(false) }},
	{"V4, 512", func(s *geometry.Spec) {
		s.Features.CRC = geometry.Given(false)
		s.BlockSize = geometry.Given[int64](512)
	}},
	{"striped", func(s *geometry.Spec) {
		s.Data.StripeUnit512 = geometry.Given[int64](2048)
		s.Data.StripeWidth512 = geometry.Given[int64](4 * 2048)
	}},
}

// unlist takes the free list of a new AG away: its blocks are free.
func unlist(fs *live.FS, d *livetest.Device, agno geometry.AGNumber) {
	g := fs.G
	var log geometry.Extent
	if g.HasLog(agno) {
		log = geometry.Extent{Start: g.Log.Start, Blocks: g.Log.Blocks}
	}
	head := ondisk.BtreeHeaderV4
	if fs.V5 {
		head = ondisk.BtreeHeader
	}
	edit := func(off int64, n geometry.Bytes, crc int, f func(b []byte)) {
		b := make([]byte, n)
		_, _ = d.ReadAt(b, off)
		f(b)
		if fs.V5 {
			ondisk.Seal(b, crc)
		}
		_, _ = d.WriteAt(b, off)
	}
	// What is free without it: behind the headers, and behind a log.
	n := g.FreeListBlocks()
	free := []geometry.Extent{{Start: geometry.AGBlock(g.HeaderBlocks()), Blocks: g.AGLength(agno) - g.HeaderBlocks()}}
	if log.Blocks > 0 {
		free[0].Blocks = geometry.Blocks(log.Start - free[0].Start)
		rest := geometry.Extent{Start: log.End(), Blocks: g.AGLength(agno) - geometry.Blocks(log.End())}
		if free[0].Blocks == 0 {
			free = free[:0]
		}
		free = append(free, rest)
	}
	roots := g.Roots()
	for _, root := range []geometry.AGBlock{roots.Bno, roots.Cnt} {
		edit(fs.Offset(agno, root), g.BlockSize, ondisk.BtreeCRC, func(b []byte) {
			h, _ := ondisk.DecodeBtreeBlock(b, fs.V5)
			h.Records = uint16(len(free))
			h.Put(b, fs.V5)
			clear(b[head:])
			for i, e := range free {
				ondisk.AllocRecord{Start: uint32(e.Start), Blocks: uint32(e.Blocks)}.Put(b[head+8*i:])
			}
		})
	}
	edit(fs.Offset(agno, 0)+int64(g.SectorSize), g.SectorSize, ondisk.AGFCRC, func(b []byte) {
		ondisk.AGFFreeFirst.Set(b, 1)
		ondisk.AGFFreeLast.Set(b, 0)
		ondisk.AGFFreeCount.Set(b, 0)
		ondisk.AGFFreeBlocks.Add(b, int(n))
		ondisk.AGFLongest.Set(b, uint32(free[len(free)-1].Blocks))
	})
	var blocks []uint32
	edit(fs.Offset(agno, 0)+3*int64(g.SectorSize), g.SectorSize, ondisk.AGFLCRC, func(b []byte) {
		for i := range int(n) { // a new list begins at the second slot
			blocks = append(blocks, ondisk.FreeListEntry(ondisk.FreeList(b, fs.V5), 1+i))
		}
		ondisk.PutFreeList(ondisk.FreeList(b, fs.V5), nil)
	})
	if !g.Features.Rmapbt {
		return
	}
	edit(fs.Offset(agno, roots.Rmap), g.BlockSize, ondisk.BtreeCRC, func(b []byte) {
		h, _ := ondisk.DecodeBtreeBlock(b, true)
		var list []ondisk.RmapRecord
		listed := func(at uint32) bool {
			for _, b := range blocks {
				if b == at {
					return true
				}
			}
			return false
		}
		for i := range int(h.Records) {
			r := ondisk.DecodeRmapRecord(b[head+24*i:])
			for r.Blocks > 0 && r.Owner == ondisk.OwnAG && listed(r.Start+r.Blocks-1) {
				r.Blocks--
			}
			if r.Blocks > 0 {
				list = append(list, r)
			}
		}
		h.Records = uint16(len(list))
		h.Put(b, true)
		clear(b[head:])
		for i, r := range list {
			r.Put(b[head+24*i:])
		}
	})
}

// A free list that is made where there is none is that of a new AG.
func TestFixFreeListNew(t *testing.T) {
	for _, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			g := livetest.Plan(t, 320<<20, c.ask)
			fs, got := livetest.New(t, g)
			_, want := livetest.New(t, g)
			for agno := range g.AGCount {
				unlist(fs, got, agno)
				tr := fs.Begin(0)
				if err := FixFreeList(tr, agno); err != nil {
					t.Fatal(err)
				}
				if err := tr.Commit(); err != nil {
					t.Fatal(err)
				}
				check(t, fs, agno)
			}
			if err := fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			for agno := range g.AGCount {
				differ(t, g, agno, got, want)
			}
		})
	}
}
