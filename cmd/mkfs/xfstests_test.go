package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sought is what xfstests looks for in what a mkfs.xfs says: the place where it
// does, the pattern, and a command line that has to say so. Files of 100 MiB
// and 1 GiB are there.
var sought = []struct {
	place, pattern string
	args           string
	stdout         bool
}{
	{place: "common/xfs _scratch_find_xfs_min_logblocks", pattern: `log size.*too small, minimum`, args: "-N -l size=2097152 1g"},
	{place: "common/xfs _scratch_find_xfs_min_logblocks, sed", pattern: `^.*minimum size is (\d+) blocks$`, args: "-N -l size=2097152 1g"},
	{place: "the same, V4", pattern: `^.*minimum size is 854 blocks$`, args: "-N -l size=2097152 -m crc=0 1g"},
	{place: "the same, 1 KiB blocks", pattern: `^.*minimum size is (\d+) blocks$`, args: "-N -l size=2097152 -b size=1k 1g"},
	{place: "common/xfs _scratch_find_xfs_min_logblocks", pattern: `external log device.*too small, must be`, args: "-N -l logdev=100m,size=2097152 1g"},
	{place: "common/xfs _scratch_find_xfs_min_logblocks, sed", pattern: `^.*must be at least (\d+) blocks$`, args: "-N -l logdev=100m,size=2097152 1g"},
	{place: "common/xfs _scratch_find_xfs_min_logblocks, success", pattern: `^log.*bsize=4096`, args: "-N -m crc=0 1g", stdout: true},
	{place: "common/xfs _try_scratch_mkfs_xfs", pattern: `zoned file systems do not support`, args: "-N -r zoned=1,extsize=64k 1g"},
	{place: "common/xfs _try_scratch_mkfs_xfs", pattern: `zoned file systems do not support`, args: "-N -r zoned=1 -m reflink=1 1g"},
	{place: "common/xfs _try_scratch_mkfs_xfs, common/rc _mkfs_dev", pattern: `must be greater than the minimum zone count`, args: "-N -r zoned=1 1g"},
	{place: "common/rc _mkfs_dev", pattern: `too small for zoned allocator`, args: "-N -r zoned=1 100m"},
	{place: "common/xfs _try_scratch_mkfs_xfs", pattern: `^block size [0-9]* cannot be smaller than sector size`, args: "-N -b size=1024 -s size=4096 1g"},
	{place: "common/xfs _try_scratch_mkfs_xfs", pattern: `crc=0`, args: "-N -m crc=0 1g", stdout: true},
	{place: "tests/xfs/525", pattern: `^V4 filesystems are deprecated`, args: "-N -m crc=0,rmapbt=1,reflink=1 -i sparse=1 1g", stdout: true},
	{place: "tests/xfs/449, sed", pattern: `deprecated`, args: "-N -m crc=0 -n version=ci 1g", stdout: true},
	{place: "tests/xfs/526, all of the line", pattern: `^rmapbt not supported without CRC support$`, args: "-N -m crc=0,rmapbt=1 1g"},
	{place: "common/rc _scratch_mkfs_xfs_concurrency", pattern: `unknown option -d`, args: "-d nonsense=4 1g"},
	{place: "common/rc _scratch_mkfs_xfs_concurrency", pattern: `unknown option -r`, args: "-r nonsense=4 1g"},
	{place: "tests/xfs/614", pattern: `concurrency`, args: ""},
	{place: "tests/xfs/604, 216", pattern: `rmapbt`, args: ""},
	{place: "tests/xfs/216", pattern: `reflink`, args: ""},
	{place: "tests/xfs/820", pattern: `uquota`, args: ""},
	{place: "tests/xfs/122", pattern: `lazy-count`, args: ""},
	{place: "tests/xfs/122", pattern: `metadir`, args: "--help", stdout: true},
}

// unsought is what must not be said: xfstests takes it for a mkfs.xfs without the option.
var unsought = []struct{ place, pattern, args string }{
	{"common/rc, sections of concurrency", `unknown option -d`, "-d concurrency=4"},
	{"common/rc, sections of concurrency", `unknown option -r`, "-r concurrency=4"},
	{"common/rc, sections of concurrency", `unknown option -l`, "-l concurrency=4"},
	{"common/xfs _try_scratch_mkfs_xfs", `crc=0`, "-N 1g"},
}

func TestWordsOfXfstests(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []string{"1g", "100m"} {
		sparse(t, filepath.Join(dir, size), size)
	}
	for _, name := range []string{"TEST_DIR", "TEST_DEV", "QA_CHECK_FS"} { // as it sets them
		t.Setenv(name, "1")
	}
	t.Chdir(dir)
	said := func(args string) (stdout, stderr string) {
		_, stdout, stderr = runAs(t, "mkfs.xfs", strings.Fields(args)...)
		return stdout, stderr
	}
	for _, w := range sought {
		stdout, text := said(w.args)
		if w.stdout {
			text = stdout
		}
		if !regexp.MustCompile(`(?m)` + w.pattern).MatchString(text) {
			t.Errorf("%s: mkfs.xfs %s: no %s in\n%s", w.place, w.args, w.pattern, text)
		}
	}
	for _, w := range unsought {
		if stdout, stderr := said(w.args); regexp.MustCompile(w.pattern).MatchString(stdout + stderr) {
			t.Errorf("%s: mkfs.xfs %s: %s in\n%s", w.place, w.args, w.pattern, stdout+stderr)
		}
	}
}
