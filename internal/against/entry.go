package against

import (
	"errors"
	"fmt"

	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
	"mkfs/internal/tree"
)

type ino = geometry.Inode

func inodeText(i ino) string { return fmt.Sprintf("inode %d", i) }

// where is the path of an entry.
func (c *comparer) where(e *tree.Entry) string {
	if e.Depth == 0 {
		return "/"
	}
	return c.folders[e.Depth-1].path + "/" + e.Name
}

// entry compares an entry of the source.
func (c *comparer) entry(e *tree.Entry) error {
	if e.Depth == 0 {
		return c.root(e)
	}
	if e.Depth < 0 || e.Depth > len(c.folders) || e.Name == "" {
		return fmt.Errorf("%s: an entry %q of depth %d is nowhere", c.Source.Path(), e.Name, e.Depth)
	}
	for len(c.folders) > e.Depth {
		if err := c.leave(); err != nil {
			return err
		}
	}
	f := &c.folders[e.Depth-1]
	if f.ip == nil {
		c.counts.Skipped++
		c.pass(e)
		return nil
	}
	l, ok, err := c.find(f, e)
	if err != nil || !ok {
		c.pass(e)
		return err
	}
	ip, err := inode.Read(c.t, l.Ino)
	if err != nil {
		c.seen.add(uint64(l.Ino))
		c.blind = c.blind || e.IsDir()
		c.pass(e)
		return c.damaged(c.where(e), inodeText(l.Ino), err)
	}
	if ip.IsDir() {
		f.below++
	}
	err = c.file(e, ip, &l)
	if c.folders[len(c.folders)-1].ip != ip {
		ip.Release()
	}
	return err
}

// differ tells what is other than an entry has it.
func (c *comparer) differ(e *tree.Entry, what, want, got string) {
	c.tell(Difference{Path: c.where(e), What: what, Want: want, Got: got})
}

// pass goes over an entry that is not there, or of which nothing is known.
func (c *comparer) pass(e *tree.Entry) {
	if e.IsDir() {
		c.push(folder{})
	}
}

// root compares the root of the source.
func (c *comparer) root(e *tree.Entry) error {
	if len(c.folders) > 0 || !e.IsDir() {
		return fmt.Errorf("%s: the root of a source is one directory", c.Source.Path())
	}
	at := ino(c.Super.RootInode)
	c.seen.add(uint64(at))
	ip, err := inode.Read(c.t, at)
	if err == nil && !ip.IsDir() {
		ip.Release()
		err = errors.New("it is no directory")
	}
	if err != nil {
		c.blind = true
		c.pass(e)
		return c.damaged("/", inodeText(at), err)
	}
	c.counts.Directories++
	c.push(folder{ip: ip, parent: ip.Ino})
	c.fields(e, ip, nil)
	return c.attributes(e, ip)
}

// file compares an entry with the inode that its name leads to.
func (c *comparer) file(e *tree.Entry, ip *inode.Inode, l *dir.Listed) error {
	further, fresh := c.link(e, ip)
	dp := c.folders[e.Depth-1].ip
	if c.FS.G.Features.Ftype && l.Type != namei.FileType(ip.Core.Mode) {
		c.tell(Difference{Path: c.where(e), What: "type in the directory", Fault: fmt.Sprintf("it is %d, and not %d", l.Type,
			namei.FileType(ip.Core.Mode))})
	}
	if further {
		c.counts.Links++
		return c.pointer(e, ip)
	}
	if want, got := e.Mode&tree.TypeMask, ip.Core.Mode&ondisk.ModeType; want != got {
		c.differ(e, "type", typeName(want), typeName(got))
		return c.instead(e, ip, fresh)
	}
	c.fields(e, ip, dp)
	if err := c.attributes(e, ip); err != nil {
		return err
	}
	return c.contents(e, ip, fresh)
}

// instead goes over an entry whose place something of another type has.
func (c *comparer) instead(e *tree.Entry, ip *inode.Inode, fresh bool) error {
	path := c.where(e)
	c.pass(e)
	if !ip.IsDir() || !fresh {
		return nil
	}
	list, err := c.children(nil, path, ip)
	for _, at := range list {
		if err == nil {
			_, err = c.adopt(path, at)
		}
	}
	return err
}

// contents compares what an inode holds.
func (c *comparer) contents(e *tree.Entry, ip *inode.Inode, fresh bool) error {
	switch e.Mode & tree.TypeMask {
	case tree.TypeDirectory:
		c.counts.Directories++
		if !fresh { // it has been, or is in itself
			c.pass(e)
			return nil
		}
		c.push(folder{path: c.where(e), ip: ip, parent: c.folders[e.Depth-1].ip.Ino})
		return nil
	case tree.TypeRegular:
		c.counts.Files++
		return c.content(e, ip)
	case tree.TypeSymlink:
		c.counts.Symlinks++
		return c.target(e, ip)
	}
	c.counts.Others++
	return nil
}
