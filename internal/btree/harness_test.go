package btree

import (
	"bytes"
	"fmt"
	"pgregory.net/rapid"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// small is a filesystem of two AGs with blocks of so many bytes, smaller than any
// real ones, so that trees are high.
func small(v5 bool, blockLog uint) (*live.FS, *livetest.Device) {
	d := livetest.NewDevice()
	g := &geometry.Geometry{
		BlockSize: 1 << blockLog, BlockLog: blockLog, SectorSize: 1 << blockLog, SectorLog: blockLog,
		InodeSize: 1 << blockLog, InodeLog: blockLog,
		Blocks: 1<<21 - 1<<19, AGBlocks: 1 << 20, AGCount: 2, AGBlockLog: 20,
	}
	g.Features.CRC = v5
	cache := buffer.New(d, buffer.Config{
		Device: "test", Limit: 1 << 30, Place: func(off int64) int64 { return off >> (blockLog + 20) },
	})
	return &live.FS{G: g, V5: v5, UUID: livetest.UUID, Cache: cache}, d
}

// tiny is small, with the smallest blocks that trees of a kind can have.
func tiny(k *Kind, v5 bool) (*live.FS, *livetest.Device) {
	log := uint(8)
	switch {
	case v5 && k.Long && k.overlaps():
		log = 9
	case !v5 && !k.Long:
		log = 7
	}
	return small(v5, log)
}

// pool is a root, with blocks from 100 on.
type pool struct {
	ptr     uint64
	levels  int
	next    uint64
	freed   []uint64
	used    map[uint64]bool
	left    int  // blocks that may still be given
	hostile bool // blocks are given that are in use
}

func newPool() *pool {
	return &pool{ptr: 100, levels: 1, next: 101, used: map[uint64]bool{100: true}, left: 1 << 30}
}

func (p *pool) Root() (uint64, int) { return p.ptr, p.levels }

func (p *pool) SetRoot(_ *live.Trans, ptr uint64, levels int) error {
	p.ptr, p.levels = ptr, levels
	return nil
}

func (p *pool) Alloc(_ *live.Trans, near uint64) (uint64, bool, error) {
	if p.hostile {
		p.next++
		return 100 + p.next*7%30, true, nil
	}
	if !p.used[near] && near != inode {
		return 0, false, fmt.Errorf("a block is wanted near %d, which is not the tree's", near)
	}
	if p.left--; p.left < 0 {
		return 0, false, nil
	}
	ptr := p.next
	if n := len(p.freed); n > 0 {
		ptr, p.freed = p.freed[n-1], p.freed[:n-1]
	} else {
		p.next++
	}
	p.used[ptr] = true
	return ptr, true, nil
}

func (p *pool) Free(_ *live.Trans, ptr uint64) error {
	if !p.used[ptr] {
		return fmt.Errorf("block %d is freed, which is not the tree's", ptr)
	}
	delete(p.used, ptr)
	p.freed = append(p.freed, ptr)
	return nil
}

// start makes an empty tree in AG 1, or of an inode with so many bytes for the root. One whose
// root cannot be a leaf has a record, the least of all.
func start(t rapid.TB, fs *live.FS, k *Kind, fork int) (*Tree, *live.Trans) {
	t.Helper()
	p := newPool()
	tr := &Tree{Kind: k, AG: 1, Root: p}
	trans := fs.Begin(0)
	switch {
	case k.Long:
		tr.Owner, tr.Fork = inode, new(Fork)
		if k.LeafRoot {
			tr.Fork.Start(k, fork)
			p.used = map[uint64]bool{}
			break
		}
		if err := tr.Plant(trans, fork, 100, 1, func(_ int, r []byte) { copy(r, k.sample(0, 1)) }); err != nil {
			t.Fatal(err)
		}
	default:
		if err := tr.Start(trans, 100); err != nil {
			t.Fatal(err)
		}
	}
	return tr, trans
}

// inode is whose trees are, in AG 1 at block 64.
const inode = 1<<20 | 64

// sample is a record of a kind with a key that n tells.
func (k *Kind) sample(n, length int) []byte {
	b := make([]byte, k.Record)
	switch k {
	case Bnobt:
		ondisk.AllocRecord{Start: uint32(n), Blocks: uint32(length)}.Put(b)
	case Cntbt:
		ondisk.AllocRecord{Start: uint32(n % 16), Blocks: uint32(n / 16)}.Put(b)
	case Rmapbt, RTRmapbt:
		ondisk.RmapRecord{
			Start: uint32(n / 4), Blocks: uint32(length), Owner: uint64(n % 4), Offset: uint64(n * 7 % 5),
		}.Put(b)
	case Bmbt:
		ondisk.FileExtent{Offset: uint64(n), Start: uint64(length), Blocks: uint32(length)}.Put(b)
	default:
		be.PutUint32(b, uint32(n))
		b[len(b)-1] = byte(length)
	}
	return b
}

// compareRecords orders two records.
func (k *Kind) compareRecords(a, b []byte) int {
	var key [maxKey]byte
	k.putKey(key[:], b)
	return k.compare(a, key[:])
}

// sound checks all that a tree promises, and returns its records.
func sound(t rapid.TB, tr *Tree, trans *live.Trans) (records [][]byte) {
	t.Helper()
	p := tr.Root.(*pool)
	seen := map[uint64]bool{}
	var last [MaxLevels]*block
	var visit func(ptr uint64, level int, root bool) []byte
	visit = func(ptr uint64, level int, root bool) []byte {
		t.Helper()
		var b block
		if root && tr.Fork != nil {
			b = tr.Fork.block()
		} else {
			var err error
			if b, err = tr.read(trans, ptr, level); err != nil {
				t.Fatal(err)
			}
			if seen[ptr] || !p.used[ptr] {
				t.Fatalf("block %d is in the tree twice, or not the tree's", ptr)
			}
			seen[ptr] = true
		}
		// The only block below a root in a fork has what remains.
		only := tr.Fork != nil && level == tr.Fork.Level()-1 && b.left()&b.right() == ondisk.NullPointer
		if n := b.live(); !root && n < b.lay.min && !only {
			t.Fatalf("block %d of level %d has %d entries, at least %d are wanted", ptr, level, n, b.lay.min)
		}
		left := ondisk.NullPointer
		if l := last[level]; l != nil {
			left = l.ptr
			if l.right() != ptr {
				t.Fatalf("block %d has %d on its right, not %d", l.ptr, l.right(), ptr)
			}
		}
		if b.left() != left {
			t.Fatalf("block %d has %d on its left, not %d", ptr, b.left(), left)
		}
		last[level] = &b
		for i := range b.live() {
			if level == 0 {
				records = append(records, bytes.Clone(b.entry(i)))
				continue
			}
			if key := visit(b.below(i), level-1, false); !bytes.Equal(key, b.entry(i)) {
				t.Fatalf("block %d of level %d: key %d is %x, block %d has %x", ptr, level, i, b.entry(i), b.below(i), key)
			}
		}
		key := make([]byte, tr.Key)
		if b.live() > 0 {
			tr.keysOf(key, &b)
		}
		return key
	}
	tr.bind(trans.FS)
	root, levels := p.ptr, p.levels
	if tr.Fork != nil {
		levels = tr.Fork.Level() + 1
	}
	visit(root, levels-1, true)
	for _, b := range last[:levels] {
		if b.right() != ondisk.NullPointer {
			t.Fatalf("block %d has %d on its right, where the tree ends", b.ptr, b.right())
		}
	}
	if len(seen) != len(p.used) {
		t.Fatalf("%d blocks are in the tree, %d were given to it", len(seen), len(p.used))
	}
	for i := 1; i < len(records); i++ {
		if tr.compareRecords(records[i-1], records[i]) >= 0 {
			t.Fatalf("records %x and %x are out of order", records[i-1], records[i])
		}
	}
	return records
}

// fill inserts n records, in an order that is none.
func fill(t rapid.TB, tr *Tree, trans *live.Trans, n int) {
	t.Helper()
	var c Cursor
	c.Init(tr, trans)
	for i := range n {
		insert(t, &c, tr.sample(i*7919%n, 1+i%9))
	}
}

// insert inserts a record if there is none of its key.
func insert(t rapid.TB, c *Cursor, r []byte) {
	t.Helper()
	if there, err := c.Lookup(EQ, r); err != nil {
		t.Fatal(err)
	} else if there {
		return
	}
	if ok, err := c.Insert(r); err != nil || !ok {
		t.Fatal(ok, err)
	}
}
