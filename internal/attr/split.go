package attr

import "strings"

// prefixes are the namespaces, by the prefix that user space has for them.
var prefixes = []struct {
	prefix string
	space  Space
}{
	{"trusted.", Root},
	{"security.", Secure},
	{"user.", User},
}

// Split takes the name that user space has for an attribute apart: into its namespace and the name there.
// One without the prefix of a namespace is the user's with all of its name, as for mkfs.xfs (writeattr).
func Split(name string) (Space, string) {
	for _, s := range prefixes {
		if rest, ok := strings.CutPrefix(name, s.prefix); ok {
			return s.space, rest
		}
	}
	return User, name
}

// Join is the name that user space has for an attribute.
func Join(space Space, name string) string {
	for _, s := range prefixes {
		if s.space == space {
			return s.prefix + name
		}
	}
	return name
}
