package dir_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"mkfs/internal/dir"
	"mkfs/internal/geometry"
)

// Directories of filesystems that no kernel mounts grow and shrink as those of the reference: xfs_db has commands for
// that.
func TestDatabaseChanges(t *testing.T) {
	for i, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			path := c.reference(t, []string{"f", "g"})
			fs := load(t, copyFile(t, path))
			dirs, dp := dir.New(fs.FS), read(t, fs.FS, fs.G.RootInode())
			files := map[string]geometry.Inode{}
			for e, err := range dirs.Entries(fs.Begin(0), dp, 0) {
				must(t, err)
				files[string(e.Name)] = e.Ino
			}
			m := model{
				file: map[string]string{}, files: "fg", random: rand.New(rand.NewPCG(uint64(i), 5)), stay: true,
				out: append(names(2500, 2), equalNames(500, 18)...),
			}
			for _, name := range m.out[2000:2500] {
				if other := strings.ToUpper(name); other != name { // the same, where case does not matter
					m.out = append(m.out, other)
				}
			}
			for _, n := range []int{2000, 40, 3, 100, 0} {
				list := m.changes(n)
				var commands strings.Builder
				commands.WriteString("path /\n")
				for _, c := range list {
					switch c.verb {
					case "add":
						fmt.Fprintf(&commands, "link -i %d -t reg %s\n", files[c.to], c.name)
					case "remove":
						fmt.Fprintf(&commands, "unlink %s\n", c.name)
					}
				}
				cmd := exec.Command("xfs_db", "-x", path)
				cmd.Stdin = strings.NewReader(commands.String())
				if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
					t.Fatalf("%v\n%s", err, out[:min(len(out), 2000)])
				}
				for _, c := range list {
					c.do(t, dirs, fs.FS, dp, files)
				}
				want := load(t, path)
				// The reference's cache may have what was in a block before it was freed.
				fs.remains, want.remains = true, true
				if sameDir(t, fs, dp, want, read(t, want.FS, dp.Ino)); t.Failed() {
					t.Fatalf("after %d changes, to %d names", len(list), n)
				}
			}
		})
	}
}
