package attr

import "testing"

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name  string
		space Space
		rest  string
	}{
		{"user.colour", User, "colour"},
		{"trusted.user.x", Root, "user.x"},
		{"security.selinux", Secure, "selinux"},
		{"user.", User, ""},
		{"system.x", User, "system.x"},
		{"", User, ""},
	} {
		space, rest := Split(c.name)
		if space != c.space || rest != c.rest {
			t.Errorf("%q: %d, %q", c.name, space, rest)
		}
		if back := Join(space, rest); back != c.name && c.rest != c.name {
			t.Errorf("%q: %q", c.name, back)
		}
	}
	if got := Join(Parent, "x"); got != "x" {
		t.Errorf("%q", got)
	}
}
