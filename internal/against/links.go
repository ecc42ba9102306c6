package against

import (
	"fmt"

	"mkfs/internal/inode"
	"mkfs/internal/tree"
)

// links are the names of files that have several, in the filesystem or in the source.
type links struct {
	byLink  map[tree.Link]named // where the names of the source have led first
	byInode map[ino]*linked
	order   []*linked
}

// linked is an inode that has several names, or says so.
type linked struct {
	ino   ino
	path  string // the first that is known
	links uint32 // that it says it has
	names uint32 // that lead to it
}

func newLinks() links { return links{byLink: map[tree.Link]named{}, byInode: map[ino]*linked{}} }

// name notes that a name leads to an inode. It tells whether it is the first that does.
func (c *comparer) name(ip *inode.Inode, path func() string) (fresh bool) {
	fresh = c.seen.add(uint64(ip.Ino))
	if ip.IsDir() || fresh && ip.Core.Nlink == 1 {
		return fresh
	}
	l := c.links.byInode[ip.Ino]
	if l == nil {
		l = &linked{ino: ip.Ino, path: path(), links: ip.Core.Nlink}
		if !fresh {
			l.names = 1
		}
		c.links.byInode[ip.Ino] = l
		c.links.order = append(c.links.order, l)
	}
	l.names++
	return fresh
}

// link compares what other names an inode has. It tells whether the entry is but a further name
// of an earlier one, and whether its name is the first that leads to the inode.
func (c *comparer) link(e *tree.Entry, ip *inode.Inode) (further, fresh bool) {
	first, further := c.links.byLink[e.Link]
	if e.Link != (tree.Link{}) && !further {
		c.links.byLink[e.Link] = named{c.where(e), ip.Ino}
	}
	fresh = c.name(ip, func() string { return c.where(e) })
	switch {
	case further && first.ino != ip.Ino:
		c.differ(e, "file", "that of "+legible(first.path), "one of its own")
	case !further && !fresh:
		c.differ(e, "file", "one of its own", "that of "+c.known(e, ip.Ino))
	}
	return further, fresh
}

// known is what is known of a file that another name than that of an entry has led to.
func (c *comparer) known(e *tree.Entry, i ino) string {
	if l := c.links.byInode[i]; l != nil && l.path != c.where(e) {
		return legible(l.path)
	}
	return inodeText(i)
}

// checkLinks compares how many names each file has with what it says.
func (c *comparer) checkLinks() {
	if c.blind {
		return
	}
	for _, l := range c.links.order {
		if l.names != l.links {
			c.tell(Difference{Path: l.path, What: "number of links", Fault: fmt.Sprintf("it is %d, of %d names", l.links, l.names)})
		}
	}
}
