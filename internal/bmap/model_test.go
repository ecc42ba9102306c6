package bmap

import (
	"maps"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// world is a filesystem with some files, and what their blocks are to be.
type world struct {
	fs    *live.FS
	dev   *livetest.Device
	files []*inode.Inode
	want  []map[uint64]bool // by file and offset: whether the block is unwritten
}

// begin opens a filesystem of the reference that has the files /0, /1 and so on.
func (w *world) begin(t *testing.T, image *livetest.Device, inos []geometry.Inode) {
	w.dev = image.Clone()
	w.fs = livetest.Load(t, w.dev)
	w.files, w.want = nil, nil
	for _, ino := range inos {
		w.files = append(w.files, read(t, w.fs, ino))
		w.want = append(w.want, map[uint64]bool{})
	}
}

// emptyFiles has the reference make a filesystem with n empty files.
func emptyFiles(t *testing.T, size int64, n int, args ...string) (image string, inos []geometry.Inode) {
	t.Helper()
	image = withFiles(t, size, slices.Repeat([]string{"---755 0 0 " + os.DevNull}, n), args...)
	return image, numbers(t, image, n)
}

// operation does something at random to a file, in a transaction.
func (w *world) operation(t *rapid.T) {
	i := rapid.IntRange(0, len(w.files)-1).Draw(t, "file")
	ip, want := w.files[i], w.want[i]
	off := rapid.Uint64Range(0, 400).Draw(t, "off")
	n := rapid.SampledFrom([]geometry.Blocks{1, 1, 1, 2, 3, 8, 50}).Draw(t, "n")
	tr := w.fs.Begin(100)
	verbs := []string{"write", "write", "write", "prealloc", "unwrite", "unmap", "unmap"}
	switch op := rapid.SampledFrom(verbs).Draw(t, "op"); op {
	case "unmap":
		most := rapid.IntRange(0, 2).Draw(t, "most")
		before := len(ip.Data.Extents)
		done, err := Unmap(tr, ip, Data, off, n, 0, most)
		if err != nil {
			t.Fatal(err)
		}
		if most == 0 && !done || most == 1 && len(ip.Data.Extents) < before-1 {
			t.Fatalf("unmapped from %d extents to %d, at most %d at a time; done %v", before, len(ip.Data.Extents), most, done)
		}
		w.forget(t, ip, want, off, n, done)
	default:
		flags := map[string]Flags{"write": 0, "prealloc": Prealloc, "unwrite": Prealloc | Convert}[op]
		got, err := WriteMany(tr, ip, Data, off, n, flags, 0, rapid.IntRange(1, 4).Draw(t, "mappings"))
		if err != nil {
			t.Fatal(err)
		}
		w.note(t, ip, want, got, op)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
}

// forget takes blocks out of the model: all, or from the end those that the file has no more.
func (w *world) forget(t *rapid.T, ip *inode.Inode, want map[uint64]bool, off uint64, n geometry.Blocks, done bool) {
	left := map[uint64]bool{}
	list, err := Read(nil, ip, Data, off, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		for b := range uint64(e.Blocks) {
			left[e.Offset+b] = true
		}
	}
	if done != (len(left) == 0) {
		t.Fatalf("done is %v, and %d blocks are left", done, len(left))
	}
	gone := uint64(0)
	for b := off; b < off+uint64(n); b++ {
		if _, had := want[b]; had && !left[b] {
			gone = max(gone, b+1)
			delete(want, b)
		} else if left[b] && gone > 0 && b >= gone {
			t.Fatalf("block %d is left behind block %d, which was unmapped", b, gone-1)
		}
	}
}

// note enters what an operation has mapped.
func (w *world) note(t *rapid.T, _ *inode.Inode, want map[uint64]bool, got []inode.Extent, op string) {
	if len(got) == 0 {
		t.Fatal("nothing was mapped")
	}
	for _, e := range got {
		for b := range uint64(e.Blocks) {
			was, had := want[e.Offset+b]
			state := op == "unwrite" || op == "prealloc" && (!had || was)
			if e.Unwritten != state {
				t.Fatalf("%s: block %d unwritten %v, want %v", op, e.Offset+b, e.Unwritten, state)
			}
		}
	}
	// Beyond what is told, extents may be larger: of an extent size hint.
	for _, e := range got {
		for b := range uint64(e.Blocks) {
			want[e.Offset+b] = e.Unwritten
		}
	}
}

// check compares the files with the model: in memory, and once they are read again.
func (w *world) check(t *rapid.T, tt *testing.T) {
	used := map[geometry.FSBlock]uint64{}
	for i, ip := range w.files {
		w.checkFile(t, i, ip, used)
		again := read(tt, w.fs, ip.Ino)
		if !slices.Equal(again.Data.Extents, ip.Data.Extents) || again.Core.Blocks != ip.Core.Blocks ||
			again.Data.Format != ip.Data.Format {
			t.Fatalf("file %d is %v %v, %d blocks; read again it is %v %v, %d blocks", i, ip.Data.Format, ip.Data.Extents,
				ip.Core.Blocks, again.Data.Format, again.Data.Extents, again.Core.Blocks)
		}
		again.Release()
	}
}

func (w *world) checkFile(t *rapid.T, i int, ip *inode.Inode, used map[geometry.FSBlock]uint64) {
	got := map[uint64]bool{}
	for off, s := range blocksOf(t, ip.Data.Extents) {
		got[off] = s.unwritten
		if other, taken := used[s.start]; taken {
			t.Fatalf("block %#x is at %d and %d of files", s.start, other, off)
		}
		used[s.start] = off
	}
	if !maps.Equal(got, w.want[i]) {
		t.Fatalf("file %d has %v, want %v", i, got, w.want[i])
	}
	if ip.Core.Blocks < uint64(len(got)) || ip.Data.Format == ondisk.FormatExtents && ip.Core.Blocks != uint64(len(got)) {
		t.Fatalf("file %d has %d blocks, and counts %d", i, len(got), ip.Core.Blocks)
	}
}

// Whatever is done to files, they have the blocks that they are to have, no block twice, and nothing is lost on the way
// to disk; once all is unmapped all space is free. xfs_repair agrees, in the midst of it and at the end.
func TestRandom(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"V5", []string{"-b", "size=1k"}},
		{"V4", []string{"-m", "crc=0", "-b", "size=512"}},
		{"no owners", []string{"-b", "size=1k", "-m", "rmapbt=0,reflink=0", "-i", "nrext64=0,exchange=0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const size = 300 << 20
			path, inos := emptyFiles(t, size, 2, c.args...)
			image := livetest.Open(t, path)
			var w world
			rapid.Check(t, func(rt *rapid.T) {
				w.begin(t, image, inos)
				free := w.fs.Counts.FreeBlocks
				for range rapid.IntRange(1, 150).Draw(rt, "operations") {
					w.operation(rt)
				}
				w.check(rt, t)
				w.unmapAll(rt)
				w.check(rt, t)
				if w.fs.Counts.FreeBlocks != free {
					rt.Fatalf("%d blocks are free, want %d", w.fs.Counts.FreeBlocks, free)
				}
			})
		})
	}
}

// unmapAll takes all blocks from all files.
func (w *world) unmapAll(t *rapid.T) {
	for i, ip := range w.files {
		for done := false; !done; {
			tr := w.fs.Begin(0)
			var err error
			if done, err = Unmap(tr, ip, Data, 0, 1<<40, 0, 3); err != nil {
				t.Fatal(err)
			}
			if err := tr.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if len(ip.Data.Extents) > 0 || ip.Core.Blocks != 0 {
			t.Fatalf("file %d has %d blocks, and extents %v", i, ip.Core.Blocks, ip.Data.Extents)
		}
		clear(w.want[i])
	}
}
