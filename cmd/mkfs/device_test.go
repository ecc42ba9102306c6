package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Discarding gives the blocks of a loop device's file back; -K does not (P05).
func TestDiscardDevice(t *testing.T) {
	const size = 320 << 20
	path := filled(t, filepath.Join(t.TempDir(), "img"), "320m")
	loop := attach(t, path)
	if is := takenBy(t, path); is < size {
		t.Skipf("a file of %d bytes takes %d here", size, is)
	}
	mustFormat(t, "-f", "-K", "-K", loop)
	if is := takenBy(t, path); is < size {
		t.Errorf("with -K the file takes %d bytes of %d", is, size)
	}
	status, out, errs := runAs(t, "mkfs", "-f", "--progress", "json", loop)
	if status != 0 || !strings.HasSuffix(out, "\nDiscarding blocks...Done.\n") || !strings.Contains(errs, `{"phase":"discard","done":335544320,"total":335544320}`) {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
	if is := takenBy(t, path); is > size/3 { // the log
		t.Errorf("after discard the file takes %d bytes", is)
	}
	mustFormat(t, "-f", loop, "--undo", filepath.Join(t.TempDir(), "undo"))
	if status, _, errs := runAs(t, "mkfs", "verify", loop); status != 0 {
		t.Error(errs)
	}
}

// A limit of time leaves what it has not come to, and says so (P05).
func TestDiscardLimitDevice(t *testing.T) {
	const size = 320 << 20
	path := filled(t, filepath.Join(t.TempDir(), "img"), "320m")
	loop := attach(t, path)
	status, _, errs := runAs(t, "mkfs", "-f", "--discard-limit", "1ns", loop)
	if status != 0 || !strings.Contains(errs, "mkfs: note: --discard-limit: 319 MiB were not discarded in 1ns\n") {
		t.Errorf("exit status %d\n%s", status, errs)
	}
	if is := takenBy(t, path); is < size/2 {
		t.Errorf("the file of %d bytes takes %d", size, is)
	}
	if status, _, errs := runAs(t, "mkfs", "-f", "--discard-limit", "1h", loop); status != 0 || errs != "" {
		t.Errorf("exit status %d\n%s", status, errs)
	}
	if is := takenBy(t, path); is > size/3 { // the log
		t.Errorf("after discard the file takes %d bytes", is)
	}
}

// A device that cannot discard is no failure (P05): one on a host that cannot
// make holes.
func TestNoDiscard(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	mountHost(t, "ramfs", "mode=755", dir)
	loop := attach(t, sparse(t, filepath.Join(dir, "img"), "320m"))
	status, out, errs := runAs(t, "mkfs", loop)
	if status != 0 || strings.Contains(out, "Discarding") || errs != "" {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
}

// mountHost mounts a file system for image files for the length of the test.
func mountHost(t *testing.T, kind, options, at string) {
	t.Helper()
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", kind, "-o", options, kind, at).CombinedOutput(); err != nil {
		t.Skipf("mount -t %s: %v: %s", kind, err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("umount %s: %v: %s", at, err, out)
		}
	})
}

