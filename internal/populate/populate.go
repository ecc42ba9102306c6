// Package populate fills a new filesystem with the files of a tree.
//
// Each entry is made where it comes, by the steps in which mkfs.xfs makes those of a prototype
// file or a directory (mkfs/proto.c), since these steps decide where inodes and blocks are:
//
//	create      one transaction: the inode, the target of a symbolic link, the name in its directory,
//	            the pointer back; a directory gets . and ..
//	data        pieces of 128 KiB: a transaction for the blocks of each extent
//	size        one transaction: where the file ends
//	attributes  those of each attribute
//
// A further name of a file is one transaction. Directories are not stamped when they get an
// entry: they keep the time of their source.
//
// Data goes past the cache of metadata: it is read from the source into memory of the writer,
// which writes it at its own pace.
package populate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mkfs/internal/bmap"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
	"mkfs/internal/symlink"
	"mkfs/internal/tree"
)

// Data takes file data past the cache.
type Data interface {
	// Room gives memory for n bytes, which will be written at a byte of the data section. It is
	// to be filled before the next call.
	Room(off int64, n int) ([]byte, error)
	// Most is how many bytes can be had at once: a multiple of the block size.
	Most() int
}

// Counts are what was made.
type Counts struct {
	Entries                   int64 // names; without the root
	Directories, Files, Links int64 // Links are further names of files
	Symlinks, Devices, Pipes  int64 // Pipes are FIFOs and sockets
	Bytes                     int64 // of data
	Holes                     int64 // bytes of files that are not data
	Attributes                int64
}

// Filler fills a filesystem from a source.
type Filler struct {
	fs     *live.FS
	names  *namei.Names
	src    tree.Source
	data   Data // nil to write none
	root   *tree.Entry
	opened []*inode.Inode // directories, from the root to that of the entry
	links  map[tree.Link]geometry.Inode
	space  space
	Counts Counts
	// Progress is told of each entry that is made, and of each step of data; nil for nobody.
	Progress func(c *Counts)
	// Used is told of each inode; nil for nobody.
	Used func(ino geometry.Inode)
}

// New prepares to fill a filesystem. names are its names.
func New(fs *live.FS, names *namei.Names, src tree.Source, data Data) *Filler {
	return &Filler{fs: fs, names: names, src: src, data: data, links: map[tree.Link]geometry.Inode{}, space: newSpace(fs.G)}
}

// ErrNoRoom tells that the data section has no room for all of the tree.
var ErrNoRoom = errors.New("no room is left in the filesystem")

// Root reads the first entry, and says what the root directory is to be.
func (f *Filler) Root() (ialloc.New, error) {
	e, err := f.src.Next()
	switch {
	case err == io.EOF:
		return ialloc.New{}, errors.New("the tree has no root")
	case err != nil:
		return ialloc.New{}, err
	case e.Depth != 0 || !e.IsDir():
		return ialloc.New{}, f.fail(errors.New("the root is no directory"))
	}
	f.root = e
	return ialloc.New{Mode: e.Mode, UID: e.UID, GID: e.GID, Unlinkable: true}, nil
}

// Rooted completes the root directory, once it is made.
func (f *Filler) Rooted(root *inode.Inode) error {
	f.opened = append(f.opened, root)
	return f.fail(f.setAttrs(root, f.root.Attrs))
}

// Fill makes all that is in the root directory.
func (f *Filler) Fill(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := f.src.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Depth < 1 || e.Depth > len(f.opened) || e.Name == "" {
			return f.fail(fmt.Errorf("an entry %q of depth %d is nowhere", e.Name, e.Depth))
		}
		for n := len(f.opened); n > e.Depth; n-- {
			f.opened[n-1].Release()
			f.opened = f.opened[:n-1]
		}
		if err := f.make(e); err != nil {
			return f.fail(err)
		}
		f.Counts.Entries++
		f.tell()
	}
}

func (f *Filler) tell() {
	if f.Progress != nil {
		f.Progress(&f.Counts)
	}
}

func (f *Filler) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.src.Path(), err)
}

// make makes an entry.
func (f *Filler) make(e *tree.Entry) error {
	dp := f.opened[e.Depth-1]
	if e.Link != (tree.Link{}) {
		if ino, there := f.links[e.Link]; there {
			f.Counts.Links++
			return f.link(dp, e.Name, ino)
		}
	}
	ip, err := f.create(dp, e)
	if err != nil {
		return err
	}
	if e.Mode&tree.TypeMask == tree.TypeRegular {
		if err := f.fill(ip, e); err != nil {
			return err
		}
	}
	if err := f.setAttrs(ip, e.Attrs); err != nil {
		return err
	}
	if e.Link != (tree.Link{}) {
		f.links[e.Link] = ip.Ino
	}
	f.count(e)
	if e.IsDir() {
		f.opened = append(f.opened, ip)
	} else {
		ip.Release()
	}
	return nil
}

// create makes the inode of an entry, with its name.
func (f *Filler) create(dp *inode.Inode, e *tree.Entry) (*inode.Inode, error) {
	t := f.fs.Begin(f.space.create(e, f.fs.Counts.FreeBlocks))
	what := ialloc.New{Mode: e.Mode, UID: e.UID, GID: e.GID, Device: ondisk.DeviceNumber(e.Major, e.Minor)}
	ip, ok, err := f.names.Inode(t, dp, what)
	if err != nil || !ok {
		return nil, room(ok, err)
	}
	if f.Used != nil {
		f.Used(ip.Ino)
	}
	if e.Mode&tree.TypeMask == tree.TypeSymlink {
		if ok, err = symlink.Write(t, ip, e.Target, f.space.own(e)); err != nil || !ok {
			return nil, room(ok, err)
		}
	}
	if ok, err = f.names.Enter(t, dp, e.Name, ip, f.space.enter); err != nil || !ok {
		return nil, room(ok, err)
	}
	f.stamp(ip, e)
	ip.Log(t)
	return ip, room(true, t.Commit())
}

// room is the error of an operation, ErrNoRoom where it found no room.
func room(ok bool, err error) error {
	if err == nil && !ok || errors.Is(err, bmap.ErrNoRoom) {
		return ErrNoRoom
	}
	return err
}

// stamp gives an inode the times of its source.
func (f *Filler) stamp(ip *inode.Inode, e *tree.Entry) {
	for _, row := range [...]struct {
		time tree.Time
		at   *uint64
	}{{e.Modified, &ip.Core.Mtime}, {e.Accessed, &ip.Core.Atime}} {
		if row.time.Given {
			*row.at = ip.EncodeTime(ip.ClampTime(row.time.Sec, row.time.Nsec))
		}
	}
}

// link makes a further name of a file.
func (f *Filler) link(dp *inode.Inode, name string, ino geometry.Inode) error {
	t := f.fs.Begin(f.space.link(f.fs.Counts.FreeBlocks))
	ip, err := inode.Read(t, ino)
	if err != nil {
		return err
	}
	defer ip.Release()
	if ok, err := f.names.EnterLink(t, dp, name, ip, f.space.enter); err != nil || !ok {
		return room(ok, err)
	}
	return room(true, t.Commit())
}

// count counts an entry that is made.
func (f *Filler) count(e *tree.Entry) {
	c := &f.Counts
	c.Attributes += int64(len(e.Attrs))
	switch e.Mode & tree.TypeMask {
	case tree.TypeDirectory:
		c.Directories++
	case tree.TypeRegular:
		c.Files++
	case tree.TypeSymlink:
		c.Symlinks++
	case tree.TypeCharacter, tree.TypeBlock:
		c.Devices++
	default:
		c.Pipes++
	}
}
