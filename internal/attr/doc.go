// Package attr has the extended attributes of files: names with values, each in one of four namespaces. That
// of parent pointers tells for each link to a file the directory and the name.
//
// The attribute fork of an inode has one of these forms, whichever is the first that fits:
//
//	none     there is no fork; the data fork has all of the inode
//	list     (shortform) in the inode, in no order
//	leaf     one block, sorted by hash of the name
//	node     a btree of leaves, of package da
//
//	leaf     +--------+----------------------+ ... +--------------------------------+
//	         | header | hash, place, flags   |free | name, value | name, where value |
//	         +--------+----------------------+ ... +--------------------------------+
//	                    sorted, from the left          anywhere, from the right
//
// In the inode a list may push the data fork together, as far as that has no use for the bytes: where the
// attribute fork begins is moved then (attr2), and moved back as the list gets shorter.
//
// In a leaf names are with their values if both together are shorter than three quarters of a block. Other
// values have blocks of the fork, which in V5 have headers; names are beside the block's number then. The
// header of a leaf knows three of its free regions. If none of them has room the leaf is packed, and if that
// does not help it is split, so that the halves have as many bytes as they can, the new entry
// included.
//
// An attribute that is replaced is entered a second time before its old entry, and removed then: until it may
// be seen an entry is incomplete. Its value gets blocks after it is entered. Parent pointers are removed first.
// Each such step is put off to a transaction of its own, as in libxfs, for each counts as a change of the file. What a
// list has room for is changed at once.
//
// The rules are those of libxfs as of xfsprogs 7.2 (xfs_attr.c, xfs_attr_leaf.c, xfs_attr_remote.c, xfs_parent.c);
// functions name theirs.
package attr
