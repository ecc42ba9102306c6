package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// limited runs a command line that may write files up to 64 MiB, by a shell that sets the limit.
func limited(t *testing.T, line string, args ...string) (status int, out string) {
	t.Helper()
	sh := exec.Command("bash", "-c", "ulimit -f $((64 << 10)) && exec "+line)
	sh.Args = append(append(sh.Args, "-"), args...)
	b, err := sh.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Skip("no bash: ", err)
	}
	return sh.ProcessState.ExitCode(), string(b)
}

// A limit on the size of files is found before anything is written, and told as a number.
func TestFileSizeLimit(t *testing.T) {
	const says = "are more than the 67108864 (64 MiB) that this process may write (RLIMIT_FSIZE"
	dir := t.TempDir()
	img, log := filepath.Join(dir, "img"), filepath.Join(dir, "log")
	sparse(t, img, "400m")
	sparse(t, log, "65m")
	mustFormat(t, "-q", "-f", "-L", "before", img)
	before := shaOf(t, img)
	dirty, undo := filepath.Join(dir, "dirty"), filepath.Join(dir, "undo")
	other := filepath.Join(dir, "other")
	mustFormat(t, "-q", "--undo", undo, sparse(t, other, "400m"))
	otherBefore := shaOf(t, other)
	unpackDirty(t, "../../testdata/dirty/creates.img.gz", dirty)
	for _, c := range []struct {
		line string
		args []string
	}{
		{`mkfs -q -f "$@"`, []string{img}},
		{`mkfs -q -f -d size=300m "$@"`, []string{img}},
		{`mkfs -q --offset 128m --length 300m -f "$@"`, []string{sparse(t, filepath.Join(dir, "disk"), "500m")}},
		{`mkfs -q -f -l logdev="$1" "$2"`, []string{log, img}},
		{`mkfs -q --size 300m "$@"`, []string{filepath.Join(dir, "new")}},
		{`mkfs -q -f --size 500m "$@"`, []string{img}},
		{`mkfs recover --uuid generate "$@"`, []string{img}},
		{`mkfs recover --copy-to "$@"`, []string{filepath.Join(dir, "new"), img}},
		{`mkfs undo "$@"`, []string{undo, other}},
	} {
		status, out := limited(t, c.line, c.args...)
		if status != 1 && status != 2 || !strings.Contains(out, says) {
			t.Errorf("%s: exit status %d: %s", c.line, status, out)
		}
	}
	_, err := os.Stat(filepath.Join(dir, "new"))
	if shaOf(t, img) != before || shaOf(t, other) != otherBefore || !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written, or a file made")
	}
	// What has nothing to write has no limit.
	for _, line := range []string{`mkfs recover "$@"`, `mkfs recover -n --uuid generate "$@"`, `mkfs verify "$@"`, `mkfs info "$@"`, `mkfs -N -f "$@"`} {
		if status, out := limited(t, line, img); status != 0 {
			t.Errorf("%s: exit status %d: %s", line, status, out)
		}
	}
	if status, out := limited(t, `mkfs recover "$@"`, dirty); status != 0 {
		t.Errorf("a small image: exit status %d: %s", status, out)
	}
}
