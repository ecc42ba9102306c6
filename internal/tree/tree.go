// Package tree is what a filesystem is filled with: a tree of files, as a source gives it entry by
// entry, each directory before what is in it. Where entries come from is the source's affair: a
// directory of the host, or a prototype file.
//
// Entries come in an order that the source chooses and always keeps, since it decides where in
// the filesystem they are made.
package tree

import "context"

// Types of files, in Entry.Mode: those of POSIX, which are those of an inode too.
const (
	TypeMask      = 0xf000
	TypeFIFO      = 0x1000
	TypeCharacter = 0x2000
	TypeDirectory = 0x4000
	TypeBlock     = 0x6000
	TypeRegular   = 0x8000
	TypeSymlink   = 0xa000
	TypeSocket    = 0xc000
)

// MaxName is the length of the longest name, and MaxTarget that of the longest target of a
// symbolic link, in bytes. (XFS_SYMLINK_MAXLEN is what no target reaches.)
const (
	MaxName   = 255
	MaxTarget = 1023
)

// Entry is a file with its name.
type Entry struct {
	// Depth is how far the entry is below the root, which is 0. Its directory is the last one
	// that came with a depth of one less.
	Depth    int
	Name     string // of any bytes but / and zero; "" for the root
	Mode     uint16 // type and permissions
	UID, GID uint32
	// Major and Minor are the numbers of a device node.
	Major, Minor uint32
	// Modified and Accessed are the times that the file is to have; the zero value is that of
	// its making.
	Modified, Accessed Time
	Target             string // of a symbolic link
	Size               int64  // of a regular file, in bytes
	// Reserve: the regular file gets blocks for its size, which are not written.
	Reserve bool
	Attrs   []Attr // in the order in which they are set
	// Link names the file among those of the source that have several names; the zero value is
	// for a file with one. All but the first entry of a file are but names of it: of theirs,
	// only Depth and Name count.
	Link Link
	// Data is what a regular file holds; nil for nothing. It is good until the next entry
	// is asked for.
	Data Data
	// Stored is, in a survey, how many bytes of data there are, each piece rounded to whole
	// blocks of the filesystem, and Pieces how many pieces.
	Stored int64
	Pieces int
}

// IsDir tells a directory.
func (e *Entry) IsDir() bool { return e.Mode&TypeMask == TypeDirectory }

// Time is seconds since 1970 and nanoseconds.
type Time struct {
	Sec   int64
	Nsec  uint32
	Given bool
}

// Attr is an extended attribute, by the name that user space has for it, with its namespace:
// "user.colour".
type Attr struct {
	Name  string
	Value []byte
}

// Link is a file of a source: its device and inode number.
type Link struct{ Dev, Ino uint64 }

// Data is the contents of a regular file.
type Data interface {
	// Next finds the first piece of data from byte off on; what is between pieces reads as
	// zeros, and takes no blocks. After the last piece it returns io.EOF.
	Next(off int64) (start, end int64, err error)
	// ReadAt fills p from byte off on. A file that ends before has shrunk, which is an error.
	ReadAt(p []byte, off int64) error
}

// Source gives the entries of a tree.
type Source interface {
	// Next gives the next entry, the root first, and io.EOF behind the last. The entry and what
	// it refers to are good until the next call. Errors name the file.
	Next() (*Entry, error)
	// Path is the place of the last entry, for messages: a path of the host, or a line of a
	// prototype file with a path.
	Path() string
	Close() error
}

// Tree is a tree that can be gone through several times.
type Tree interface {
	// Name is what the tree comes from, as it was given.
	Name() string
	// Survey gives all entries without what they hold, but with Stored and Pieces for blocks of
	// so many bytes. It tries whether each file could be read, tells unreadable of those that
	// cannot, and leaves them out: directories with all that is in them. With unreadable nil,
	// the first is an error. Values of attributes need but have the right length.
	Survey(ctx context.Context, block int64, unreadable func(path string, err error)) (Source, error)
	// Open gives all entries, but for those that the last survey left out, if there was one. What that
	// has remembered of them need not be asked for again.
	Open(ctx context.Context) (Source, error)
	// Forget has what a survey remembers forgotten, so that the next Open gives what there is now.
	Forget()
}
