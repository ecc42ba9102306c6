// Package protofile reads prototype files: trees of files told in words, as mkfs has taken them since
// Unix was young. A prototype file is a tree.Tree.
//
// # The format
//
// A prototype file is words with blanks, tabs and newlines between them. A word that begins with a
// colon begins a comment, up to the end of the line; it may stand anywhere. The first three words
// mean nothing: they once were a boot image and two sizes. Then comes the root directory, an entry
// without a name:
//
//	boot 0 0
//	d--755 0 0
//	etc d--755 0 0
//		motd ---644 0 0 /home/build/motd   : contents from this file of the host
//		mtab l--777 0 0 ../proc/mounts
//	$
//	dev d--755 0 0
//		null c--666 0 0 1 3
//	$
//	swap r--600 0 0 1g
//	$
//
// An entry is a name, a mode, the numbers of a user and a group, and what its type needs:
//
//	r  a regular file: a size; so much space is allocated, and not written, and the file is empty
//	-  a regular file: the file of the host that it is a copy of
//	b  a block device: major and minor number
//	c  a character device: the same
//	d  a directory: entries, up to a $ in place of a name
//	l  a symbolic link: its target
//	p  a fifo: nothing
//
// A mode is the letter of a type, u for set-user-ID or a dash, g for set-group-ID or a dash, and
// three octal digits. What follows these is not looked at. Numbers are those of C: 0x begins a
// hexadecimal one, and 0 an octal one; that of a user or group may be negative. A size may have a
// unit, as those of options. At the end of the file, all directories that are open end, too; what
// follows the root directory's $ is not looked at. With slashes_are_spaces a slash in a name stands
// for a blank. There is no other way to have one, nor a name that begins with a colon, or is $.
//
// A copy has the contents, holes and extended attributes of its source, but neither its owner nor
// its times. A source that is no regular file, like /dev/null, gives an empty file with attributes.
//
// # What is refused
//
// All that mkfs.xfs refuses or dies on (parseproto and setup_proto in mkfs/proto.c), with the file,
// the line and the word. Beyond that, these, which it takes and which make something else than what
// is written there:
//
//   - a number that is none, or that does not fit: it takes -1 for it, or some of its bits;
//   - a name that a directory has already, . or ..: it makes a directory that has to be repaired;
//   - bytes of value 0: it takes them for the end of the file or of the word;
//   - a fifo as a source: it waits for somebody to write into it, perhaps forever;
//   - a source that shrinks while it is read.
//
// # Memory
//
// The file is read as it is gone through, word by word. What is held is the way from the root to the
// last entry, with hashes of the names in these directories: 16 bytes each. Nothing recurses.
package protofile
