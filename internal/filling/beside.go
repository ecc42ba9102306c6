package filling

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Beside refuses files that will be written, whether they are there yet or not, and are in the
// directory that the filesystem is filled from: they would be copied while they change, and what is
// copied changes them again. Devices may be in it.
func (f *Filling) Beside(files ...string) error {
	root, err := filepath.EvalSymlinks(f.request.Path)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if info, e := os.Stat(root); err != nil || e != nil || !info.IsDir() {
		return nil // a prototype file names what it takes
	}
	for _, name := range files {
		if in, err := within(root, name); err == nil && in {
			return fmt.Errorf("%s: %s is in %s and would be copied into itself; have it somewhere else",
				cmp.Or(f.request.Option, "-p"), name, f.request.Path)
		}
	}
	return nil
}

// within tells whether a file is in a directory or will be. Nothing else than regular files is.
func within(root, name string) (bool, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return false, err
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return false, nil
		}
		path, err = filepath.EvalSymlinks(path)
		if err != nil {
			return false, err
		}
	} else {
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return false, err
		}
		path = filepath.Join(folder, filepath.Base(path))
	}
	return strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/"), nil
}
