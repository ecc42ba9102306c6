// Package da has what directories and attributes share: a fork whose blocks are
// reached by their place in it, and a btree that indexes by hash.
//
//	node   greatest hash of each block below it, and that block's place in the fork
//	node   ...                            at most 5 levels, siblings linked both ways
//	leaf   of a directory or of attributes: their own, reached through Leaves
//
// Equal hashes may be in several leaves, so a search that ends at the last entry
// of a leaf goes on in the next. A split leaves the lower half in the old block
// and takes a new one, wherever it is free in the fork, for the upper half; the
// root stays where it is, so that what it held is copied away when it splits. A
// block that is at most half full is joined with a sibling if a quarter of that
// stays free, into the one of the lower place.
//
// The rules are those of xfs_da_btree.c in libxfs; functions name theirs.
//
// A block of a directory may be of several filesystem blocks, which lie together
// if they can, and in several places if not.
package da

import (
	"fmt"
	"math"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Block is the place of a block in a fork, in filesystem blocks (xfs_dablk_t).
type Block uint32

// MaxDepth is the most levels of a tree, leaves included (XFS_DA_NODE_MAXDEPTH).
const MaxDepth = 5

// Config says what a Tree is.
type Config struct {
	Name   string // for messages: "directory"
	Fork   bmap.ForkID
	Bytes  int                                // of a block
	Root   Block                              // where the root of the btree is, and the first that its blocks may have
	End    Block                              // behind the last; 0 for no end
	Leaf   func(data []byte, off int64) error // checks a leaf, but for its checksum
	Leaves Leaves                             // what the leaves are like
	Space  Space                              // nil for that of bmap
}

// Tree is a kind of tree in a filesystem: that of directories or that of attributes.
type Tree struct {
	Config
	FS     *live.FS
	Blocks geometry.Blocks // filesystem blocks of a block
	Index  *Kind           // nodes and leaves
	// NodeEntries is how many entries a node has room for.
	NodeEntries int
}

// New makes a Tree.
func New(fs *live.FS, cfg Config) *Tree {
	tr := &Tree{
		Config: cfg, FS: fs,
		Blocks:      geometry.Blocks(cfg.Bytes >> fs.G.BlockLog),
		NodeEntries: (cfg.Bytes - ondisk.DAHeaderSize(fs.V5)) / ondisk.HashSize,
	}
	if tr.End == 0 {
		tr.End = math.MaxUint32
	}
	if tr.Space == nil {
		tr.Space = mapped{}
	}
	tr.Index = BlockKind(fs, cfg.Name+" index", tr.check)
	return tr
}

// nodeMagic is the magic number of nodes.
func nodeMagic(v5 bool) uint16 {
	if v5 {
		return ondisk.DirNodeMagic
	}
	return ondisk.DANodeMagicV4
}

// IsNode tells whether a block of the btree is a node, and no leaf.
func (tr *Tree) IsNode(b *buffer.Buf) bool { return tr.view(b).Magic() == nodeMagic(tr.FS.V5) }

// check checks a node or a leaf.
func (tr *Tree) check(b []byte, off int64) error {
	d := ondisk.DABlock{B: b, V5: tr.FS.V5}
	if d.Magic() == nodeMagic(tr.FS.V5) {
		return tr.checkNode(d, off)
	}
	return tr.Leaf(b, off)
}

// checkNode is xfs_da3_node_verify in libxfs.
func (tr *Tree) checkNode(d ondisk.DABlock, off int64) error {
	if err := CheckHeader(tr.FS, d, off, nodeMagic(tr.FS.V5)); err != nil {
		return err
	}
	if l := d.Level(); l == 0 || l > MaxDepth {
		return fmt.Errorf("a node of level %d", l)
	}
	if n := d.Count(); n == 0 || n > tr.NodeEntries {
		return fmt.Errorf("%d entries, where there may be 1 to %d", n, tr.NodeEntries)
	}
	return nil
}

func (tr *Tree) view(b *buffer.Buf) ondisk.DABlock { return ondisk.DABlock{B: b.Data, V5: tr.FS.V5} }

func (tr *Tree) fork(ip *inode.Inode) *inode.Fork { return ip.Fork(tr.Fork == bmap.Attr) }

// Damaged is an error of a block of a fork.
func (tr *Tree) Damaged(ip *inode.Inode, at Block, format string, args ...any) error {
	return fmt.Errorf("%s of inode %d: block %d: %w", tr.Name, ip.Ino, at, fmt.Errorf(format, args...))
}

// used is how many bytes of a node are in use, or of a leaf of a directory.
func (tr *Tree) used(d ondisk.DABlock) int {
	return ondisk.DAHeaderSize(d.V5) + d.Count()*ondisk.HashSize
}
