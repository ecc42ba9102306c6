package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// againCases are option lines for a file img, and log and rt where their sizes say
// so. Together they settle all that a superblock and a root directory record.
var againCases = []struct{ size, log, rt, options string }{
	{size: "1g"},
	{size: "2g", options: "-b size=1k -n size=8k"},
	{size: "2g", options: "-b size=16k -i size=2048,maxpct=3"},
	{size: "2g", options: "-b size=64k -n size=64k"},
	{size: "2g", options: "-s size=4k"},
	{size: "2g", options: "-i nrext64=0,exchange=0,sparse=0 -m bigtime=0,inobtcount=0,finobt=0 -n parent=0"},
	{size: "2g", options: "-m rmapbt=0,reflink=0 -i maxpct=0"},
	{size: "2g", options: "-n version=ci -m autofsck=none"},
	{size: "2g", options: "-m autofsck=check -n parent=0"},
	{size: "2g", options: "-L it's$x -d projinherit=0,daxinherit=1"},
	{size: "2g", options: "-d projinherit=7,extszinherit=16,cowextsize=32,rtinherit=1"},
	{size: "2g", options: "-m metadir=1,uquota,gqnoenforce,pquota"},
	{size: "2g", options: "-m metadir=1 -r rgsize=300m"},
	{size: "2g", options: "-i max_atomic_write=16m"},
	{size: "2g", options: "-d concurrency=64 -l concurrency=64"},
	{size: "2g", options: "--plan-for 4t"},
	{size: "3t"},
	// AGs and size
	{size: "1000m", options: "-d agcount=3"},
	{size: "5g", options: "-d agsize=3g"},
	{size: "20g", options: "-d agsize=80m"},
	{size: "4g", options: "-d size=1000000k,agcount=7"},
	{size: "2148007936"},
	{size: "40m", options: "--unsupported"},
	{size: "400m", options: "--unsupported -d agcount=1 -l size=10m"},
	// stripes
	{size: "4g", options: "-d su=64k,sw=4"},
	{size: "4g", options: "-d su=512k,sw=4"},
	{size: "4g", options: "-d su=512k,sw=4 -l su=256k,agnum=0"},
	{size: "2g", options: "-d su=4k,sw=3,agcount=3"},
	{size: "4g", options: "-d noalign -l su=32k"},
	// logs
	{size: "1g", options: "-d agcount=4 -l size=250m,agnum=2"},
	{size: "1g", log: "100m", options: "-l logdev=log"},
	{size: "4g", log: "100m", options: "-d su=64k,sw=4 -l logdev=log,size=80m"},
	{size: "2g", log: "100m", options: "-s size=4096 -l sectsize=512,logdev=log"},
	{size: "2g", log: "100m", options: "-d sectsize=512 -l sectsize=4096,logdev=log"},
	// V4
	{size: "2g", options: "-m crc=0"},
	{size: "2g", options: "-m crc=0 -i attr=0,align=0,projid32bit=0 -n ftype=0 -l lazy-count=0"},
	{size: "2g", options: "-m crc=0 -i attr=1 -l version=1 -d su=64k,sw=3"},
	{size: "2g", options: "-m crc=0 -b size=512 -n size=4k,version=ci -d agcount=6"},
	{size: "1g", rt: "1g", options: "-m crc=0 -r rtdev=rt"},
	// realtime
	{size: "1g", rt: "2g", options: "-r rtdev=rt,extsize=28k,size=500m"},
	{size: "2g", rt: "3g", options: "-b size=1k -r rtdev=rt -m metadir=1"},
	{size: "2g", rt: "3g", options: "-m metadir=1,rmapbt=0 -r rtdev=rt,rgcount=5 -d rtinherit=1,extszinherit=4"},
	{size: "1g", rt: "3g", log: "64m", options: "-l logdev=log -m metadir=1 -r rtdev=rt,extsize=12k,rgsize=300m"},
	// zones
	{size: "10g", options: "-r zoned=1 -d rtinherit=0"},
	{size: "10g", options: "-r zoned=1,start=1g,reserved=512m,rgsize=128m"},
	{size: "10g", options: "-r zoned=1,start=1g -d size=600m"},
	{size: "10g", options: "-r zoned=1,size=2g"},
	{size: "2g", rt: "10g", options: "-m metadir=1 -r rtdev=rt,zoned=1,size=9900m"},
}

