// Package dir has directories: names and the inodes that they stand for.
//
// A directory has one of four forms, by what it holds, and goes from one to the
// next as it grows and back as it shrinks:
//
//	shortform  in the inode: parent, and for each entry name, inode and the place that it would have in a block
//	block      one directory block: entries from the front, the index of hashes at the end
//	leaf       blocks of entries, and one of the index, which has the longest free space of each of them at its end
//	node       the index is a btree (package da), and the list of free space has blocks of its own
//
// A fork's places are in three parts: entries from 0 on, the index from 32 GiB, the list
// of free space from 64 GiB. A block of entries keeps its three longest free spaces in
// its header ("bests"). A new name goes to a block that has a name of the same hash and
// room, else to the first with room (leaf form), or to the last (node form), and there to
// the longest free space.
//
// Removed entries leave stale slots in an index, which later ones use.
//
// The rules are those of xfs_dir2*.c in libxfs; functions name theirs.
package dir

import (
	"fmt"
	"io/fs"
	"strings"

	"mkfs/internal/bmap"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Where the index begins in a directory's space, and the list of free space, in bytes.
const (
	leafOffset = 32 << 30
	freeOffset = 64 << 30
)

// MaxName is the length of the longest name.
const MaxName = 255

// Dirs are the directories of a filesystem.
type Dirs struct {
	fs    *live.FS
	g     *geometry.Geometry
	tree  *da.Tree
	leaf  da.Block // where the index begins
	free  da.Block // where the list of free space begins
	bytes int      // of a directory block

	header   int // of a block of entries
	bestsAt  int // where in that the longest free spaces are
	first    int // the place of the first entry behind "." and ".."
	freeHead int // the header of a block of free space
	perFree  int // how many blocks of entries that lists
	ftype    bool
	hash     func(name string) uint32

	data, block, leaf1, freeKind *da.Kind

	s     da.State
	o     op
	spare []byte // for a copy of what is in an inode

	known known
}

// op is an operation on an entry.
type op struct {
	d     *Dirs
	t     *live.Trans
	dp    *inode.Inode
	name  string
	hash  uint32
	ino   geometry.Inode
	ftype uint8
	size  int // of the entry in a block
	// total is how many blocks may be taken: with none nothing may be.
	total geometry.Blocks

	// find: the name is looked for, not a place for it; with exact to the letter, where names that
	// differ in case are equal otherwise. match is what has been found.
	find, exact bool
	match       match
	// address is where the entry has been entered, for the index.
	address uint32
	// near is what the search for a place has found; see node.go.
	near near
}

// New prepares for the directories of a filesystem.
func New(fs *live.FS) *Dirs {
	g := fs.G
	d := &Dirs{
		fs: fs, g: g, spare: make([]byte, 0, g.InodeSize), bytes: int(g.DirBlockSize),
		header: ondisk.DirDataHeaderSize(fs.V5), ftype: g.Features.Ftype,
		leaf: da.Block(uint64(leafOffset) >> g.BlockLog), free: da.Block(uint64(freeOffset) >> g.BlockLog),
		hash: da.Hash[string],
	}
	if g.Features.CaseFold {
		d.hash = da.HashFolded[string]
	}
	d.first = d.header + d.entrySize(1) + d.entrySize(2)
	d.bestsAt = d.header - bests*4
	if fs.V5 {
		d.bestsAt -= 4 // of padding
	}
	d.freeHead = ondisk.DirFreeHeaderSize(fs.V5)
	d.perFree = (d.bytes - d.freeHead) / ondisk.DirBestSize
	d.kinds()
	d.tree = da.New(fs, da.Config{
		Name: "directory", Fork: bmap.Data, Bytes: d.bytes, Root: d.leaf, End: d.free, Leaf: d.checkLeafN, Leaves: leaves{d},
	})
	d.s.Tree = d.tree
	return d
}

// entrySize is the length of an entry in a block whose name has so many bytes.
func (d *Dirs) entrySize(name int) int {
	n := 8 + 1 + name + 2
	if d.ftype {
		n++
	}
	return (n + 7) &^ 7
}

// Init makes an inode an empty directory (xfs_dir_init).
func (d *Dirs) Init(t *live.Trans, dp *inode.Inode, parent geometry.Inode) {
	dp.Data.Reset(ondisk.FormatLocal)
	size := 2 + 4
	if parent > maxShort {
		size = 2 + 8
	}
	b := dp.Data.Resize(size)
	clear(b)
	s := short{b, d.ftype}
	if parent > maxShort {
		s.b[1] = 1
	}
	s.setParent(parent)
	dp.Core.Size = uint64(size)
	dp.Log(t)
}

// Add enters a name (xfs_dir_createname). total is how many blocks the whole operation may
// take. ok is false if there is no room: with no blocks to be taken nothing has changed then, otherwise the
// transaction is to be given up. A name that is there already is an error that wraps
// fs.ErrExist, with which nothing has changed; one that differs in case is not.
func (d *Dirs) Add(t *live.Trans, dp *inode.Inode, name string, ino geometry.Inode, ftype uint8,
	total geometry.Blocks) (ok bool, err error) {
	switch {
	case len(name) == 0 || len(name) > MaxName:
		return false, d.damaged(dp, "a name of %d bytes", len(name))
	case !isName(name):
		return false, d.damaged(dp, "%q is no name", name)
	case isSelf(name):
		return false, d.damaged(dp, "%q: %w", name, fs.ErrExist)
	}
	o := d.begin(t, dp, name)
	o.ino, o.ftype, o.total = ino, ftype, total
	f, err := d.form(dp)
	if err != nil {
		return false, err
	}
	return forms[f].add(o)
}

// isName tells whether a name has no bytes that none may have.
func isName(name string) bool {
	return strings.IndexByte(name, '/') < 0 && strings.IndexByte(name, 0) < 0
}

// begin starts an operation.
func (d *Dirs) begin(t *live.Trans, dp *inode.Inode, name string) *op {
	o := &d.o
	*o = op{d: d, t: t, dp: dp, name: name, hash: d.hash(name), size: d.entrySize(len(name))}
	return o
}

// form is the form of a directory (xfs_dir2_format).
func (d *Dirs) form(dp *inode.Inode) (Form, error) {
	if dp.Data.Format == ondisk.FormatLocal {
		return Shortform, nil
	}
	list := dp.Data.Extents
	if len(list) == 0 {
		return 0, d.damaged(dp, "it has no blocks")
	}
	switch end := list[len(list)-1].End(); {
	case end == uint64(d.tree.Blocks):
		if dp.Core.Size != uint64(d.bytes) {
			return 0, d.damaged(dp, "its length is %d, of one block of %d", dp.Core.Size, d.bytes)
		}
		return Block, nil
	case end == uint64(d.leaf)+uint64(d.tree.Blocks):
		return Leaf, nil
	}
	return Node, nil
}

// Form is how a directory is laid out.
type Form int

// The forms.
const (
	Shortform Form = iota
	Block
	Leaf
	Node
)

// forms has a row for each form. It is made by init, for rows refer to it.
var forms [Node + 1]struct {
	name string
	// add enters the entry.
	add func(o *op) (ok bool, err error)
	// locate finds it, in o.match.
	locate func(o *op) (found bool, err error)
	// replace changes what was located, and remove takes it out.
	replace func(o *op) (ok bool, err error)
	remove  func(o *op) error
}

func init() {
	row := func(f Form, name string, add, locate, replace func(o *op) (bool, error), remove func(o *op) error) {
		r := &forms[f]
		r.name, r.add, r.locate, r.replace, r.remove = name, add, locate, replace, remove
	}
	row(Shortform, "shortform", (*op).addShort, (*op).locateShort, (*op).replaceShort, (*op).removeShort)
	row(Block, "block", (*op).addBlock, (*op).locateBlock, (*op).replaceEntry, (*op).removeBlock)
	row(Leaf, "leaf", (*op).addLeaf, (*op).locateLeaf, (*op).replaceEntry, (*op).removeLeaf)
	row(Node, "node", (*op).addNode, (*op).locateNode, (*op).replaceEntry, (*op).removeNode)
}

// String is the name of a form.
func (f Form) String() string { return forms[f].name }

// damaged is an error of a directory.
func (d *Dirs) damaged(dp *inode.Inode, format string, args ...any) error {
	return fmt.Errorf("directory %d: %w", dp.Ino, fmt.Errorf(format, args...))
}

// The number of a block of entries, of which the fork's place is a multiple.
func (d *Dirs) place(db int) da.Block { return da.Block(db) * da.Block(d.tree.Blocks) }

// blockOf is the number of the block of entries that an index's address is in.
func (d *Dirs) blockOf(address uint32) int {
	return int(int64(address) * addressUnit >> d.g.DirBlockLog)
}

// addressOf is the address of a place in a block of entries.
func (d *Dirs) addressOf(db, at int) uint32 {
	return uint32((int64(db)<<d.g.DirBlockLog + int64(at)) / addressUnit)
}

// addressUnit is what addresses in an index count.
const addressUnit = 8

// grow gives a directory a block of entries or of free space, the first unused one from
// low on (xfs_dir2_grow_inode).
func (o *op) grow(low da.Block) (at da.Block, ok bool, err error) {
	d := o.d
	at, ok, err = d.tree.Grow(o.t, o.dp, low, &o.total)
	if ok && low == 0 {
		if end := (uint64(at) + uint64(d.tree.Blocks)) << d.g.BlockLog; end > o.dp.Core.Size {
			o.dp.Core.Size = end
			o.dp.Log(o.t)
		}
	}
	return at, ok, err
}
