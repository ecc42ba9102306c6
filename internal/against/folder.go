package against

import (
	"fmt"

	"mkfs/internal/dir"
	"mkfs/internal/inode"
	"mkfs/internal/tree"
)

// folder is a directory of the source whose entries are coming.
type folder struct {
	path   string
	ip     *inode.Inode // nil if it is not there, or cannot be read
	parent ino
	places set    // of the names that the source has too
	below  uint32 // directories in it
	last   string // the error of the last name that could not be looked up
	ahead  ahead  // inodes that will be wanted
}

// ahead reads inodes of a directory ahead.
type ahead struct {
	clusters inode.Ahead
	next     dir.Cookie
	names    int // that come before the next batch is due
	end      bool
}

// aheadNames is how many names are a batch. Two are ahead at first.
const aheadNames = 256

// push begins a directory.
func (c *comparer) push(f folder) *folder {
	n := len(c.folders)
	if n < cap(c.folders) {
		c.folders = c.folders[:n+1]
		f.places = c.folders[n].places // for its memory
		f.places.reset()
	} else {
		c.folders = append(c.folders, folder{})
	}
	c.folders[n] = f
	return &c.folders[n]
}

// find looks for the name of an entry. It is false if there is nothing to be compared.
func (c *comparer) find(f *folder, e *tree.Entry) (l dir.Listed, ok bool, err error) {
	if err := c.readAhead(f); err != nil {
		return l, false, err
	}
	l, found, err := c.dirs.Find(c.t, f.ip, e.Name)
	switch {
	case err != nil:
		c.blind = true
		if err.Error() == f.last { // which is of the directory and not of the name
			return l, false, c.alive(err)
		}
		f.last = err.Error()
		return l, false, c.damaged(c.where(e), "name", err)
	case !found || string(l.Name) != e.Name: // one that differs in case
		c.tell(Difference{Path: c.where(e), Want: "a " + typeName(e.Mode)})
		return l, false, nil
	}
	f.places.add(uint64(l.Cookie))
	return l, true, nil
}

// readAhead reads the next inodes of a directory, once so many names have been looked up.
func (c *comparer) readAhead(f *folder) error {
	a := &f.ahead
	if a.names--; a.names > 0 || a.end {
		return nil
	}
	batch := aheadNames
	if a.next == 0 {
		batch *= 2
	}
	a.names = aheadNames
	n := 0
	for l, err := range c.dirs.Entries(c.t, f.ip, a.next) {
		if err != nil {
			a.end = true
			return c.alive(err) // who looks up the name tells it
		}
		a.next = l.Cookie + 1
		if _, err := a.clusters.Begin(c.t, l.Ino); err != nil {
			return err
		}
		if n++; n == batch {
			return nil
		}
	}
	a.end = true
	return nil
}

// leave ends the last directory: it is to have no names that the source has not.
func (c *comparer) leave() error {
	f := &c.folders[len(c.folders)-1]
	defer func() { c.folders = c.folders[:len(c.folders)-1] }()
	if f.ip == nil {
		return nil
	}
	defer func() { f.ip.Release(); f.ip = nil }()
	surplus, err := c.surplus(f)
	if err != nil {
		c.blind = true
		return c.damaged(dirPath(f.path), "directory", err)
	}
	for _, s := range surplus {
		isDir, err := c.adopt(s.path, s.ino)
		if err != nil {
			return err
		}
		if isDir {
			f.below++
		}
	}
	if want := f.below + 2; f.ip.Core.Nlink != want {
		c.tell(Difference{
			Path: dirPath(f.path), What: "number of links",
			Fault: fmt.Sprintf("it is %d, with %d directories in it", f.ip.Core.Nlink, f.below),
		})
	}
	return nil
}

// named is a name that leads to an inode.
type named struct {
	path string
	ino  ino
}

// surplus tells of all names that the source has not.
func (c *comparer) surplus(f *folder) (list []named, err error) {
	n := 0
	for l, err := range c.dirs.Entries(c.t, f.ip, 0) {
		switch {
		case err != nil:
			return list, err
		case n < len(self):
			c.self(f, n, &l)
		case !f.places.has(uint64(l.Cookie)):
			s := named{f.path + "/" + string(l.Name), l.Ino}
			c.tell(Difference{Path: s.path, Got: "there"})
			list = append(list, s)
		}
		n++
	}
	return list, nil
}

// self are the names that each directory has first.
var self = [...]string{".", ".."}

// self checks one of them.
func (c *comparer) self(f *folder, n int, l *dir.Listed) {
	want := f.ip.Ino
	if n > 0 {
		want = f.parent
	}
	if string(l.Name) != self[n] || l.Ino != want {
		c.tell(Difference{
			Path: dirPath(f.path), What: quoted(self[n]),
			Fault: fmt.Sprintf("it is %s, %s, and not %s", quoted(l.Name), inodeText(l.Ino), inodeText(want)),
		})
	}
}

// adopt notes that a name leads to an inode, and if that is a directory all that is below. It tells whether it
// is one.
func (c *comparer) adopt(path string, top ino) (isDir bool, err error) {
	todo := []ino{top}
	for first := true; len(todo) > 0; first = false {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		ip, err := inode.Read(c.t, at)
		if err != nil {
			c.seen.add(uint64(at))
			c.blind = true
			if err := c.damaged(path, inodeText(at), err); err != nil {
				return isDir, err
			}
			continue
		}
		if first {
			isDir = ip.IsDir()
		}
		if c.name(ip, func() string { return path }) && ip.IsDir() {
			todo, err = c.children(todo, path, ip)
		}
		ip.Release()
		if err == nil {
			err = c.renew()
		}
		if err != nil {
			return isDir, err
		}
	}
	return isDir, nil
}

// children appends the inodes in a directory to a list.
func (c *comparer) children(todo []ino, path string, ip *inode.Inode) ([]ino, error) {
	n := 0
	for l, err := range c.dirs.Entries(c.t, ip, 0) {
		if err != nil {
			c.blind = true
			return todo, c.damaged(path, "directory", err)
		}
		if n++; n > len(self) {
			todo = append(todo, l.Ino)
		}
	}
	return todo, nil
}

// dirPath is the path of a directory, of which the root's is "" otherwise.
func dirPath(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