// The file of info --config makes a filesystem again, all bytes of all devices (P65).
func TestConfigAgain(t *testing.T) {
	everyAgain(t, func(args, env []string) ([]byte, error) {
		status, out, errs := runAs(t, "mkfs", args...)
		if status != 0 {
			return []byte(out + errs), &exec.ExitError{}
		}
		return nil, nil
	})
}

// The reference makes the same of it, where that is at hand.
func TestConfigAgainReference(t *testing.T) {
	oracle := os.Getenv("XFSPROGS_ORACLE")
	if oracle == "" {
		t.Skip("XFSPROGS_ORACLE does not name a folder that has the reference")
	}
	everyAgain(t, func(args, env []string) ([]byte, error) {
		args = slices.DeleteFunc(args, func(s string) bool { return s == "--unsupported" })
		cmd := exec.Command(filepath.Join(oracle, "bin/mkfs.xfs"), args...)
		cmd.Env = append(os.Environ(), env...)
		return cmd.CombinedOutput()
	})
}

// everyAgain makes the filesystem of each case, and again by a program, which takes
// arguments and the environment that makes it allow small filesystems.
func everyAgain(t *testing.T, program func(args, env []string) ([]byte, error)) {
	t.Setenv("SOURCE_DATE_EPOCH", "1600000000")
	t.Setenv("DETERMINISTIC_SEED", "1")
	for _, c := range againCases {
		t.Run(c.size+" "+c.options, func(t *testing.T) {
			t.Chdir(largeHost(t))
			sizes := map[string]string{"img": c.size, "log": c.log, "rt": c.rt}
			fresh := func() {
				for name, size := range sizes {
					os.Remove(name)
					if size != "" {
						sparse(t, name, size)
					}
				}
			}
			fresh()
			words := strings.Fields(c.options)
			if status, _, errs := runAs(t, "mkfs", append([]string{"-q", "img"}, words...)...); status != 0 {
				t.Fatalf("exit status %d\n%s", status, errs)
			}
			want := contentsOf(t, sizes)
			status, text, errs := runAs(t, "mkfs", "info", "--config", "img")
			if status != 0 || errs != "" {
				t.Fatalf("info: exit status %d\n%s", status, errs)
			}
			if err := os.WriteFile("FILE", []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			fresh()
			args, env := commandOf(t, text), []string(nil)
			if strings.Contains(text, "--unsupported") {
				args, env = append(args, "--unsupported"), []string{"TEST_DIR=x", "TEST_DEV=x", "QA_CHECK_FS=x"}
			}
			if out, err := program(append([]string{"-q"}, args...), env); err != nil {
				t.Fatalf("%v: %v\n%s\n%s", args, err, out, text)
			}
			if is := contentsOf(t, sizes); is != want {
				t.Errorf("%v: not the same\n%s", args, text)
			}
		})
	}
}

// commandOf is the command line that a comment of the file tells.
func commandOf(t *testing.T, text string) []string {
	t.Helper()
	_, line, found := strings.Cut(text, "\n# mkfs ")
	line, _, _ = strings.Cut(line, "\n")
	out, err := exec.Command("sh", "-c", `printf '%s\n' `+line).Output()
	if !found || err != nil {
		t.Fatalf("no command line: %v\n%s", err, text)
	}
	args := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, word := range args {
		args[i] = strings.NewReplacer("logdev=DEVICE", "logdev=log", "rtdev=DEVICE", "rtdev=rt", "TARGET", "img").Replace(word)
	}
	return args
}

// contentsOf is the contents of all files that have a size.
func contentsOf(t *testing.T, sizes map[string]string) (all [3]content) {
	t.Helper()
	for i, name := range []string{"img", "log", "rt"} {
		if sizes[name] == "" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if all[i], err = contentOf(f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A filesystem that has grown is made again, of its size now, unless its last AG
// is shorter than mkfs makes any: then it is told what would differ.
func TestConfigOfGrown(t *testing.T) {
	growfs := tool(t, "xfs_growfs")
	needRoot(t)
	for _, c := range []struct {
		name, size, want string
		args             []string
	}{
		{name: "full AGs", size: "1280m"},
		{name: "short last AG", size: "1200m"},
		{name: "shorter than any", size: "1284m", want: "the number of AGs is 6 here, and would be 5"},
		{name: "striped", size: "1300m", args: []string{"-d", "su=64k,sw=4"}},
		{name: "planned", size: "3g", args: []string{"--plan-for", "10t"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(largeHost(t))
			args := c.args
			if args == nil {
				args = []string{"-d", "agcount=4"}
			}
			mustFormat(t, append(args, sparse(t, "img", "1g"))...)
			sparse(t, "img", c.size)
			dev := attach(t, "img")
			unmount := mountAt(t, dev, "at", "rw")
			must(t, growfs, "at")
			unmount()
			_, before, _ := runAs(t, "mkfs", "info", dev)
			status, text, errs := runAs(t, "mkfs", "info", "--config", dev)
			if c.want != "" {
				if status != 1 || !strings.Contains(errs, c.want) || !strings.Contains(text, "\n# NOT THE SAME: "+c.want+"\n") {
					t.Errorf("exit status %d\n%s%s", status, text, errs)
				}
				return
			}
			if status != 0 || errs != "" {
				t.Fatalf("exit status %d\n%s", status, errs)
			}
			if err := os.WriteFile("FILE", []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			again := commandOf(t, text)
			again[len(again)-1] = dev
			if status, _, errs := runAs(t, "mkfs", append(again, "-f")...); status != 0 || errs != "" {
				t.Fatalf("%v: exit status %d\n%s", again, status, errs)
			}
			_, after, _ := runAs(t, "mkfs", "info", dev)
			table := func(s string) string { s, _, _ = strings.Cut(s, "\nlog state="); return s }
			if table(before) != table(after) {
				t.Errorf("%s\nafter\n%s", before, after)
			}
		})
	}
}

// Attributes that do not fit the root directory's inode hide whether mkfs gave it
// one, which is told; a property that mkfs does not know is a fault, and no way
// to get lines into the file.
func TestConfigOfRootAttributes(t *testing.T) {
	needRoot(t)
	t.Chdir(largeHost(t))
	dev := attach(t, sparse(t, "img", "400m"))
	mustFormat(t, dev)
	with := func(name, value string) {
		t.Helper()
		unmount := mountAt(t, dev, "at", "rw")
		if err := unix.Setxattr("at", name, []byte(value), 0); err != nil {
			t.Fatal(err)
		}
		unmount()
	}
	with("trusted.xfs:autofsck", "optimize")
	if status, text, errs := runAs(t, "mkfs", "info", "--config", dev); status != 0 || !strings.Contains(text, "\nautofsck=optimize\n") {
		t.Errorf("exit status %d\n%s%s", status, text, errs)
	}
	with("trusted.xfs:autofsck", "x\n[data]\nsize=16m")
	if status, text, errs := runAs(t, "mkfs", "info", "--config", dev); status != 1 ||
		!strings.Contains(errs, `its property autofsck is "x\n[data]\nsize=16m", which is none of`) || strings.Contains(text, "16m") {
		t.Errorf("exit status %d\n%s%s", status, text, errs)
	}
	with("trusted.long", strings.Repeat("x", 3000))
	if status, text, errs := runAs(t, "mkfs", "info", "--config", dev); status != 0 ||
		!strings.Contains(text, "\n# What new files inherit, and autofsck, was not read") {
		t.Errorf("exit status %d\n%s%s", status, text, errs)
	}
}
