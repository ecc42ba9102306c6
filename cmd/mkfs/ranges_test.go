package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/labeltest"
)

// window are the options of losetup for a range of a file.
func window(offset, length int64) []string {
	return []string{fmt.Sprintf("--offset=%d", offset), fmt.Sprintf("--sizelimit=%d", length)}
}

// expect runs this program and looks at its exit status and at what it says.
func expect(t *testing.T, status int, says, args string) {
	t.Helper()
	is, out, errs := runAs(t, "mkfs", strings.Fields(args)...)
	if is != status || !strings.Contains(errs, says) || says == "" && strings.Contains(errs, "in use") {
		t.Errorf("mkfs %s: exit status %d, want %d and %q\n%s%s", args, is, status, says, out, errs)
	}
}

// twoPartitions is an image of a disk with two partitions of 400 MiB, and where
// they begin.
func twoPartitions(t *testing.T) (img string, starts [2]int64, length int64) {
	t.Helper()
	img = sparse(t, filepath.Join(t.TempDir(), "disk.img"), "1g")
	f, err := os.OpenFile(img, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const sectors = 400 << 11
	first, second := labeltest.Part{Start: 2048, Length: sectors}, labeltest.Part{Start: 2048 + sectors, Length: sectors}
	if err := labeltest.GPT(f, 1<<30, 512, first, second); err != nil {
		t.Fatal(err)
	}
	return img, [2]int64{first.Start * 512, second.Start * 512}, sectors * 512
}

// A loop device of one partition is no reason to leave another one alone, mounted
// or not (P71).
func TestOtherRangeInUse(t *testing.T) {
	needRoot(t)
	img, starts, length := twoPartitions(t)
	dir := t.TempDir()
	loop := attach(t, img, window(starts[0], length)...)
	mustFormat(t, loop)
	for _, mounted := range []bool{false, true} {
		why, status := "the loop device "+loop+" is made of it", 0
		if mounted {
			mountAt(t, loop, filepath.Join(dir, "mnt"), "rw")
			why, status = "the loop device "+loop+", which is made of it, is mounted on ", 1
		}
		name := fmt.Sprint(mounted)
		second := fmt.Sprintf("--offset %d --length %d ", starts[1], length)
		undo := filepath.Join(dir, "undo"+name)
		for _, args := range []string{
			"-f --partition 2", "-f " + second, "recover -n --partition 2", "recover --partition 2", "verify --partition 2", "info --partition 2",
			"recover --partition 2 --copy-to " + filepath.Join(dir, "two"+name), "-f --partition 2 --undo " + undo, "undo " + undo,
		} {
			expect(t, 0, "", args+" "+img)
		}
		first := fmt.Sprintf("--offset %d --length %d ", starts[0], length)
		for _, args := range []string{"-f --partition 1", "-f " + first, "-f", "recover --partition 1"} {
			expect(t, 1, why, args+" "+img)
		}
		if !mounted { // what only reads is warned
			for _, args := range []string{"recover -n --partition 1", "verify --partition 1", "info --partition 1"} {
				expect(t, 0, "warning: ", args+" "+img)
			}
		}
		expect(t, status, why, "recover --partition 1 --copy-to "+filepath.Join(dir, "one"+name)+" "+img)
	}
}

// What is mounted by way of another loop device of the same bytes is in use, by
// whatever way the target is named; what has other bytes is not.
func TestSameBytesInUse(t *testing.T) {
	needRoot(t)
	img, starts, length := twoPartitions(t)
	dir := t.TempDir()
	disk, first := attach(t, img), attach(t, img, window(starts[0], length)...)
	again := attach(t, img, window(starts[0]+1<<20, length-1<<20)...)
	nested := attach(t, disk, window(starts[0], length)...)
	second := attach(t, img, window(starts[1], length)...)
	undo := filepath.Join(dir, "undo")
	mustFormat(t, first)
	mustFormat(t, "-f", "--undo", undo, nested)
	for _, mounted := range []string{first, nested} {
		t.Run(mounted, func(t *testing.T) {
			unmount := mountAt(t, mounted, filepath.Join(dir, "mnt"), "ro")
			defer unmount()
			before := digestOf(t, img) // to mount may have changed the log
			for _, target := range []string{first, nested, again, disk, "--partition 1 " + disk} {
				expect(t, 1, "mounted on ", "-f "+target)
			}
			expect(t, 1, "mounted on ", "recover "+first)
			expect(t, 1, "mounted on ", "recover "+nested)
			expect(t, 1, "mounted on ", "undo "+undo+" "+nested)
			expect(t, 1, "mounted on ", "-f -l logdev="+first+" "+second)
			expect(t, 0, "", "-N -f "+second)
			expect(t, 0, "", "-N -f --partition 2 "+disk)
			if digestOf(t, img) != before {
				t.Error("something was written")
			}
		})
	}
	mustFormat(t, "-f", second)
	mustFormat(t, "-f", first) // idle ones do not matter
}

// partition makes the kernel know a range of a disk as a partition, which not all
// find by themselves, and a device node for it, which there may be no daemon to make.
func partition(t *testing.T, disk string, number int, start, length int64) string {
	t.Helper()
	name := fmt.Sprintf("%sp%d", filepath.Base(disk), number)
	must(t, tool(t, "addpart"), disk, fmt.Sprint(number), fmt.Sprint(start/512), fmt.Sprint(length/512))
	t.Cleanup(func() { must(t, "delpart", disk, fmt.Sprint(number)) })
	text, err := os.ReadFile(filepath.Join("/sys/class/block", name, "dev"))
	if err != nil {
		t.Skip("no partitions of loop devices here:", err)
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(string(text), "%d:%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(major, minor))); err != nil {
		t.Skip("no device node can be made:", err)
	}
	return path
}

// The partitions of a loop device are ranges of the same file as others.
func TestLoopPartitionInUse(t *testing.T) {
	needRoot(t)
	img, starts, length := twoPartitions(t)
	disk := attach(t, img)
	first, second := partition(t, disk, 1, starts[0], length), partition(t, disk, 2, starts[1], length)
	loop := attach(t, img, window(starts[0], length)...)
	mustFormat(t, first)
	dir := filepath.Join(t.TempDir(), "mnt")
	unmount := mountAt(t, loop, dir, "ro")
	expect(t, 1, loop+", which has bytes of it, is mounted on ", "-f "+first)
	expect(t, 0, "", "-N -f "+second)
	unmount()
	unmount = mountAt(t, first, dir, "ro")
	expect(t, 1, disk+"p1, which has bytes of it, is mounted on ", "-f "+loop)
	expect(t, 1, "its partition "+filepath.Base(disk)+"p1 is mounted on ", "-f "+disk)
	expect(t, 0, "", "-f "+second)
	unmount()
	expect(t, 1, "one and the same", "-f -l logdev="+first+" "+loop)
}

// Two loop devices of one file are one device for two roles where they overlap,
// and two where they do not.
func TestRolesOfOneFile(t *testing.T) {
	needRoot(t)
	img := sparse(t, filepath.Join(t.TempDir(), "img"), "1g")
	const m = 1 << 20
	all, data := attach(t, img), attach(t, img, window(0, 400*m)...)
	log, rt := attach(t, img, window(400*m, 100*m)...), attach(t, img, window(500*m, 400*m)...)
	across := attach(t, img, window(399*m, 100*m)...)
	for _, args := range []string{
		"-l logdev=" + all + " " + data, "-l logdev=" + across + " " + data, "-r rtdev=" + all + " " + data,
		"-l logdev=" + log + " -r rtdev=" + all + " " + data, "-l logdev=" + log + " " + all,
	} {
		expect(t, 1, "one and the same", "-f "+args)
		expect(t, 1, "one and the same", "-N -f "+args)
	}
	file := filepath.Join(filepath.Dir(img), "undo")
	expect(t, 0, "", "-f --undo "+file+" -l logdev="+log+" -r rtdev="+rt+" "+data)
	expect(t, 0, "", "recover --logdev "+log+" "+data)
	expect(t, 1, "one and the same", "recover --logdev "+across+" "+data)
	expect(t, 1, "given for two devices", "undo --logdev "+across+" --rtdev "+rt+" "+file+" "+data)
	expect(t, 0, "", "undo --logdev "+log+" --rtdev "+rt+" "+file+" "+data)
}
