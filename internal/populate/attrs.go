package populate

import (
	"fmt"

	"mkfs/internal/attr"
	"mkfs/internal/inode"
	"mkfs/internal/tree"
)

// setAttrs sets attributes, each in transactions of its own.
func (f *Filler) setAttrs(ip *inode.Inode, list []tree.Attr) error {
	for _, a := range list {
		space, name := attr.Split(a.Name)
		r, err := f.names.Attrs.Set(ip, space, []byte(name), a.Value, attr.Upsert)
		if err := room(r == attr.Done, err); err != nil {
			return fmt.Errorf("attribute %s: %w", a.Name, err)
		}
	}
	return nil
}
