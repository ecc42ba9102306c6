package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// command runs a tool to its end, also when we are interrupted: these clean up.
func command(argv ...string) (string, error) {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, text)
	}
	return text, nil
}

// undo is a stack of what takes a host down again.
type undo []func()

func (u *undo) add(f func()) { *u = append(*u, f) }

func (u *undo) run() {
	for i := len(*u) - 1; i >= 0; i-- {
		(*u)[i]()
	}
	*u = nil
}

// zramXFS makes an XFS on a compressed disk in memory, with these options for
// the reference, and mounts it.
func zramXFS(b *bench, options ...string) (dir string, down func(), err error) {
	var u undo
	defer func() {
		if err != nil {
			u.run()
		}
	}()
	if os.Geteuid() != 0 {
		return "", nil, skip("a mount needs root")
	}
	if len(b.reference) == 0 {
		return "", nil, skip("no reference mkfs.xfs to make the host with")
	}
	const control = "/sys/class/zram-control/"
	id, err := os.ReadFile(control + "hot_add") // reading it makes a device
	if err != nil {
		return "", nil, skip("no zram: %v", err)
	}
	name := "zram" + strings.TrimSpace(string(id))
	u.add(func() { os.WriteFile(control+"hot_remove", id, 0) })
	for _, set := range [][2]string{{"comp_algorithm", "lzo-rle"}, {"disksize", "400G"}} {
		if err := os.WriteFile(filepath.Join("/sys/block", name, set[0]), []byte(set[1]), 0); err != nil {
			return "", nil, skip("zram: %v", err)
		}
	}
	u.add(func() { os.WriteFile(filepath.Join("/sys/block", name, "reset"), []byte("1"), 0) })
	if _, err := command(slices.Concat(b.reference, options, []string{"-q", "-f", "-K", "/dev/" + name})...); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", "bench-xfs"); err != nil {
		return "", nil, err
	}
	u.add(func() { os.Remove(dir) })
	if _, err := command("mount", "-t", "xfs", "/dev/"+name, dir); err != nil {
		return "", nil, skip("%v", err)
	}
	u.add(func() {
		for range 50 { // somebody may be looking at it
			if unix.Unmount(dir, 0) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		fmt.Fprintf(os.Stderr, "bench: %s stays mounted\n", dir)
	})
	return dir, u.run, nil
}

// loopDevice makes a block device of a sparse file in dir.
func loopDevice(dir string, size int64) (device string, down func(), err error) {
	var u undo
	defer func() {
		if err != nil {
			u.run()
		}
	}()
	if os.Geteuid() != 0 {
		return "", nil, skip("a loop device needs root")
	}
	f, err := os.CreateTemp(dir, "bench-loop")
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	u.add(func() { os.Remove(f.Name()) })
	if err := f.Truncate(size); err != nil {
		return "", nil, skip("%v", err)
	}
	if device, err = command("losetup", "--direct-io=on", "--show", "-f", f.Name()); err != nil {
		return "", nil, skip("%v", err)
	}
	u.add(func() { command("losetup", "-d", device) })
	return device, u.run, nil
}

// settle waits until others leave the processors alone, for a while.
func (b *bench) settle(ctx context.Context) {
	if b.quick {
		return
	}
	for end := time.Now().Add(calmness); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(time.Second) {
		var info unix.Sysinfo_t
		if unix.Sysinfo(&info) != nil || float64(info.Loads[0])/65536 < 0.7*float64(runtime.NumCPU()) {
			return
		}
	}
}

// machine describes what this runs on.
func machine() string {
	var name unix.Utsname
	unix.Uname(&name)
	var info unix.Sysinfo_t
	unix.Sysinfo(&info)
	model := "processors"
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			if key, value, ok := strings.Cut(sc.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
				model = "cores (" + strings.TrimSpace(value) + ")"
				break
			}
		}
	}
	return fmt.Sprintf("%d %s, %d GiB of memory, Linux %s, load %.1f at the start", runtime.NumCPU(), model,
		(uint64(info.Totalram)*uint64(info.Unit)+1<<29)>>30, unix.ByteSliceToString(name.Release[:]),
		float64(info.Loads[0])/65536)
}

// filesystem names the type of what holds dir.
func filesystem(dir string) string {
	var host unix.Statfs_t
	if err := unix.Statfs(dir, &host); err != nil {
		return "?"
	}
	switch int64(host.Type) {
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	}
	return fmt.Sprintf("filesystem %#x", host.Type)
}
