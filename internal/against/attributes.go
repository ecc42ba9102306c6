package against

import (
	"bytes"
	"fmt"

	"mkfs/internal/attr"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
	"mkfs/internal/tree"
)

// attributes compares the extended attributes of an inode with those of an entry, and its parent
// pointers with the name.
func (c *comparer) attributes(e *tree.Entry, ip *inode.Inode) error {
	x := attributes{comparer: c, e: e, ip: ip}
	x.wanted()
	err := c.attrs.Each(c.t, ip, x.compare)
	if err != nil {
		return c.damaged(c.where(e), "attributes", err)
	}
	for i := range e.Attrs {
		if a := &e.Attrs[i]; !c.found[i] {
			c.differ(e, "attribute "+legible(a.Name), quoted(a.Value), "")
		}
	}
	c.counts.Attributes += int64(len(e.Attrs))
	if c.FS.G.Features.Parent {
		x.checkPointers()
	}
	return nil
}

// attributes is a comparison of those of an inode.
type attributes struct {
	*comparer
	e        *tree.Entry
	ip       *inode.Inode
	byName   map[string]int // of the entry, where there are many
	pointers uint32         // to directories
	pointed  bool           // one of them is the name's
}

// few is how many attributes are gone through for each of an inode's.
const few = 16

// wanted prepares for those of the entry.
func (x *attributes) wanted() {
	n := len(x.e.Attrs)
	x.found = append(x.found[:0], make([]bool, n)...)
	if n <= few {
		return
	}
	x.byName = make(map[string]int, n)
	for i := range x.e.Attrs {
		x.byName[attr.Join(attr.Split(x.e.Attrs[i].Name))] = i
	}
}

// find is the index of the entry's attribute of a name, or -1. The last is the one that was set last.
func (x *attributes) find(space attr.Space, name []byte) int {
	if x.byName != nil {
		if i, ok := x.byName[attr.Join(space, string(name))]; ok {
			return i
		}
		return -1
	}
	for i := len(x.e.Attrs) - 1; i >= 0; i-- {
		if s, n := attr.Split(x.e.Attrs[i].Name); s == space && n == string(name) {
			return i
		}
	}
	return -1
}

// compare compares an attribute that is there.
func (x *attributes) compare(a *attr.Attr) error {
	if a.Space == attr.Parent {
		return x.pointer(a)
	}
	i := x.find(a.Space, a.Name)
	switch {
	case i < 0 && x.e.Depth == 0 && a.Space == attr.Root && string(a.Name) == ondisk.AutofsckName:
		// which mkfs sets
	case i < 0:
		x.differ(x.e, "attribute "+legible(attr.Join(a.Space, string(a.Name))), "", quoted(a.Value))
	default:
		x.found[i] = true
		if want := x.e.Attrs[i].Value; !bytes.Equal(want, a.Value) {
			x.differ(x.e, "attribute "+legible(x.e.Attrs[i].Name), quoted(want), quoted(a.Value))
		}
	}
	return nil
}

// pointer looks at a parent pointer.
func (x *attributes) pointer(a *attr.Attr) error {
	x.pointers++
	link, ok := a.Link()
	if !ok {
		return fmt.Errorf("parent pointer %q has a value of %d bytes", a.Name, len(a.Value))
	}
	if x.e.Depth == 0 {
		return nil
	}
	dp := x.folders[x.e.Depth-1].ip
	if link.Dir == dp.Ino && link.Generation == dp.Core.Generation && string(link.Name) == x.e.Name {
		x.pointed = true
	}
	return nil
}

// checkPointers tells what is wrong with the parent pointers of the first name of a file: it is
// to have one for each link.
func (x *attributes) checkPointers() {
	want := x.ip.Core.Nlink
	if x.ip.IsDir() {
		want = 1
	}
	if x.e.Depth == 0 {
		want = 0
	}
	switch {
	case want > 0 && !x.pointed:
		x.unpointed()
	case x.pointers != want:
		x.tell(Difference{Path: x.where(x.e), What: "parent pointers", Fault: fmt.Sprintf("there are %d, of %d names", x.pointers, want)})
	}
}

func (x *attributes) unpointed() {
	dp := x.folders[x.e.Depth-1].ip
	x.tell(Difference{Path: x.where(x.e), What: "parent pointer", Fault: "there is none to " + inodeText(dp.Ino)})
}

// pointer makes sure that a file has a parent pointer for a further name.
func (c *comparer) pointer(e *tree.Entry, ip *inode.Inode) error {
	if !c.FS.G.Features.Parent {
		return nil
	}
	x := attributes{comparer: c, e: e, ip: ip}
	err := c.attrs.Each(c.t, ip, func(a *attr.Attr) error {
		if a.Space == attr.Parent {
			return x.pointer(a)
		}
		return nil
	})
	if err != nil {
		return c.damaged(c.where(e), "attributes", err)
	}
	if !x.pointed {
		x.unpointed()
	}
	return nil
}
