package da

import "mkfs/internal/buffer"

// Leaves is what the btree has to know of its leaves. Methods that change
// something get the State of the operation.
type Leaves interface {
	rules
	// Search looks for what the operation is for in the leaf that leaf has, and sets
	// its Index to where that is, or where it would be.
	Search(s *State, leaf *Step) (found bool, err error)
	// Split makes a leaf for the upper half of a full one (State.GrowIndex), links it
	// with State.Link, and enters what was to be entered into one of them. It sets
	// all of added, and the Hash of both.
	Split(s *State, old, added *Step) (Fit, error)
}

// rules are those that nodes have as well.
type rules interface {
	// LastHash is the greatest hash of a block; any is false if it has no entry.
	LastHash(b *buffer.Buf) (hash uint32, any bool)
	// Fill tells how full a block is.
	Fill(b *buffer.Buf) Fill
	// Room tells whether the entries of two blocks have room in one, of which a
	// quarter stays free.
	Room(a, b *buffer.Buf) bool
	// Unbalance moves all entries of a block that is dropped, if it has any, to the
	// one that is kept.
	Unbalance(s *State, drop, keep *Step) error
}

// Fit tells how a split went.
type Fit int

// The results of a split.
const (
	Fits    Fit = iota
	NoRoom      // there is no block for the new leaf
	TooFull     // the leaf that the entry belongs to is still too full: it is to be split again
)

// Fill tells how full a block is that has lost an entry.
type Fill int

// How full a block is.
const (
	Large Fill = iota // more than half
	Small             // at most half: it is joined with a sibling if one has room
	Empty
)
