package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mkfs/internal/labeltest"
	"mkfs/internal/report"
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
		var r report.Made
		status, out, errs := runAs(t, "mkfs", append([]string{"--json"}, strings.Fields(args)...)...)
		if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 || !r.Work.Direct {
			t.Errorf("%s: exit status %d, %v, work %+v\n%s", args, status, err, r.Work, errs)
		}
		os.Remove("img")
	}
}

// The partition of an image on such a host may begin at any sector of the disk
// that it is for: of that the host says nothing.
func TestOddPartitionOnLargeSectors(t *testing.T) {
	img := sparse(t, filepath.Join(hostOfLargeSectors(t), "img"), "400m")
	f, err := os.OpenFile(img, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := labeltest.GPT(f, 400<<20, 512, labeltest.Part{Start: 2049, Length: 700001}); err != nil {
		t.Fatal(err)
	}
	status, out, errs := runAs(t, "mkfs", "-f", "--partition", "1", "--queue-depth", "4", img)
	if status != 0 || !strings.Contains(out, "sectsz=4096 ") {
		t.Fatalf("exit status %d\n%s%s", status, out, errs)
	}
	for _, args := range []string{"verify -q", "info", "recover -q"} {
		if status, _, errs := runAs(t, "mkfs", append(strings.Fields(args), "--partition", "1", img)...); status != 0 {
			t.Errorf("%s: exit status %d\n%s", args, status, errs)
		}
	}
	useFilesystem(t, attach(t, img, "--offset=1049088", "--sizelimit=358400512"), filepath.Join(t.TempDir(), "mnt"))
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

// The partition of an image of a disk with such sectors mounts on one (P70).
func TestPartitionOfLargeSectors(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	img := sparse(t, filepath.Join(dir, "img"), "1g")
	f, err := os.OpenFile(img, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := labeltest.GPT(f, 1<<30, 4096, labeltest.Part{Start: 256, Length: 2000}, labeltest.Part{Start: 2816, Length: 200000}); err != nil {
		t.Fatal(err)
	}
	mustFormat(t, "--partition", "2", img)
	args := []string{"--sector-size=4096", fmt.Sprintf("--offset=%d", 2816*4096), fmt.Sprintf("--sizelimit=%d", 200000*4096)}
	part := attach(t, img, args...)
	useFilesystem(t, part, filepath.Join(dir, "mnt"))
	// What was made for other disks is not what is wanted there.
	if status, _, errs := runAs(t, "mkfs", "-q", "--ensure", part); status != 0 {
		t.Errorf("--ensure: exit status %d\n%s", status, errs)
	}
	small := filepath.Join(dir, "small")
	mustFormat(t, "--size", "700m", small)
	must(t, "dd", "if="+small, "of="+part, "bs=1M", "count=1", "conv=fsync", "status=none")
	if status, _, errs := runAs(t, "mkfs", "-q", "--ensure", part); status != 4 || !strings.Contains(errs, "512 bytes, those of the device 4096") {
		t.Errorf("--ensure over sectors of 512 bytes: exit status %d\n%s", status, errs)
	}
}
