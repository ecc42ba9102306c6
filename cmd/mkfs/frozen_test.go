package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// frozen copies the filesystem as a snapshot of a running machine has it: after some
// work and frozen meanwhile. With deleted, a file is open that was removed.
func (p *pair) frozen(t *testing.T, deleted bool) *pair {
	t.Helper()
	freeze := tool(t, "fsfreeze")
	unmount, err := p.mount(t)
	if err != nil {
		t.Skip("it cannot be mounted here: ", err)
	}
	defer unmount()
	at := filepath.Join(p.dir, "mnt")
	for i := range 200 {
		dir := filepath.Join(at, fmt.Sprint("dir", i%7))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("file", i)), []byte(strings.Repeat("x", i*97)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if deleted {
		path := filepath.Join(at, "journal")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	must(t, freeze, "--freeze", at)
	defer must(t, freeze, "--unfreeze", at)
	c := &pair{dir: t.TempDir(), at: p.at, size: p.size}
	c.data = filepath.Join(c.dir, "data")
	must(t, "cp", "--sparse=always", p.data, c.data)
	if p.log != "" {
		c.log = filepath.Join(c.dir, "log")
		must(t, "cp", "--sparse=always", p.log, c.log)
	}
	return c
}

// repaired is what xfs_repair -n says of a filesystem, or nothing if it is content.
func (p *pair) repaired(t *testing.T) string {
	t.Helper()
	args := []string{"-n", p.data}
	if p.log != "" {
		args = []string{"-n", "-l", p.log, p.data}
	}
	out, err := exec.Command(tool(t, "xfs_repair"), args...).CombinedOutput()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%v\n%s", err, out)
}

// A copy that was taken while the filesystem was frozen is whole without the kernel,
// unless files were open that had been deleted: then the kernel finishes it (P77).
func TestFrozenCopy(t *testing.T) {
	needRoot(t)
	for _, c := range []struct {
		name    string
		deleted bool
		status  int
		says    string
	}{
		{"nothing is open", false, 0, "; the log is clean now"},
		{"a deleted file is open", true, 3, "; for the kernel remain 1 deleted file; the log stays dirty, and the next mount finishes it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			taken := pairOf(t, false).frozen(t, c.deleted)
			before := digestOf(t, taken.data)
			if says := taken.repaired(t); says == "" {
				t.Error("xfs_repair -n is content with what was not recovered")
			}
			whole := &pair{dir: taken.dir, data: filepath.Join(taken.dir, "whole")}
			status, out, errs := runAs(t, "mkfs", "recover", "--copy-to", whole.data, taken.data)
			if status != c.status || !strings.Contains(out, c.says) {
				t.Errorf("exit status %d, want %d and %q\n%s%s", status, c.status, c.says, out, errs)
			}
			if digestOf(t, taken.data) != before {
				t.Error("what was copied has changed")
			}
			if status, out, _ := runAs(t, "mkfs", "verify", whole.data); status != c.status {
				t.Errorf("verify: exit status %d\n%s", status, out)
			}
			if c.deleted {
				unmount, err := whole.mount(t)
				if err != nil {
					t.Fatal(err)
				}
				unmount()
			}
			if says := whole.repaired(t); says != "" {
				t.Error(says)
			}
			if status, out, errs := runAs(t, "mkfs", "recover", taken.data); status != c.status {
				t.Errorf("in place: exit status %d\n%s%s", status, out, errs)
			}
		})
	}
}

// With another filesystem's log, or with none that is one, nothing is recovered and
// nothing written, and the kernel mounts neither; with its own it is well (P74).
func TestWrongExternalLog(t *testing.T) {
	needRoot(t)
	one, two := pairOf(t, true).frozen(t, false), pairOf(t, true).frozen(t, false)
	zeroed := sparse(t, filepath.Join(one.dir, "zeroed"), "64m")
	short := sparse(t, filepath.Join(one.dir, "short"), "1m")
	must(t, "dd", "if="+one.log, "of="+short, "bs=1M", "count=1", "status=none")
	all := []string{one.data, one.log, two.data, two.log, zeroed, short}
	var before []content
	for _, path := range all {
		before = append(before, digestOf(t, path))
	}
	says := map[string]string{
		two.log: "not a log of this filesystem: its UUID is ", two.data: "it begins with a superblock of XFS",
		short: "the log has 67108864 bytes, its device 1048576", one.data: "one and the same", zeroed: "holds no log: nothing was ever written there", "": "--logdev names it",
	}
	for log, text := range says {
		commands, logdev := []string{"recover ", "recover -n "}, ""
		if log != "" {
			commands = append(commands, fmt.Sprintf("recover --copy-to %[1]s/c --copy-log-to %[1]s/l ", one.dir))
			logdev = "--logdev " + log + " "
		}
		for _, command := range commands {
			expect(t, 1, text, command+logdev+one.data)
		}
	}
	for _, name := range []string{"c", "l"} {
		if _, err := os.Lstat(filepath.Join(one.dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s was left: %v", name, err)
		}
	}
	expect(t, 1, "not a log of this filesystem", "info --logdev "+two.log+" "+one.data)
	expect(t, 1, "", "verify --logdev "+two.log+" "+one.data)
	swapped := &pair{dir: one.dir, data: one.data, log: two.log}
	if unmount, err := swapped.mount(t); err == nil {
		unmount()
		t.Error("the kernel mounts it")
	}
	for i, path := range all {
		if digestOf(t, path) != before[i] {
			t.Errorf("%s has changed", path)
		}
	}
	whole := &pair{dir: one.dir, data: filepath.Join(one.dir, "whole"), log: filepath.Join(one.dir, "wholelog")}
	expect(t, 0, "", "recover --copy-to "+whole.data+" --copy-log-to "+whole.log+" --logdev "+one.log+" "+one.data)
	if digestOf(t, one.data) != before[0] || digestOf(t, one.log) != before[1] {
		t.Error("what was copied has changed")
	}
	expect(t, 0, "", "recover --logdev "+two.log+" "+two.data)
	for _, p := range []*pair{whole, two} {
		if says := p.repaired(t); says != "" {
			t.Error(says)
		}
	}
}
