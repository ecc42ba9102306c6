// Package ialloc hands out inodes, and takes them back.
package ialloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// New is what a new inode is to be.
type New struct {
	Mode      uint16
	Nlink     uint32
	Rdev      uint64
	UID, GID  uint32
	ProjectID uint32
	Metadata  bool // a metadata inode, of a type that is in Meta
	Meta      uint16
	InitAttr  bool // it has an attribute fork from the start, for a parent pointer
}

// Alloc takes an inode, near its directory if it is no directory, else in an AG of
// its own. ok is false if there is none.
func Alloc(t *live.Trans, parent geometry.Inode, mode uint16) (ino geometry.Inode, ok bool, err error) {
	panic("to be written")
}

// Create makes an inode out of one that Alloc gave.
func Create(t *live.Trans, ino geometry.Inode, parent *inode.Inode, n New) (*inode.Inode, error) {
	panic("to be written")
}

// Free gives an inode back, and its chunk where that is empty then.
func Free(t *live.Trans, ip *inode.Inode) error { panic("to be written") }