// A device with sectors of 4096 bytes takes no smaller ones (P13), and an image
// made for one mounts there (P14).
func TestLargeSectors(t *testing.T) {
	dir := t.TempDir()
	loop := attach(t, sparse(t, filepath.Join(dir, "img"), "10g"), "--sector-size=4096")
	for _, c := range []struct{ args, says string }{
		{"-b size=1024", "1024"}, {"-s size=512", "512"}, {"-b size=512", "1024"}, {"-b size=3000", "power of two"},
		{"-s size=65536", "65536"}, {"--offset 512", "sector of 4096"},
	} {
		status, _, errs := runAs(t, "mkfs", append(strings.Fields(c.args), loop)...)
		if status != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit status %d\n%s", c.args, status, errs)
		}
	}
	status, out, errs := runAs(t, "mkfs", "-N", "-b", "size=64k", loop)
	if status != 0 || !strings.Contains(out, "agsize=40960 blks") || !strings.Contains(out, "blocks=1140,") {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
	status, out, errs = runAs(t, "mkfs", loop)
	if status != 0 || !strings.Contains(out, "sectsz=4096  attr=2") || !strings.Contains(out, "sectsz=4096  sunit=1 blks") {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
	useFilesystem(t, loop, filepath.Join(dir, "mnt"))

	image := filepath.Join(dir, "image")
	mustFormat(t, "-s", "size=4096", "--size", "400m", image)
	copied := filepath.Join(dir, "copied")
	must(t, "cp", "--sparse=always", image, copied)
	useFilesystem(t, attach(t, copied, "--sector-size=4096"), filepath.Join(dir, "mnt"))
}

// useFilesystem mounts one, writes and reads, and lets xfs_repair look at it,
// if that is at hand.
func useFilesystem(t *testing.T, dev, dir string) {
	t.Helper()
	unmount := mountAt(t, dev, dir, "rw")
	want := strings.Repeat("contents ", 100000)
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte(want), 0o644); err != nil {
		t.Error(err)
	}
	unmount()
	if repair, err := exec.LookPath("xfs_repair"); err == nil {
		if out, err := exec.Command(repair, "-n", dev).CombinedOutput(); err != nil {
			t.Errorf("xfs_repair -n: %v\n%s", err, out)
		}
	}
	unmount = mountAt(t, dev, dir, "ro")
	if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(got) != want {
		t.Errorf("%d bytes of %d are back: %v", len(got), len(want), err)
	}
	unmount()
}

// A partition of a disk image is one that the kernel mounts by its offset, and
// a device is used up to its end (P04).
func TestPartitionMounts(t *testing.T) {
	dir := t.TempDir()
	img := sparse(t, filepath.Join(dir, "img"), "1g")
	needRoot(t)
	mustFormat(t, "--offset", "100m", "--length", "500m", img)
	part := attach(t, img, "--offset=104857600", "--sizelimit=524288000")
	useFilesystem(t, part, filepath.Join(dir, "mnt"))
	if status, _, errs := runAs(t, "mkfs", "verify", part); status != 0 {
		t.Error(errs)
	}
	// The image is what a loop device is made of.
	if status, _, errs := runAs(t, "mkfs", "-f", "--offset", "100m", "--length", "500m", img); status != 1 || !strings.Contains(errs, "in use") {
		t.Errorf("exit status %d\n%s", status, errs)
	}
	// Parts of a device.
	disk := attach(t, sparse(t, filepath.Join(dir, "disk"), "1g"))
	mustFormat(t, "--offset", "512m", disk)
	for _, args := range [][]string{{"verify", "-q", "--offset", "512m", disk}, {"info", "--offset", "512m", disk}, {"recover", "-q", "--offset", "512m", disk}} {
		if status, out, errs := runAs(t, "mkfs", args...); status != 0 {
			t.Errorf("%v: exit status %d\n%s%s", args, status, out, errs)
		}
	}
	if status, _, _ := runAs(t, "mkfs", "verify", disk); status != 1 {
		t.Errorf("all of the disk: exit status %d", status)
	}
}

// What is mounted is refused, whatever is asked for (P03).
func TestMountedIsRefused(t *testing.T) {
	dir := t.TempDir()
	loop := attach(t, sparse(t, filepath.Join(dir, "img"), "400m"))
	mustFormat(t, loop)
	unmount := mountAt(t, loop, filepath.Join(dir, "mnt"), "ro")
	before := shaOf(t, loop)
	for _, args := range []string{"", "-f", "-f -N", "-f --json", "-f -q -K", "-f --offset 1m", "-f -d size=350m", "-f --undo " + filepath.Join(dir, "undo")} {
		status, _, errs := runAs(t, "mkfs", append(strings.Fields(args), loop)...)
		if status != 1 || !strings.Contains(errs, loop+" is in use: mounted on "+filepath.Join(dir, "mnt")) {
			t.Errorf("%s: exit status %d\n%s", args, status, errs)
		}
	}
	// xfstests, tests/xfs/284, takes the first line that has the word.
	_, _, errs := runAs(t, "mkfs.xfs", "-f", loop)
	i := slices.IndexFunc(strings.Split(errs, "\n"), func(line string) bool { return strings.Contains(line, "mounted") })
	if i < 0 || strings.Split(errs, "\n")[i] != "mkfs.xfs: "+loop+" contains a mounted filesystem" {
		t.Errorf("a mounted target is called\n%s", errs)
	}
	if shaOf(t, loop) != before {
		t.Error("something was written")
	}
	unmount()
	if status, _, _ := runAs(t, "mkfs", loop); status != 1 {
		t.Errorf("unmounted, without -f: exit status %d", status)
	}
	mustFormat(t, "-f", loop)
}

