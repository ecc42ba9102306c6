package dir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/live/livetest"
)

// The list of free space of a directory of more than 2016 blocks of 4 KiB has several blocks, which come and go as the
// kernel's do.
func TestKernelManyFree(t *testing.T) {
	t.Parallel()
	const perBlock, listed = 15, 2016 // names of that length, and blocks of them in a block of the list
	list := make([]string, perBlock*(listed+20))
	for i := range list {
		list[i] = fmt.Sprintf("%d%s", i, strings.Repeat("n", 250))[:250]
	}
	path := livetest.Reference(t, size, "-n", "parent=0")
	files := map[string]geometry.Inode{}
	livetest.Mounted(t, path, func(at string) {
		must(t, os.Mkdir(filepath.Join(at, "d"), 0o700))
		must(t, os.WriteFile(filepath.Join(at, "f"), nil, 0o600))
		files["d"], files["f"] = inodeOf(t, filepath.Join(at, "d")), inodeOf(t, filepath.Join(at, "f"))
	})
	fs := load(t, copyFile(t, path))
	dirs, dp := dir.New(fs.FS), read(t, fs.FS, files["d"])
	const second = perBlock * listed // the first name, about, that is listed in the second block
	there := make([]bool, len(list))
	for _, step := range []struct {
		verb     string
		from, to int
		pick     int // of as many one
	}{
		{"add", 0, len(list), 1},
		{"remove", second - 100, len(list), 2},
		{"remove", second + 51, len(list), 2},
		{"add", second + 51, len(list), 2},
		{"remove", 1, second - 400, 2},
		{"remove", 2, second - 400, 2},
		{"remove", 0, 1, 1},
		{"add", 0, second - 400, 7},
		{"remove", second + 100, len(list), 1},
		{"add", 0, len(list), 40},
		{"remove", 500, len(list), 1},
		{"add", 0, len(list), 300},
		{"remove", 30, len(list), 1},
	} {
		var all []change
		for i := step.from; i < step.to; i += step.pick {
			if there[i] != (step.verb == "add") {
				there[i] = !there[i]
				all = append(all, change{step.verb, list[i], "f"})
			}
		}
		livetest.Mounted(t, path, func(at string) {
			for _, c := range all {
				c.kernelDoes(t, at, "d")
			}
		})
		for _, c := range all {
			c.do(t, dirs, fs.FS, dp, files)
		}
		want := load(t, path)
		sameDir(t, fs, dp, want, read(t, want.FS, files["d"]))
		if t.Failed() {
			t.Fatalf("after %+v", step)
		}
	}
}
