package aginit

import (
	"bytes"
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
		primary, ok := ondisk.DecodeSuperblock(b.Primary())
		if !ok || primary.InProgress != 0 {
			t.Fatalf("primary superblock: %+v", primary)
		}
		var free, inodes, freeInodes uint64
		for agno := range g.AGCount {
			h := takeApart(t, b, agno)
			h.superblock(&primary)
			f, i := h.freeSpace(), h.inodes()
			free += f
			inodes += i
			if i > 0 {
				freeInodes += i - 3
			}
		}
		for _, c := range []struct {
			name      string
			got, want uint64
		}{
			{"free blocks", primary.FreeBlocks, free},
			{"inodes", primary.InodeCount, inodes},
			{"free inodes", primary.FreeInodes, freeInodes},
			{"blocks", primary.DataBlocks, uint64(g.Blocks)},
			{"AGs", uint64(primary.AGCount), uint64(g.AGCount)},
		} {
			if c.got != c.want {
				t.Errorf("the superblock says %d %s, the AGs make %d", c.got, c.name, c.want)
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
	if h.agno != 0 {
		like.InodeCount, like.FreeInodes, like.FreeBlocks = s.InodeCount, s.FreeInodes, s.FreeBlocks
		like.RootInode, like.BitmapInode, like.SummaryInode = s.RootInode, s.BitmapInode, s.SummaryInode
		like.Version = like.Version&^ondisk.VersionAttr | s.Version&ondisk.VersionAttr
	}
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
	if h.agno == 0 {
		for b := range uint32(g.Root.Blocks) {
			want[uint32(g.Root.Start)+b] = ondisk.OwnInodes
		}
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
	if h.agno == 0 {
		use("inodes", uint32(g.Root.Start), uint32(g.Root.Blocks))
	}
}

// inodes checks AGI and the inode btrees, and returns the number of inodes.
func (h *header) inodes() (count uint64) {
	h.t.Helper()
	g, f := h.g, h.g.Features
	a, ok := ondisk.DecodeAGI(h.part["AGI"])
	if !ok {
		h.errorf("no AGI")
		return 0
	}
	h.identity("AGI", ondisk.AGICRC, a.Seqno, a.Length, a.UUID)
	for _, v := range a.Unlinked {
		if v != 1<<32-1 {
			h.errorf("unlinked inode %#x", v)
		}
	}
	tree := func(name string, block uint32, magic, magicV4 ondisk.BtreeMagic) (free uint64) {
		h.t.Helper()
		recs, n := h.root(name, block, magic, magicV4)
		count = 0
		for i := range n {
			r := ondisk.DecodeInodeRecord(recs[16*i:], f.Sparse)
			ones := uint32(0)
			for bits := r.Free; bits != 0; bits &= bits - 1 {
				ones++
			}
			if h.agno != 0 || ones != r.FreeCount || r.HoleMask != 0 || f.Sparse && r.Count != 64 ||
				r.Start != uint32(g.RootInode())+uint32(64*i) {
				h.errorf("%s: record %+v", name, r)
			}
			count += 64
			free += uint64(ones)
		}
		return free
	}
	free := tree("inobt root", a.Root, ondisk.InoMagic, ondisk.InoMagicV4)
	h.want("AGI inodes", uint64(a.Count), count)
	h.want("AGI free inodes", uint64(a.FreeCount), free)
	if f.Finobt {
		h.want("free inodes of the finobt", tree("finobt root", a.FreeRoot, ondisk.FinoMagic, 0), free)
	}
	if h.agno == 0 {
		h.want("newest inode", uint64(a.NewInode), uint64(g.RootInode()))
	}
	return count
}

// The root's chunk holds a directory and two files, all others are free.
func TestInodeChunk(t *testing.T) {
	every(t, func(t *testing.T, g *geometry.Geometry) {
		b := New(g, testIdentity())
		chunk := make([]byte, g.Bytes(g.Root.Blocks))
		b.InodeChunk(0, g.Root, chunk)
		if len(chunk) != int(g.Bytes(g.Root.Blocks)) {
			t.Fatalf("%d bytes, want %d blocks", len(chunk), g.Root.Blocks)
		}
		core := ondisk.CoreSize(g.Features.CRC)
		for i := range len(chunk) / int(g.InodeSize) {
			data := chunk[i*int(g.InodeSize):][:g.InodeSize]
			inode, ok := ondisk.DecodeInode(data)
			if !ok {
				t.Fatalf("no inode %d", i)
			}
			if g.Features.CRC {
				if !ondisk.Sealed(data, ondisk.InodeCRC) || inode.UUID != testUUID || inode.Version != 3 ||
					inode.Number != uint64(g.RootInode())+uint64(i) {
					t.Errorf("inode %d: %+v", i, inode)
				}
			} else if inode.Version != 2 {
				t.Errorf("inode %d has version %d", i, inode.Version)
			}
			mode := map[int]uint16{0: 0o040755, 1: 0o100000, 2: 0o100000}[i]
			if inode.Mode != mode || (inode.Nlink > 0) != (mode != 0) || inode.NextUnlinked != 1<<32-1 {
				t.Errorf("inode %d: mode %o, %d links", i, inode.Mode, inode.Nlink)
			}
			if i == 0 {
				if parent, ok := ondisk.DecodeEmptyDir(data[core:]); !ok || parent != uint64(g.RootInode()) {
					t.Errorf("the root's parent is %d (%v)", parent, ok)
				}
			}
		}
	})
}

// The complete primary superblock is the one in progress but for that.
func TestPrimary(t *testing.T) {
	every(t, func(t *testing.T, g *geometry.Geometry) {
		b := New(g, testIdentity())
		done, begun := b.Primary(), takeApart(t, b, 0).part["superblock"]
		if g.Features.CRC && !ondisk.Sealed(done, ondisk.SuperblockCRC) {
			t.Error("wrong checksum")
		}
		for _, s := range [][]byte{done, begun} {
			clear(s[ondisk.InProgressField : ondisk.InProgressField+1])
			clear(s[ondisk.SuperblockCRC : ondisk.SuperblockCRC+4])
		}
		if !bytes.Equal(done, begun) {
			t.Error("differs in more than being in progress")
		}
	})
}
