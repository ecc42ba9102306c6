package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// hostOfLargeSectors is a folder on XFS on a device with sectors of 4096 bytes.
func hostOfLargeSectors(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	loop := attach(t, sparse(t, filepath.Join(dir, "host"), "20g"), "--sector-size=4096")
	mustFormat(t, loop)
	mountAt(t, loop, filepath.Join(dir, "mnt"), "rw")
	return filepath.Join(dir, "mnt")
}

// A file that is made has the sectors of its host, in all roles, and what a dry
// run tells is what will be; one that is there is no different.
func TestNewFilesOfLargeSectors(t *testing.T) {
	host := hostOfLargeSectors(t)
	t.Chdir(host)
	for _, args := range []string{
		"--size 400m img",
		"-d file,name=img,size=400m",
		"-d file,name=img,size=400m -l logdev=log,file,size=64m",
		"-d file,name=img,size=400m -r rtdev=rt,file,size=400m",
		"--size 400m -l logdev=log,file,size=64m -r rtdev=rt,file,size=400m img",
	} {
		list := strings.Fields(args)
		_, plan, _ := runAs(t, "mkfs", append(list, "-N")...)
		if left, err := os.ReadDir(host); err != nil || len(left) > 0 {
			t.Fatalf("%s -N leaves %v, %v", args, left, err)
		}
		status, made, errs := runAs(t, "mkfs", list...)
		if status != 0 || made != plan || strings.Count(made, "sectsz=4096") != 2 {
			t.Errorf("%s: exit status %d\n%s\n%s%s", args, status, plan, made, errs)
		}
		status, again, errs := runAs(t, "mkfs", append([]string{"-f"}, list...)...)
		if status != 0 || again != made {
			t.Errorf("%s, files that are there: exit status %d\n%s%s", args, status, again, errs)
		}
		for _, name := range []string{"img", "log", "rt"} {
			os.Remove(name)
		}
	}
	for _, args := range []string{"--size 400m --queue-depth 16 img", "--size 200t img"} {
		var r jsonReport
		status, out, errs := runAs(t, "mkfs", append([]string{"--json"}, strings.Fields(args)...)...)
		if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 || !r.Work.Direct {
			t.Errorf("%s: exit status %d, %v, work %+v\n%s", args, status, err, r.Work, errs)
		}
		os.Remove("img")
	}
}

// Who cannot write to a folder is told the same by a dry run.
func TestPlanForLargeSectors(t *testing.T) {
	host := hostOfLargeSectors(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(host, "mkfs")
	must(t, "cp", self, program)
	cmd := exec.Command(program, "-N", "-l", "logdev=log,file,size=64m", "-d", "file,name=img,size=400m")
	cmd.Dir = host
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := os.Chmod(filepath.Dir(filepath.Dir(host)), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "sectsz=4096") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}
