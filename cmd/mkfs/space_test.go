package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/report"

	"golang.org/x/sys/unix"
)

// spaceCases are shapes of which each reserves space in another way.
var spaceCases = []struct {
	name, size, log string // log is the size of an external one
	args            []string
	rare            bool // not all kernels mount it
}{
	{name: "default", size: "1g"},
	{name: "smallest", size: "300m"},
	{name: "block-1k", size: "1g", args: []string{"-b", "size=1k"}},
	{name: "block-2k", size: "3g", args: []string{"-b", "size=2k"}},
	{name: "block-64k", size: "8g", args: []string{"-b", "size=64k"}, rare: true},
	{name: "no-rmapbt", size: "2g", args: []string{"-m", "rmapbt=0"}},
	{name: "no-reflink", size: "2g", args: []string{"-m", "reflink=0"}},
	{name: "finobt-alone", size: "2g", args: []string{"-m", "rmapbt=0,reflink=0"}},
	{name: "no-btree", size: "2g", args: []string{"-m", "rmapbt=0,reflink=0,finobt=0"}},
	{name: "V4", size: "2g", args: []string{"-m", "crc=0"}, rare: true},
	{name: "many-AGs", size: "20g", args: []string{"-d", "agsize=80m"}},
	{name: "short-last-AG", size: "5g", args: []string{"-d", "agsize=3g"}},
	{name: "log-fills-AG", size: "1g", args: []string{"-d", "agcount=4", "-l", "size=250m,agnum=2"}},
	{name: "log-in-last-AG", size: "5g", args: []string{"-d", "agsize=3g", "-l", "agnum=1,size=1g"}},
	{name: "external-log", size: "1g", log: "80m"},
	{name: "metadir", size: "1g", args: []string{"-m", "metadir=1"}, rare: true},
	{name: "maxpct-1", size: "1g", args: []string{"-i", "maxpct=1"}},
	{name: "maxpct-0", size: "1g", args: []string{"-i", "maxpct=0,size=2048"}},
	{name: "maxpct-100", size: "1g", args: []string{"-i", "maxpct=100"}},
	{name: "few-inodes", size: "300m", args: []string{"-i", "maxpct=1,size=2048", "-b", "size=64k"}, rare: true},
	{name: "striped", size: "4g", args: []string{"-d", "su=64k,sw=4"}},
	{name: "10t", size: "10t"},
	{name: "10t-1k", size: "10t", args: []string{"-b", "size=1k"}},
	{name: "10t-plain", size: "10t", args: []string{"-m", "rmapbt=0,reflink=0"}},
	{name: "60t", size: "60t"},
}

// The JSON of a plan, of a new filesystem and of one that is there tells what
// statfs tells once it is mounted (P84).
func TestSpaceAsMounted(t *testing.T) {
	needRoot(t)
	for _, c := range spaceCases {
		t.Run(c.name, func(t *testing.T) {
			dir := largeHost(t)
			data, log := attach(t, sparse(t, filepath.Join(dir, "data"), c.size)), ""
			args, info, options := append([]string{"--json", data}, c.args...), []string{"info", "--json", data}, "rw"
			if c.log != "" {
				log = attach(t, sparse(t, filepath.Join(dir, "log"), c.log))
				args, info, options = append(args, "-l", "logdev="+log), append(info, "--logdev", log), "logdev="+log
			}
			planned := spaceOf(t, append([]string{"-N"}, args...))
			if made := spaceOf(t, args); made != planned {
				t.Errorf("made: %v\nplanned: %v", made, planned)
			}
			if found := spaceOf(t, info); found != planned {
				t.Errorf("found: %v\nplanned: %v", found, planned)
			}
			at := filepath.Join(dir, "at")
			if c.rare {
				needMount(t, data, at)
			}
			unmount := mountAt(t, data, at, options)
			if is := mountedSpace(t, at); is != planned {
				t.Fatalf("mounted: %v\nplanned: %v", is, planned)
			}
			for i := range 300 {
				if err := os.WriteFile(filepath.Join(at, fmt.Sprint(i)), make([]byte, 10_000), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			unmount()
			used := spaceOf(t, info)
			if used.Usable >= planned.Usable {
				t.Errorf("with files in it %d bytes are usable, without %d", used.Usable, planned.Usable)
			}
			mountAt(t, data, at, options)
			if is := mountedSpace(t, at); is != used {
				t.Errorf("in use, mounted: %v\nfound: %v", is, used)
			}
		})
	}
}

// What btrees have grown by counts where it does for the kernel: of files in
// pieces, inodes that are free here and there, and blocks that are shared.
func TestSpaceInUse(t *testing.T) {
	needRoot(t)
	for _, options := range []string{"-b size=1k -d agcount=2", "-b size=1k -m rmapbt=0", "-b size=1k -m reflink=0"} {
		t.Run(options, func(t *testing.T) {
			dir := largeHost(t)
			dev, at := attach(t, sparse(t, filepath.Join(dir, "data"), "400m")), filepath.Join(dir, "at")
			mustFormat(t, append(strings.Fields(options), dev)...)
			fresh := spaceOf(t, []string{"info", "--json", dev})
			unmount := mountAt(t, dev, at, "rw")
			scatter(t, at, !strings.Contains(options, "reflink=0"))
			unmount()
			found := spaceOf(t, []string{"info", "--json", dev})
			mountAt(t, dev, at, "rw")
			if is := mountedSpace(t, at); is != found {
				t.Errorf("mounted: %v\nfound: %v\nnew: %v", is, found, fresh)
			}
		})
	}
}

// scatter leaves every other of many small files, and shares their blocks.
func scatter(t *testing.T, at string, share bool) {
	t.Helper()
	const many = 12000
	name := func(i int) string { return filepath.Join(at, fmt.Sprint(i)) }
	for i := range many {
		if err := os.WriteFile(name(i), make([]byte, 1000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unix.Sync()
	for i := range many / 2 {
		if err := os.Remove(name(2 * i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; share && i < many; i += 4 {
		from, err := os.Open(name(i))
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.Create(name(i) + ".shared")
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.IoctlFileClone(int(to.Fd()), int(from.Fd())); err != nil {
			t.Fatal(err)
		}
		from.Close()
		to.Close()
	}
}

// spaceOf is what a command's JSON tells.
func spaceOf(t *testing.T, args []string) report.Space {
	t.Helper()
	status, out, errs := runAs(t, "mkfs", args...)
	if status != 0 {
		t.Fatalf("mkfs %v: exit status %d\n%s", args, status, errs)
	}
	var r struct{ Space *report.Space }
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Space == nil {
		t.Fatalf("mkfs %v: %v; no space in\n%s", args, err, out)
	}
	r.Space.Reserved = 0 // which statfs does not tell
	return *r.Space
}

// mountedSpace is what statfs tells.
func mountedSpace(t *testing.T, at string) report.Space {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(at, &s); err != nil {
		t.Fatal(err)
	}
	return report.Space{Total: int64(s.Blocks) * s.Bsize, Usable: int64(s.Bavail) * s.Bsize, MaxInodes: s.Files}
}

// needMount skips what this kernel does not mount.
func needMount(t *testing.T, dev, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(dev, dir, "xfs", 0, ""); err != nil {
		t.Skip("this kernel does not mount it:", err)
	}
	if err := unix.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
}
