package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A log from before the last changes is refused by all that look at it, where
// the kernel does not mount it either; one that fits, or was zeroed by
// xfs_repair -L, is well (P73).
func TestLogOfAnotherTime(t *testing.T) {
	needRoot(t)
	for _, external := range []bool{false, true} {
		name := map[bool]string{false: "internal", true: "external"}[external]
		t.Run(name, func(t *testing.T) {
			p := pairOf(t, external)
			before := p.copyLog(t, "before")
			p.verdict(t, "fresh", 0)
			p.work(t)
			p.verdict(t, "used", 0)
			after := p.copyLog(t, "after")
			p.putLog(t, before)
			if unmount, err := p.mount(t); err == nil {
				unmount()
				t.Error("the kernel mounts it")
			}
			p.verdict(t, "with an older log", 1)
			p.putLog(t, after)
			repair := tool(t, "xfs_repair")
			args := []string{"-L", p.data}
			if external {
				args = append([]string{"-l", p.log}, args...)
			}
			if out, err := exec.Command(repair, args...).CombinedOutput(); err != nil {
				t.Fatalf("xfs_repair %v: %v: %s", args, err, out)
			}
			p.verdict(t, "log zeroed by xfs_repair", 0)
			p.work(t)
			p.verdict(t, "and used again", 0)
		})
	}
}

// pair is a filesystem in a file, its log in it or in another.
type pair struct {
	dir, data, log string
	at, size       int64 // of the log, in the file that it is in
}

func pairOf(t *testing.T, external bool) *pair {
	dir := t.TempDir()
	p := &pair{dir: dir, data: filepath.Join(dir, "data"), at: (2*19200 + 7) * 4096, size: 64 << 20}
	args := []string{"--size", "300m", "-d", "agcount=4", "-l", "size=64m", p.data}
	if external {
		p.log, p.at = sparse(t, filepath.Join(dir, "log"), "64m"), 0
		args = []string{"--size", "300m", "-l", "logdev=" + p.log, p.data}
	}
	mustFormat(t, args...)
	return p
}

func (p *pair) logFile() string {
	if p.log != "" {
		return p.log
	}
	return p.data
}

// copyLog keeps the log in a file.
func (p *pair) copyLog(t *testing.T, name string) string {
	t.Helper()
	b := make([]byte, p.size)
	f, err := os.Open(p.logFile())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(b, p.at); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *pair) putLog(t *testing.T, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(p.logFile(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, p.at); err != nil {
		t.Fatal(err)
	}
}

// mount mounts the filesystem, and returns what undoes that.
func (p *pair) mount(t *testing.T) (unmount func(), err error) {
	t.Helper()
	options, devices := "loop", []string{}
	detach := func() {
		for _, dev := range devices {
			must(t, "losetup", "--detach", dev)
		}
	}
	target := p.data
	if p.log != "" {
		for _, path := range []string{p.data, p.log} {
			devices = append(devices, strings.TrimSpace(must(t, "losetup", "--find", "--show", path)))
		}
		target, options = devices[0], "logdev="+devices[1]
	}
	at := filepath.Join(p.dir, "mnt")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mount", "-t", "xfs", "-o", options, target, at).Run(); err != nil {
		detach()
		return nil, err
	}
	return func() { must(t, "umount", at); detach() }, nil
}

// work changes something in the filesystem.
func (p *pair) work(t *testing.T) {
	t.Helper()
	unmount, err := p.mount(t)
	if err != nil {
		t.Skip("it cannot be mounted here: ", err)
	}
	defer unmount()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.MkdirAll(filepath.Join(p.dir, "mnt", name, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, "mnt", name, "file"), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// verdict is what all that look at the filesystem must say, without a change.
func (p *pair) verdict(t *testing.T, when string, want int) {
	t.Helper()
	before, log := digestOf(t, p.data), digestOf(t, p.logFile())
	logdev, ensure := []string{}, []string{"--ensure"}
	if p.log != "" {
		logdev, ensure = []string{"--logdev", p.log}, []string{"--ensure", "-l", "logdev=" + p.log}
	}
	for _, args := range [][]string{{"verify"}, {"recover"}, {"recover", "--dry-run"}, {"info"}, ensure} {
		if args[0] != "--ensure" {
			args = append(args, logdev...)
		}
		status, out, errs := runAs(t, "mkfs", append(args, p.data)...)
		if status != want || want != 0 && !strings.Contains(out+errs, "ahead of the log's head") {
			t.Errorf("%s: %v: exit status %d\n%s%s", when, args, status, out, errs)
		}
	}
	if digestOf(t, p.data) != before || digestOf(t, p.logFile()) != log {
		t.Errorf("%s: something was written", when)
	}
}
