package populate

import (
	"fmt"
	"strings"

	"mkfs/internal/attr"
	"mkfs/internal/inode"
	"mkfs/internal/tree"
)

// spaces are the namespaces of attributes by the prefix that user space has for them. What has
// none of them is the user's with all of its name, as mkfs.xfs has it (writeattr).
var spaces = []struct {
	prefix string
	space  attr.Space
}{
	{"trusted.", attr.Root},
	{"security.", attr.Secure},
	{"user.", attr.User},
}

// SplitAttr gives the namespace of an attribute and its name there.
func SplitAttr(name string) (attr.Space, string) {
	for _, s := range spaces {
		if rest, ok := strings.CutPrefix(name, s.prefix); ok {
			return s.space, rest
		}
	}
	return attr.User, name
}

// setAttrs sets attributes, each in transactions of its own.
func (f *Filler) setAttrs(ip *inode.Inode, list []tree.Attr) error {
	for _, a := range list {
		space, name := SplitAttr(a.Name)
		r, err := f.names.Attrs.Set(ip, space, []byte(name), a.Value, attr.Upsert)
		if err := room(r == attr.Done, err); err != nil {
			return fmt.Errorf("attribute %s: %w", a.Name, err)
		}
	}
	return nil
}
