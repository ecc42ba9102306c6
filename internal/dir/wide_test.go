package dir_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
)

// apart are files and directories whose numbers need 4 bytes or 8: the kernel makes directories in all AGs in turn, and
// files where their directory is.
func apart(t testing.TB, path string) (inos map[string]geometry.Inode) {
	t.Helper()
	inos = map[string]geometry.Inode{}
	livetest.Mounted(t, path, func(at string) {
		for i := range 8 {
			p := filepath.Join(at, string(rune('0'+i)))
			must(t, os.Mkdir(p, 0o700))
			file, name := "f", "low"
			if ino := inodeOf(t, p); ino > 1<<32 {
				file, name = "g", "high"
			}
			if inos[name] > 0 {
				continue
			}
			must(t, os.WriteFile(filepath.Join(p, file), nil, 0o600))
			must(t, os.Rename(filepath.Join(p, file), filepath.Join(at, file)))
			must(t, os.Rename(p, filepath.Join(at, name)))
			inos[file], inos[name] = inodeOf(t, filepath.Join(at, file)), inodeOf(t, filepath.Join(at, name))
		}
		must(t, os.Mkdir(filepath.Join(at, "low", "d"), 0o700))
		inos["d"] = inodeOf(t, filepath.Join(at, "low", "d"))
	})
	if inos["g"] <= 1<<32 || inos["f"] > 1<<32 || inos["f"] == 0 {
		t.Fatalf("%v", inos)
	}
	return inos
}

// Numbers of inodes that need 8 bytes, or do not any more, change a shortform as with the kernel: those of entries, and
// that of the parent.
func TestKernelWide(t *testing.T) {
	t.Parallel()
	const size, rounds = 3 << 40, 25
	for i, args := range [][]string{nil, {"-i", "size=1024"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			path := livetest.Reference(t, size, append([]string{"-d", "agcount=5", "-l", "size=64m", "-n", "parent=0"}, args...)...)
			inos := apart(t, path)
			fs := load(t, copyFile(t, path))
			dirs, dp := dir.New(fs.FS), read(t, fs.FS, inos["d"])
			random := rand.New(rand.NewPCG(uint64(i), 8))
			m := model{file: map[string]string{}, files: strings.Repeat("f", 7+13*i) + "g", random: random}
			for _, name := range names(60, 3) {
				if name = name[:1+random.IntN(min(len(name), 24))]; !slices.Contains(m.out, name) {
					m.out = append(m.out, name)
				}
			}
			wide, parent := map[bool]int{}, "low"
			for round := range rounds {
				list := m.changes(random.IntN(14 + 12*i))
				livetest.Mounted(t, path, func(at string) {
					for _, c := range list {
						c.kernelDoes(t, at, filepath.Join(parent, "d"))
					}
					if round%3 > 0 {
						to := map[string]string{"low": "high", "high": "low"}[parent]
						must(t, os.Rename(filepath.Join(at, parent, "d"), filepath.Join(at, to, "d")))
						parent = to
					}
				})
				for _, c := range list {
					c.do(t, dirs, fs.FS, dp, inos)
				}
				if round%3 > 0 {
					do(t, fs.FS, func(tr *live.Trans) (bool, error) {
						return dirs.Replace(tr, dp, "..", inos[parent], 2, modelBlocks)
					})
				}
				want := load(t, path)
				sameDir(t, fs, dp, want, read(t, want.FS, inos["d"]))
				if t.Failed() {
					t.Fatalf("round %d: after %v, in %s", round, list, parent)
				}
				if b := dp.Data.Local; len(b) > 0 {
					wide[b[1] > 0]++
				}
			}
			if wide[true] < 4 || wide[false] < 4 || wide[true]+wide[false] == rounds {
				t.Errorf("shortforms, by whether numbers have 8 bytes: %v", wide)
			}
		})
	}
}

// roomOfForks is the room that the kernel leaves for entries in inodes of 512 bytes, where it expects attributes.
const roomOfForks = 192

// Whether there is room in the inode for numbers of 8 bytes is decided as by the kernel, to the byte.
func TestKernelWidens(t *testing.T) {
	t.Parallel()
	path := livetest.Reference(t, 3<<40, "-d", "agcount=5", "-l", "size=64m", "-n", "parent=0")
	inos := apart(t, path)
	const count = 5
	type grown struct {
		verb  string
		names []string
	}
	all := map[string]grown{}
	livetest.Mounted(t, path, func(at string) {
		for room := roomOfForks - 8; room < roomOfForks+8; room++ {
			for _, verb := range []string{"add", "replace", "move"} {
				d, g := fmt.Sprint(verb, room), grown{verb, names(count, uint64(room))}
				left := room - (2 + 8 + count*(1+2+1+8))
				if verb == "add" {
					left -= 1 + 2 + 1 + 8 + len("new")
				}
				must(t, os.Mkdir(filepath.Join(at, "low", d), 0o700))
				for i := range g.names {
					n := left / (count - i)
					left -= n
					g.names[i] = strings.Repeat(string(rune('a'+i)), n)
					must(t, os.Link(filepath.Join(at, "f"), filepath.Join(at, "low", d, g.names[i])))
				}
				must(t, unix.Mknod(filepath.Join(at, "high", d), unix.S_IFIFO|0o600, 0))
				all[d] = g
				inos[d], inos["fifo"+d] = inodeOf(t, filepath.Join(at, "low", d)), inodeOf(t, filepath.Join(at, "high", d))
			}
		}
	})
	fs := load(t, copyFile(t, path))
	dirs := dir.New(fs.FS)
	livetest.Mounted(t, path, func(at string) {
		for d, g := range all {
			in := filepath.Join(at, "low", d)
			switch g.verb {
			case "add":
				must(t, os.Link(filepath.Join(at, "high", d), filepath.Join(in, "new")))
			case "replace":
				must(t, os.Rename(filepath.Join(at, "high", d), filepath.Join(in, g.names[4])))
			case "move":
				must(t, os.Rename(in, filepath.Join(at, "high", d+"moved")))
			}
		}
	})
	want := load(t, path)
	for d, g := range all {
		dp := read(t, fs.FS, inos[d])
		if dp.Room(fs.FS, false) != roomOfForks {
			t.Skipf("directories have room for %d bytes", dp.Room(fs.FS, false))
		}
		do(t, fs.FS, func(tr *live.Trans) (bool, error) {
			switch g.verb {
			case "add":
				return dirs.Add(tr, dp, "new", inos["fifo"+d], 5, modelBlocks)
			case "replace":
				return dirs.Replace(tr, dp, g.names[4], inos["fifo"+d], 5, modelBlocks)
			}
			return dirs.Replace(tr, dp, "..", inos["high"], 2, modelBlocks)
		})
		if sameDir(t, fs, dp, want, read(t, want.FS, inos[d])); t.Failed() {
			t.Fatal(d)
		}
	}
}

func do(t testing.TB, fs *live.FS, f func(tr *live.Trans) (bool, error)) {
	t.Helper()
	tr := fs.Begin(modelBlocks)
	ok, err := f(tr)
	must(t, err)
	if !ok {
		t.Fatal("no room")
	}
	must(t, tr.Commit())
}
