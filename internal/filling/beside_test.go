package filling

import (
	"os"
	"path/filepath"
	"testing"
)

// What will be written is not in the directory that is read, by whatever path.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.MkdirAll(at("tree/sub"), 0o700), os.Mkdir(at("tree-2"), 0o700), os.Symlink("tree", at("link")),
		os.WriteFile(at("tree/sub/there"), nil, 0o600), os.WriteFile(at("outside"), nil, 0o600),
		os.Symlink("../outside", at("tree/out")), os.Symlink("tree/sub/there", at("in")),
		os.Symlink("/dev/null", at("tree/null")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, source := range []string{at("tree"), at("tree") + "/", at("tree/sub/.."), at("link/")} {
		f, err := Open(Request{Path: source})
		if err != nil {
			t.Fatal(err)
		}
		for name, refused := range map[string]bool{
			"tree/new": true, "tree/sub/there": true, "link/new": true, "in": true, "link/sub/new": true,
			"outside": false, "tree/out": false, "tree/null": false, "tree-2/new": false, "new": false, "missing/new": false,
		} {
			if err := f.Beside(at("outside"), at(name)); (err != nil) != refused {
				t.Errorf("%s in %s: %v", name, source, err)
			}
		}
	}
}
