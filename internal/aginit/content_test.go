package aginit

import (
	"slices"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// header is an AG's header, taken apart by name.
type header struct {
	t    *testing.T
	g    *geometry.Geometry
	agno geometry.AGNumber
	data []byte
	part map[string][]byte
	at   map[string]int
}

func takeApart(t *testing.T, b *Builder, agno geometry.AGNumber) *header {
	f := Frame{Data: make([]byte, b.HeaderSize())}
	b.Build(agno, &f)
	h := &header{t, b.g, agno, f.Data, map[string][]byte{}, map[string]int{}}
	for _, p := range b.Pieces() {
		h.part[p.Name], h.at[p.Name] = f.Data[p.At:p.At+p.Size], p.At
	}
	return h
}

func (h *header) errorf(format string, args ...any) {
	h.t.Helper()
	h.t.Errorf("AG %d: "+format, append([]any{h.agno}, args...)...)
}

// want says what is wrong where two numbers are not equal.
func (h *header) want(what string, got, want uint64) {
	h.t.Helper()
	if got != want {
		h.errorf("%s is %d, want %d", what, got, want)
	}
}

func (h *header) sealed(name string, crc int) {
	h.t.Helper()
	if h.g.Features.CRC && !ondisk.Sealed(h.part[name], crc) {
		h.errorf("the %s has a wrong checksum", name)
	}
}

// root decodes a btree root's header, at the block where the AGF or AGI says it is.
func (h *header) root(name string, block uint32, magic, magicV4 ondisk.BtreeMagic) (recs []byte, n int) {
	h.t.Helper()
	v5 := h.g.Features.CRC
	at := int(block) << h.g.BlockLog
	if at != h.at[name] || at == 0 {
		h.errorf("the %s is said to be at block %d, and is at byte %d", name, block, h.at[name])
		return nil, 0
	}
	b := h.data[at:][:h.g.BlockSize]
	r, ok := ondisk.DecodeBtreeBlock(b, v5)
	switch {
	case !ok || r.Level != 0 || r.Left != 1<<32-1 || r.Right != 1<<32-1:
		h.errorf("%s: %+v is no root that is a leaf", name, r)
	case v5 && r.Magic != magic || !v5 && r.Magic != magicV4:
		h.errorf("%s: magic number %#x", name, r.Magic)
	case v5:
		h.want(name+" owner", uint64(r.Owner), uint64(h.agno))
		h.want(name+" daddr", r.Blkno, (uint64(h.agno)*uint64(h.g.AGBlocks)<<h.g.BlockLog+uint64(at))/512)
		if r.UUID != testUUID {
			h.errorf("%s: UUID %x", name, r.UUID)
		}
		h.sealed(name, ondisk.BtreeCRC)
		return b[ondisk.BtreeHeader:], int(r.Records)
	}
	return b[ondisk.BtreeHeaderV4:], int(r.Records)
}

func (h *header) extents(name string, block uint32, magic, magicV4 ondisk.BtreeMagic) (list []ondisk.AllocRecord) {
	h.t.Helper()
	recs, n := h.root(name, block, magic, magicV4)
	for i := range n {
		list = append(list, ondisk.DecodeAllocRecord(recs[8*i:]))
	}
	return list
}

// Every structure says where it is, and they agree with one another about
// every block of the AG.
func TestContents(t *testing.T) {
	every(t, func(t *testing.T, g *geometry.Geometry) {
		b := New(g, testIdentity())
		made := Made{Bitmap: 7, Summary: 8, Inodes: 64, FreeInodes: 61, FreeBlocks: 1000}
		primary, ok := ondisk.DecodeSuperblock(b.Primary(made))
		if !ok || primary.InProgress != 0 {
			t.Fatalf("primary superblock: %+v", primary)
		}
		var free uint64
		for agno := range g.AGCount {
			h := takeApart(t, b, agno)
			h.superblock(&primary)
			h.inodes()
			free += h.freeSpace()
		}
		for _, c := range []struct {
			name      string
			got, want uint64
		}{
			{"free blocks", uint64(g.FreeBlocks()), free},
			{"free blocks", primary.FreeBlocks, uint64(made.FreeBlocks)},
			{"inodes", primary.InodeCount, made.Inodes},
			{"free inodes", primary.FreeInodes, made.FreeInodes},
			{"bitmap inode", primary.BitmapInode, uint64(made.Bitmap)},
			{"summary inode", primary.SummaryInode, uint64(made.Summary)},
			{"blocks", primary.DataBlocks, uint64(g.Blocks)},
			{"AGs", uint64(primary.AGCount), uint64(g.AGCount)},
		} {
			if c.got != c.want {
				t.Errorf("%d %s, want %d", c.got, c.name, c.want)
			}
		}
	})
}

func (h *header) superblock(primary *ondisk.Superblock) {
	h.t.Helper()
	s, ok := ondisk.DecodeSuperblock(h.part["superblock"])
	if !ok {
		h.errorf("no superblock")
		return
	}
	h.sealed("superblock", ondisk.SuperblockCRC)
	h.want("in progress", uint64(s.InProgress), 1)
	if s.UUID != testUUID {
		h.errorf("superblock UUID %x", s.UUID)
	}
	// Apart from what is counted, and who names the root, they are alike.
	like := *primary
	like.InProgress, like.CRC = 1, s.CRC
	like.InodeCount, like.FreeInodes, like.FreeBlocks = 0, 0, uint64(h.g.FreeBlocks())
	like.RootInode, like.BitmapInode, like.SummaryInode = s.RootInode, s.BitmapInode, s.SummaryInode
	like.Version = like.Version&^ondisk.VersionAttr | s.Version&ondisk.VersionAttr
	if s != like {
		h.errorf("superblock\n got %+v\nwant %+v", s, like)
	}
}

// identity checks what AGF and AGI both say of the group, and the checksum.
func (h *header) identity(name string, crc int, seqno, length uint32, uuid [16]byte) {
	h.t.Helper()
	h.sealed(name, crc)
	h.want(name+" number", uint64(seqno), uint64(h.agno))
	h.want(name+" length", uint64(length), uint64(h.g.AGLength(h.agno)))
	if h.g.Features.CRC != (uuid == testUUID) {
		h.errorf("%s UUID %x", name, uuid)
	}
}

// freeSpace checks AGF, AGFL and the trees of extents, and returns the number
// of free blocks, the free list's included.
func (h *header) freeSpace() uint64 {
	h.t.Helper()
	f := h.g.Features
	a, ok := ondisk.DecodeAGF(h.part["AGF"])
	if !ok {
		h.errorf("no AGF")
		return 0
	}
	h.identity("AGF", ondisk.AGFCRC, a.Seqno, a.Length, a.UUID)
	uses := map[uint32]uint32{}
	use := func(what string, start, blocks uint32) {
		if blocks == 0 {
			h.errorf("%s of no blocks at %d", what, start)
		}
		if _, twice := uses[start]; twice {
			h.errorf("%s at block %d, which is in use", what, start)
		}
		uses[start] = blocks
	}
	byStart := h.extents("bnobt root", a.BnoRoot, ondisk.BnoMagic, ondisk.BnoMagicV4)
	bySize := h.extents("cntbt root", a.CntRoot, ondisk.CntMagic, ondisk.CntMagicV4)
	var free, longest uint64
	for _, e := range byStart {
		use("free extent", e.Start, e.Blocks)
		free += uint64(e.Blocks)
		longest = max(longest, uint64(e.Blocks))
	}
	if !slices.IsSortedFunc(byStart, func(x, y ondisk.AllocRecord) int { return int(x.Start) - int(y.Start) }) {
		h.errorf("bnobt is out of order: %v", byStart)
	}
	sorted := slices.Clone(byStart)
	slices.SortStableFunc(sorted, func(x, y ondisk.AllocRecord) int { return int(x.Blocks) - int(y.Blocks) })
	if !slices.Equal(sorted, bySize) {
		h.errorf("cntbt %v, bnobt %v", bySize, byStart)
	}
	h.want("AGF free blocks", uint64(a.FreeBlocks), free)
	h.want("AGF longest", uint64(a.Longest), longest)
	list := h.freeList(&a)
	if f.Rmapbt {
		h.owners(&a, list, use)
	} else {
		h.uses(list, use)
	}
	if f.Reflink {
		_, n := h.root("refcountbt root", a.RefcountRoot, ondisk.RefcountMagic, 0)
		h.want("shared extents", uint64(n), 0)
		h.want("refcount blocks", uint64(a.RefcountBlocks), 1)
	}
	at := uint32(0)
	for at < a.Length {
		n, ok := uses[at]
		if !ok {
			h.errorf("block %d is neither free nor used, or both", at)
			break
		}
		delete(uses, at)
		at += n
	}
	if at != a.Length || len(uses) > 0 {
		h.errorf("of %d blocks, uses end at %d, and beside them there are %v", a.Length, at, uses)
	}
	return free + uint64(len(list))
}

func (h *header) freeList(a *ondisk.AGF) (list []uint32) {
	h.t.Helper()
	sector := h.part["AGFL"]
	if h.g.Features.CRC {
		l, ok := ondisk.DecodeAGFL(sector)
		if !ok || l.Seqno != uint32(h.agno) || l.UUID != testUUID {
			h.errorf("AGFL header %+v", l)
		}
		h.sealed("AGFL", ondisk.AGFLCRC)
	}
	entries := ondisk.FreeList(sector, h.g.Features.CRC)
	for i := range len(entries) / 4 {
		v := ondisk.FreeListEntry(entries, i)
		if inside := a.FreeCount > 0 && uint32(i) >= a.FreeFirst && uint32(i) <= a.FreeLast; inside != (v != 1<<32-1) {
			h.errorf("free list entry %d is %#x; the list is %d to %d", i, v, a.FreeFirst, a.FreeLast)
		} else if inside {
			list = append(list, v)
		}
	}
	h.want("free list length", uint64(len(list)), uint64(a.FreeCount))
	return list
}

// owners checks the rmapbt and uses what it lists. Its records are to be
// exactly the headers, the roots, the log, the free list and the inodes.
func (h *header) owners(a *ondisk.AGF, list []uint32, use func(string, uint32, uint32)) {
	h.t.Helper()
	g := h.g
	recs, n := h.root("rmapbt root", a.RmapRoot, ondisk.RmapMagic, 0)
	h.want("rmap blocks", uint64(a.RmapBlocks), 1)
	got := map[uint32]uint64{} // owner of each block that is not the log's
	last := ondisk.RmapRecord{}
	for i := range n {
		r := ondisk.DecodeRmapRecord(recs[24*i:])
		use("rmap record", r.Start, r.Blocks)
		if i > 0 && r.Start < last.Start+last.Blocks {
			h.errorf("rmapbt: %+v after %+v", r, last)
		}
		if i > 0 && r.Start == last.Start+last.Blocks && r.Owner == last.Owner {
			h.errorf("rmapbt: %+v and %+v could be one", last, r)
		}
		if r.Owner == ondisk.OwnLog {
			if !g.HasLog(h.agno) || r.Start != uint32(g.Log.Start) || r.Blocks != uint32(g.Log.Blocks) {
				h.errorf("rmapbt: the log is at %+v", r)
			}
		} else {
			for b := range r.Blocks {
				got[r.Start+b] = r.Owner
			}
		}
		last = r
	}
	want := map[uint32]uint64{}
	for b := range uint32(g.SectorBlocks()) {
		want[b] = ondisk.OwnFS
	}
	for name, owner := range map[string]uint64{
		"bnobt root": ondisk.OwnAG, "cntbt root": ondisk.OwnAG, "rmapbt root": ondisk.OwnAG,
		"inobt root": ondisk.OwnInobt, "finobt root": ondisk.OwnInobt, "refcountbt root": ondisk.OwnRefcount,
	} {
		if at, there := h.at[name]; there {
			want[uint32(at>>g.BlockLog)] = owner
		}
	}
	for _, b := range list {
		want[b] = ondisk.OwnAG
	}
	for b, owner := range want {
		if got[b] != owner {
			h.errorf("block %d belongs to %d, want %d", b, int64(got[b]), int64(owner))
		}
	}
	if len(got) != len(want) {
		h.errorf("%d blocks have owners, want %d", len(got), len(want))
	}
}

// uses uses what a filesystem without an rmapbt does not list.
func (h *header) uses(list []uint32, use func(string, uint32, uint32)) {
	g := h.g
	use("headers", 0, uint32(len(h.data)>>g.BlockLog))
	for _, b := range list {
		use("free list", b, 1)
	}
	if g.HasLog(h.agno) {
		use("log", uint32(g.Log.Start), uint32(g.Log.Blocks))
	}
}

// inodes checks AGI and the inode btrees: there are no inodes.
func (h *header) inodes() {
	h.t.Helper()
	f := h.g.Features
	a, ok := ondisk.DecodeAGI(h.part["AGI"])
	if !ok {
		h.errorf("no AGI")
		return
	}
	h.identity("AGI", ondisk.AGICRC, a.Seqno, a.Length, a.UUID)
	for _, v := range a.Unlinked {
		if v != 1<<32-1 {
			h.errorf("unlinked inode %#x", v)
		}
	}
	if _, n := h.root("inobt root", a.Root, ondisk.InoMagic, ondisk.InoMagicV4); n != 0 {
		h.errorf("the inobt has %d records", n)
	}
	if f.Finobt {
		if _, n := h.root("finobt root", a.FreeRoot, ondisk.FinoMagic, 0); n != 0 {
			h.errorf("the finobt has %d records", n)
		}
	}
	h.want("AGI inodes", uint64(a.Count), 0)
	h.want("AGI free inodes", uint64(a.FreeCount), 0)
	h.want("newest inode", uint64(a.NewInode), uint64(geometry.NullAGInode))
}
