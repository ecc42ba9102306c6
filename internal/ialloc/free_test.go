package ialloc_test

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// The inodes of a chunk can be freed at once: none of them is written to what is free space
// then.
func TestFreeChunkAtOnce(t *testing.T) {
	fs, d := livetest.New(t, livetest.Plan(t, size, nil))
	root := makeDir(t, fs, nil, 0o755)
	before := fs.Counts
	var chunk []geometry.Inode
	for len(chunk) < 64 {
		tr := fs.Begin(0)
		ip := create(t, tr, root, ialloc.New{Mode: ondisk.ModeRegular})
		commit(t, tr)
		if ip.Ino/64 != root.Ino/64 {
			chunk = append(chunk, ip.Ino)
		}
	}
	must(t, fs.Cache.Flush())
	was := d.Clone()
	tr := fs.Begin(0)
	var list []*inode.Inode
	for _, ino := range chunk {
		ip := read(t, tr, ino)
		list = append(list, ip)
		must(t, ialloc.Free(tr, ip))
	}
	commit(t, tr)
	for _, ip := range list {
		ip.Release()
	}
	must(t, fs.Cache.Flush())
	if diff := livetest.Differ(was, d, int64(chunk[0])*int64(fs.G.InodeSize), 64*int64(fs.G.InodeSize)); diff != "" {
		t.Error(diff)
	}
	before.FreeInodes -= 63 // which are still in the root's chunk
	if fs.Counts != before {
		t.Errorf("%+v, want %+v", fs.Counts, before)
	}
}
