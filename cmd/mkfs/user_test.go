package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inRoot makes a process see nothing but a folder.
func inRoot(dir string) *syscall.SysProcAttr { return &syscall.SysProcAttr{Chroot: dir} }

// asNobody gives a process no rights.
func asNobody() *syscall.SysProcAttr {
	const nobody = 65534
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// Who may not write, or not even read, is told so, and nothing is made (P31).
// The scripts can only test that where they are not run by root.
func TestNoPermission(t *testing.T) {
	needRoot(t)
	dir, err := os.MkdirTemp("", "mkfs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "mkfs")
	must(t, "cp", self, program)
	readable, secret := sparse(t, filepath.Join(dir, "readable"), "400m"), sparse(t, filepath.Join(dir, "secret"), "400m")
	must(t, program, "-q", readable) // recover writes nothing else
	if err := os.Chmod(readable, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(secret, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says string }{
		{"-f " + readable, "readable: cannot open: permission denied"},
		{"-f " + secret, "secret: cannot open: permission denied"},
		{"--size 400m " + filepath.Join(dir, "new"), "new: cannot open: permission denied"},
		{"-f -d file,size=400m " + readable, "permission denied"},
		{"undo -f " + secret + " " + readable, "permission denied"},
		{"recover " + readable, "permission denied"},
		{"verify " + secret, "permission denied"},
	} {
		cmd := exec.Command(program, strings.Fields(c.args)...)
		cmd.Dir = "/"
		cmd.SysProcAttr = asNobody()
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.says) || strings.Contains(string(out), "panic") {
			t.Errorf("%s: %v\n%s", c.args, err, out)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Errorf("a file was made: %v", err)
	}
}
