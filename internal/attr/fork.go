package attr

import (
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// maxListCount is the most attributes that a list counts.
const maxListCount = 255

// isShort tells whether the attributes are a list in the inode, or there are none.
func isShort(ip *inode.Inode) bool {
	return ip.Attr.Format == ondisk.FormatLocal || ip.Attr.Format == ondisk.FormatExtents && len(ip.Attr.Extents) == 0
}

// isLeaf tells whether all that the fork has is one leaf (xfs_attr_is_leaf in libxfs).
func isLeaf(ip *inode.Inode) bool {
	if ip.Attr.Format != ondisk.FormatExtents || len(ip.Attr.Extents) != 1 {
		return false
	}
	e := ip.Attr.Extents[0]
	return e.Offset == 0 && e.Blocks == 1
}

// hasAny tells whether there may be attributes.
func hasAny(ip *inode.Inode) bool {
	return ip.ForkOffset != 0 && (ip.Attr.Format != ondisk.FormatExtents || len(ip.Attr.Extents) > 0)
}

// list is the list of attributes in an inode.
func list(ip *inode.Inode) (shortform, error) {
	s := shortform(ip.Attr.Local)
	if err := s.check(); err != nil {
		return nil, damaged(ip, err)
	}
	return s, nil
}

// makeList makes the fork an empty list.
func makeList(ip *inode.Inode) {
	ip.Attr.Reset(ondisk.FormatLocal)
	s := shortform(ip.Attr.Resize(listHeader))
	s.set(listHeader, 0)
}

// appendItem enters an attribute at the end of the list (xfs_attr_shortform_add in libxfs).
func (o *op) appendItem(offset int, space Space, name, value []byte) {
	ip := o.ip
	o.f.fs.AttrLists = true
	ip.ForkOffset = offset
	at, n := len(ip.Attr.Local), itemSize(len(name), len(value))
	s := shortform(ip.Attr.Resize(at + n))
	listItem(s[at:]).put(space, name, value)
	s.set(at+n, s.count()+1)
}

// dropFork gives the literal area back to the data fork (xfs_attr_fork_remove in libxfs).
func dropFork(ip *inode.Inode) {
	ip.Attr.Reset(ondisk.FormatExtents)
	ip.ForkOffset = 0
}
