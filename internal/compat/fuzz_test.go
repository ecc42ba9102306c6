package compat

import "testing"

// FuzzParseVersion reads what it has written.
func FuzzParseVersion(f *testing.F) {
	for _, text := range []string{"5.15.0-91-generic", "2.06", "6.18-rc1", "", ".", "1.", "-1.-1", "99999999999999999999.9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseVersion(text)
		if err != nil {
			return
		}
		if w, err := ParseVersion(v.String()); err != nil || w != v {
			t.Errorf("%q is %v, and that %v, %v", text, v, w, err)
		}
		ForKernel(v)
		ForGRUB(v)
	})
}
