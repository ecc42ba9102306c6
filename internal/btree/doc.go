// Package btree works on the B+trees of XFS in their blocks.
//
// A Kind is a row of a table: magic numbers, the lengths of records and keys, how they
// are ordered. A Tree is one of a filesystem, with a Root that knows where it begins and
// gives and takes blocks. A Cursor looks records up, walks, and changes them.
//
// Records are moved in the bytes of the block, and what they leave behind stays there,
// so that blocks end as those of the reference. These rules decide how they end:
//
//   - A full block first hands an entry to its right neighbour, then takes the way
//     to its left one, and is only then split. Nothing is handed over that is at the
//     cursor: the new entry would have to go with it.
//   - A split leaves half on each side. Of an odd number the right half has more, but if
//     the new entry goes behind the middle.
//   - A block with fewer entries than half of its room takes one from its right
//     neighbour, else from the left, where they have more than that; else it is joined
//     with the left one, else with the right. A root of one pointer gives way.
//   - Keys of the first record below go up as far as the block is the first of its
//     parent. Where records may overlap (owners of blocks) a node has the last end of
//     all records below, too, which go up as far as they differ.
//
// (xfs_btree.c in libxfs, and "Variable Length B+trees" in the XFS Algorithms & Data
// Structures.)
//
// What is read is checked: magic number, level, owner, counts, and that pointers lead to
// a block that can be one. A damaged tree is an error that names it and the block, and
// no walk through one goes in circles.
package btree