// The host of an image makes no difference to its bytes (P21): tmpfs, overlayfs
// with the file in its lower or its upper folder, and what the test's own
// folder is on.
func TestHosts(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--reproducible", "-f", "-L", "host"}
	want := sparse(t, filepath.Join(dir, "img"), "400m")
	mustFormat(t, append(args, want)...)
	check := func(name, path string) {
		t.Helper()
		for _, way := range [][]string{nil, {"--engine", "sync"}, {"--queue-depth", "16"}, {"--engine", "aio"}} {
			if way != nil {
				os.Remove(path)
			}
			mustFormat(t, append(append(args, way...), sparse(t, path, "400m"))...)
			if got, want := digestOf(t, path), digestOf(t, want); got != want {
				t.Errorf("%s, %v: %+v, want %+v", name, way, got, want)
			}
			if status, out, errs := runAs(t, "mkfs", "verify", "-q", path); status != 0 {
				t.Errorf("%s, %v: exit status %d\n%s%s", name, way, status, out, errs)
			}
		}
	}
	check("own folder", filepath.Join(dir, "again"))
	if shm, err := os.MkdirTemp("/dev/shm", "mkfs-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(shm) })
		check("/dev/shm", filepath.Join(shm, "img"))
	}
	needRoot(t)
	base := filepath.Join(dir, "base")
	mountHost(t, "tmpfs", "size=64m", base)
	sub := func(name string) string {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lower, upper, work := sub("lower"), sub("upper"), sub("work")
	file := sparse(t, filepath.Join(lower, "img"), "400m")
	merged := filepath.Join(dir, "merged")
	mountHost(t, "overlay", "lowerdir="+lower+",upperdir="+upper+",workdir="+work, merged)
	check("overlayfs, copied up", filepath.Join(merged, "img"))
	check("overlayfs", filepath.Join(merged, "new"))
	if n := takenBy(t, file); n > 0 {
		t.Errorf("the file below takes %d bytes", n)
	}
	made := filepath.Join(merged, "made")
	mustFormat(t, append(args, "--size", "400m", made)...)
	if digestOf(t, made) != digestOf(t, want) {
		t.Error("overlayfs, a new file: it differs")
	}
}

// The static binary needs nothing but the image: no libraries, no /proc, no
// folder for temporary files, under either name (P23).
func TestEmptyContainer(t *testing.T) {
	needRoot(t)
	if testing.Short() {
		t.Skip("builds the program")
	}
	goTool := tool(t, "go")
	root := t.TempDir()
	build := exec.Command(goTool, "build", "-trimpath", "-o", filepath.Join(root, "mkfs"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Link(filepath.Join(root, "mkfs"), filepath.Join(root, "mkfs.xfs")); err != nil {
		t.Fatal(err)
	}
	sparse(t, filepath.Join(root, "img"), "400m")
	want := filepath.Join(t.TempDir(), "want")
	mustFormat(t, "--reproducible", "--size", "400m", want)
	for _, args := range []string{
		"/mkfs -q --reproducible /img", "/mkfs.xfs -q -f --reproducible -d file,size=400m /img",
		"/mkfs -q -f --reproducible -d file,size=400m --queue-depth 9 /img",
		"/mkfs -q -f --reproducible -d file,size=400m --verify /img", "/mkfs verify -q /img", "/mkfs recover -q /img",
	} {
		list := strings.Fields(args)
		cmd := exec.Command(list[0], list[1:]...)
		cmd.Env, cmd.Dir, cmd.SysProcAttr = []string{}, "/", inRoot(root)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
		if got, want := digestOf(t, filepath.Join(root, "img")), digestOf(t, want); got != want {
			t.Errorf("%s: %+v, want %+v", args, got, want)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 3 {
		t.Errorf("there are %v now, %v", entries, err)
	}
}
