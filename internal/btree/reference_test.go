package btree

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mkfs/internal/buffer"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// fixed is the root of a tree that is only read.
func fixed(ptr, levels uint32) Root { return &pool{ptr: uint64(ptr), levels: int(levels)} }

// again gives a tree the blocks that another has, to whatever has the same neighbours.
type again struct {
	pool
	next map[uint64]uint64 // the block on the right of each
	root []uint64          // from the first, a leaf, to that of the highest tree
}

func (a *again) Alloc(_ *live.Trans, near uint64) (uint64, bool, error) {
	if ptr, ok := a.next[near]; ok && ptr != ondisk.NullPointer {
		a.next[near] = ondisk.NullPointer
		return ptr, true, nil
	}
	if len(a.root) == 0 {
		return 0, false, fmt.Errorf("no block is beside %d", near)
	}
	ptr := a.root[0]
	a.root = a.root[1:]
	return ptr, true, nil
}

// protofile is of a root directory with n empty files.
func protofile(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("/\n0 0\nd--755 0 0\n")
	for i := range n {
		fmt.Fprintf(&b, "f%d ---644 0 0 /dev/null\n", i)
	}
	b.WriteString("$\n")
	path := filepath.Join(t.TempDir(), "proto")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The reference has made chunks of inodes one after the other. Records that are entered so
// give the same inobt, to the byte, of one level, of two, and of three.
func TestInobtOfReference(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  int
		levels int
		args   []string
	}{
		{"4 KiB", 20000, 2, nil},
		{"1 KiB", 20000, 2, []string{"-b", "size=1024"}},
		{"no sparse chunks", 20000, 2, []string{"-b", "size=1024", "-i", "sparse=0"}},
		{"V4 512 bytes", 130000, 3, []string{"-b", "size=512", "-m", "crc=0"}},
		{"one leaf", 100, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.levels > 2 {
				t.Skip("takes a second")
			}
			path := livetest.Reference(t, 600<<20, append(c.args, "-d", "agcount=2", "-p", protofile(t, c.files))...)
			ref := livetest.Open(t, path)
			fs := livetest.Load(t, ref)
			sector := make([]byte, fs.G.SectorSize)
			_, _ = ref.ReadAt(sector, 2*int64(fs.G.SectorSize))
			agi, ok := ondisk.DecodeAGI(sector)
			if !ok {
				t.Fatal("there is no AGI")
			}
			want := &Tree{Kind: Inobt, Root: fixed(agi.Root, agi.Level)}
			if agi.Level != uint32(c.levels) {
				t.Errorf("it has %d levels", agi.Level)
			}
			trans := fs.Begin(0)
			got, blocks := rebuild(t, want, trans)
			for _, ptr := range blocks {
				a, err := want.read(trans, ptr.ptr, ptr.level)
				if err != nil {
					t.Fatal(err)
				}
				b, err := got.read(got.trans, ptr.ptr, ptr.level)
				if err != nil {
					t.Fatal(err)
				}
				if crc := b.lay.form.CRC; crc > 0 {
					want.buffers.kind.Seal(b.data)
				}
				if !bytes.Equal(a.data, b.data) {
					t.Fatalf("block %d of level %d\n got %x\nwant %x", ptr.ptr, ptr.level, b.data, a.data)
				}
			}
		})
	}
}

// twin is a tree in a filesystem of its own.
type twin struct {
	*Tree
	trans *live.Trans
}

// at is the place of a block.
type at struct {
	ptr   uint64
	level int
}

// rebuild enters the records of an inobt into an empty one that is given the same blocks. It
// returns all of them.
func rebuild(t *testing.T, want *Tree, trans *live.Trans) (twin, []at) {
	t.Helper()
	a := &again{next: map[uint64]uint64{}}
	var list []at
	err := want.Visit(trans, func(level int, ptr uint64, data []byte) error {
		list = append(list, at{ptr, level})
		a.next[ptr] = want.buffers.form.Right(data)
		if want.buffers.form.Left(data) == ondisk.NullPointer {
			a.root = append([]uint64{ptr}, a.root...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.ptr, a.levels, a.root = a.root[0], 1, a.root[1:]
	fs := &live.FS{G: trans.G, V5: trans.V5, UUID: trans.UUID}
	fs.Cache = buffer.New(livetest.NewDevice(), buffer.Config{
		Device: "twin", Limit: 64 << 20, Place: func(int64) int64 { return 0 },
	})
	tr := &Tree{Kind: want.Kind, AG: want.AG, Root: a}
	got := twin{tr, fs.Begin(0)}
	if err := tr.Start(got.trans, a.ptr); err != nil {
		t.Fatal(err)
	}
	var c Cursor
	c.Init(tr, got.trans)
	for r, err := range want.Records(trans) {
		if err != nil {
			t.Fatal(err)
		}
		fresh := bytes.Clone(r)
		copy(fresh[8:], "\xff\xff\xff\xff\xff\xff\xff\xff")
		insert(t, &c, fresh)
		if err := c.Update(r); err != nil {
			t.Fatal(err)
		}
	}
	return got, list
}
