package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/labeltest"
)

// Other tools agree on what is on a target before it is formatted, and after it
// was with -f they find the new filesystem and nothing else (P03, P04, P29).
func TestForeign(t *testing.T) {
	wipefs := tool(t, "wipefs")
	signatures := func(path string) string {
		return strings.TrimSpace(must(t, wipefs, "--noheadings", "--output", "TYPE", path))
	}
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		make []string // behind it comes the image
	}{
		{"ext2", []string{"mkfs.ext4", "-q", "-F", "-t", "ext2"}},
		{"ext4", []string{"mkfs.ext4", "-q", "-F", "-b", "4096"}},
		{"swap", []string{"mkswap", "-q"}},
		{"vfat", []string{"mkfs.vfat"}},
		{"ext4", []string{"mkfs.ext4", "-q", "-F", "-b", "1024", "-E", "lazy_itable_init=0"}},
		{"btrfs", []string{"mkfs.btrfs", "-q"}},
		{"cramfs", []string{"mkfs.cramfs", dir}},
		{"minix", []string{"mkfs.minix"}},
		{"bfs", []string{"mkfs.bfs"}},
		{"xfs", []string{"mkfs.xfs", "-q", "-f", "-d", "agcount=5"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sparse(t, filepath.Join(dir, "img"), "400m")
			defer os.Remove(path)
			maker := tool(t, c.make[0])
			if out, err := exec.Command(maker, append(c.make[1:], path)...).CombinedOutput(); err != nil {
				t.Skipf("%v: %v: %s", c.make, err, out)
			}
			if has := signatures(path); !strings.Contains(has, c.name) {
				t.Skipf("%v has made %q", c.make, has)
			}
			sparse(t, path, "400m") // some make it shorter
			before := digestOf(t, path)
			for _, args := range [][]string{{path}, {"-N", path}, {"-K", "--json", path}, {"-L", "x", path}} {
				status, _, errs := runAs(t, "mkfs", args...)
				if status != 1 || !strings.Contains(errs, "("+c.name) || !strings.Contains(errs, "-f overwrites it") {
					t.Errorf("%v: exit status %d\n%s", args, status, errs)
				}
			}
			if digestOf(t, path) != before {
				t.Error("something was written")
			}
			undo := filepath.Join(t.TempDir(), "undo")
			mustFormat(t, "-f", "--undo", undo, path)
			if has := signatures(path); has != "xfs" {
				t.Errorf("there is %q afterwards", has)
			}
			if status, _, errs := runAs(t, "mkfs", "undo", "-q", undo, path); status != 0 || digestOf(t, path) != before {
				t.Errorf("undone it is not as it was: %d\n%s", status, errs)
			}
			if status, _, errs := runAs(t, "mkfs", "-q", "-f", "-m", "crc=0", "-b", "size=1k", path); status != 0 {
				t.Error(errs)
			}
			if has := signatures(path); has != "xfs" {
				t.Errorf("there is %q after V4", has)
			}
		})
	}
	for name, command := range map[string]string{"gpt": "gpt", "dos": "dos"} {
		path := sparse(t, filepath.Join(dir, name), "400m")
		labelWith(t, command, path)
		if has := signatures(path); !strings.Contains(has, name) {
			t.Fatalf("%s: %q", name, has)
		}
		mustFormat(t, "-f", path)
		if has := signatures(path); has != "xfs" {
			t.Errorf("%s: there is %q afterwards", name, has)
		}
	}
	data, log := sparse(t, filepath.Join(dir, "data"), "400m"), sparse(t, filepath.Join(dir, "log"), "100m")
	mustFormat(t, "-l", "logdev="+log, data)
	if has := strings.TrimSpace(must(t, tool(t, "blkid"), "-p", "-o", "value", "-s", "TYPE", log)); has != "xfs_external_log" {
		t.Errorf("the log's type is %q", has)
	}
	repair := tool(t, "xfs_repair")
	if out, err := exec.Command(repair, "-n", "-l", log, data).CombinedOutput(); err != nil {
		t.Errorf("xfs_repair -n -l: %v\n%s", err, out)
	}
	if err := exec.Command(repair, "-n", data).Run(); err == nil {
		t.Error("xfs_repair does without the log")
	}
}

// labelWith puts a partition table with one partition in an image.
func labelWith(t *testing.T, kind, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	part := labeltest.Part{Start: 2048, Length: 600000}
	if kind == "gpt" {
		err = labeltest.GPT(f, 400<<20, 512, part)
	} else {
		err = labeltest.DOS(f, 512, []labeltest.Part{part})
	}
	if err != nil {
		t.Fatal(err)
	}
}
