package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fake makes a system of its own below a temporary folder, with the files
// given; a name that ends in a slash is a folder.
func fake(t *testing.T, files map[string]string) system {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		dir := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == path {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The devices are in /sys/devices, as the real ones are.
	for from, to := range map[string]string{
		"dev/block/7:8": "../../devices/sdx", "dev/block/7:9": "../../devices/sdx/sdx1", "dev/block/7:10": "../../devices/sdx/sdx2",
		"block/sdx": "../devices/sdx",
	} {
		link := filepath.Join(root, "sys", from)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	return system{proc: filepath.Join(root, "proc"), sys: filepath.Join(root, "sys"), dev: filepath.Join(root, "dev")}
}

// disk is a disk with two partitions that nothing uses.
func disk(more map[string]string) map[string]string {
	files := map[string]string{
		"sys/devices/sdx/dev":            "7:8\n",
		"sys/devices/sdx/holders/":       "",
		"sys/devices/sdx/sdx1/dev":       "7:9\n",
		"sys/devices/sdx/sdx1/partition": "1\n",
		"sys/devices/sdx/sdx1/start":     "2048\n",
		"sys/devices/sdx/sdx1/size":      "2048\n",
		"sys/devices/sdx/sdx1/holders/":  "",
		"sys/devices/sdx/sdx2/dev":       "7:10\n",
		"sys/devices/sdx/sdx2/partition": "2\n",
		"sys/devices/sdx/sdx2/start":     "4096\n",
		"sys/devices/sdx/sdx2/size":      "10000\n",
		"sys/devices/sdx/sdx2/holders/":  "",
	}
	for name, text := range more {
		files[name] = text
	}
	return files
}

func TestDeviceUser(t *testing.T) {
	const mountinfo = "proc/self/mountinfo"
	whole, first, second := unix.Mkdev(7, 8), unix.Mkdev(7, 9), unix.Mkdev(7, 10)
	for _, c := range []struct {
		name  string
		files map[string]string
		rdev  uint64
		want  string
	}{
		{"nothing", nil, whole, ""},
		{"not in sysfs", nil, unix.Mkdev(7, 99), ""},
		{"other mount", map[string]string{mountinfo: "22 1 7:80 / / rw - ext4 /dev/root rw\n"}, whole, ""},
		{"mounted", map[string]string{mountinfo: "22 1 7:9 / /mnt\\040two rw shared:1 - xfs /dev/none rw\n"},
			first, "mounted on /mnt two"},
		{"mounted read-only", map[string]string{mountinfo: "22 1 7:8 /sub /mnt ro - xfs /dev/none ro\n"},
			whole, "mounted on /mnt"},
		{"last line", map[string]string{mountinfo: "1 0 0:1 / / rw - tmpfs none rw\n\nshort\n22 1 7:8 / /mnt ro - xfs x ro"},
			whole, "mounted on /mnt"},
		{"partition mounted", map[string]string{mountinfo: "22 1 7:10 / /mnt rw - xfs /dev/none rw\n"},
			whole, "its partition sdx2 is mounted on /mnt"},
		{"disk mounted", map[string]string{mountinfo: "22 1 7:8 / /mnt rw - xfs /dev/none rw\n"},
			first, "the disk sdx is mounted on /mnt"},
		{"other partition mounted", map[string]string{mountinfo: "22 1 7:10 / /mnt rw - xfs /dev/none rw\n"},
			first, ""},
		{"held", map[string]string{"sys/devices/sdx/sdx1/holders/dm-3/": "", "sys/class/block/dm-3/dm/name": "vg-root\n"},
			first, "part of dm-3 (vg-root)"},
		{"partition held", map[string]string{"sys/devices/sdx/sdx2/holders/md0/": ""},
			whole, "its partition sdx2 is part of md0"},
		{"disk held", map[string]string{"sys/devices/sdx/holders/md0/": ""},
			second, "the disk sdx is part of md0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, idle, err := fake(t, disk(c.files)).user(Info{Kind: BlockDevice, Rdev: c.rdev})
			if err != nil || got != c.want || idle {
				t.Errorf("user %q, %v, %v; want %q", got, idle, err, c.want)
			}
		})
	}
}

// Of a disk of which only a part is meant, other partitions are no reason.
func TestUserOfPart(t *testing.T) {
	s := fake(t, disk(map[string]string{"proc/self/mountinfo": "22 1 7:10 / /mnt rw - xfs /dev/none rw\n"}))
	for _, c := range []struct {
		offset, n int64
		want      string
	}{
		{1 << 20, 1 << 20, ""},
		{0, 2 << 20, ""},
		{1 << 20, 1<<20 + 512, "its partition sdx2 is mounted on /mnt"},
		{2<<20 + 10000*512 - 512, 512, "its partition sdx2 is mounted on /mnt"},
		{2<<20 + 10000*512, 512, ""},
	} {
		got, _, err := s.user(Info{Kind: BlockDevice, Rdev: unix.Mkdev(7, 8), Part: true, Offset: c.offset, Size: c.n})
		if err != nil || got != c.want {
			t.Errorf("%d bytes from %d on: %q, %v; want %q", c.n, c.offset, got, err, c.want)
		}
	}
}

// TestLoopUser has loop devices of parts of a file, known by the file's name.
func TestLoopUser(t *testing.T) {
	path := makeFile(t, 64<<20)
	in := mustProbe(t, path)
	files := map[string]string{"proc/self/mountinfo": "22 1 7:2 / /mnt rw - xfs /dev/loop2 rw\n"}
	// Loop device 1 is of the first 16 MiB, 2 of the next, 3 of the second half
	// of the first and the first half of the next, 4 of the rest.
	for i, at := range [][2]int64{{0, 16 << 20}, {16 << 20, 16 << 20}, {8 << 20, 16 << 20}, {32 << 20, 32 << 20}} {
		dir := fmt.Sprintf("sys/block/loop%d/", i+1)
		files[dir+"dev"] = fmt.Sprintf("7:%d\n", i+1)
		files[dir+"size"] = fmt.Sprintf("%d\n", at[1]/512)
		files[dir+"loop/offset"] = fmt.Sprintf("%d\n", at[0])
		files[dir+"loop/backing_file"] = path + "\n"
	}
	s := fake(t, files)
	loop := func(n uint32) Info { return Info{Kind: BlockDevice, Rdev: unix.Mkdev(7, n), Size: 16 << 20} }
	part := func(off, n int64) Info {
		in := in
		in.Part, in.Offset, in.Size = true, off, n
		return in
	}
	for _, c := range []struct {
		in   Info
		want string
		idle bool
	}{
		{loop(1), "", false}, {loop(4), "", false},
		{loop(2), "mounted on /mnt", false},
		{loop(3), "/dev/loop2, which has bytes of it, is mounted on /mnt", false},
		{in, "the loop device /dev/loop2, which is made of it, is mounted on /mnt", false},
		{part(0, 4096), "the loop device /dev/loop1 is made of it", true},
		{part(24<<20, 8<<20), "the loop device /dev/loop2, which is made of it, is mounted on /mnt", false},
		{part(48<<20, 4096), "the loop device /dev/loop4 is made of it", true},
	} {
		if by, idle, err := s.user(c.in); by != c.want || idle != c.idle || err != nil {
			t.Errorf("%+v: %q, %v, %v; want %q, %v", c.in, by, idle, err, c.want, c.idle)
		}
	}
	for _, c := range []struct {
		a, b Info
		want bool
	}{
		{in, in, true}, {loop(1), loop(1), true}, {loop(1), loop(2), false}, {loop(1), loop(3), true}, {loop(3), loop(2), true},
		{loop(4), in, true}, {in, loop(4), true}, {part(0, 8<<20), loop(3), false}, {loop(3), part(0, 8<<20+1), true},
		{mustProbe(t, makeFile(t, 512)), in, false},
	} {
		if got := s.overlap(c.a, c.b); got != c.want {
			t.Errorf("%+v and %+v: %v", c.a, c.b, got)
		}
	}
}

// A disk of zones is refused, and so are its partitions.
func TestZones(t *testing.T) {
	for model, refused := range map[string]bool{"host-managed\n": true, "host-aware\n": false, "none\n": false} {
		s := fake(t, disk(map[string]string{"sys/devices/sdx/queue/zoned": model}))
		for _, rdev := range []uint64{unix.Mkdev(7, 8), unix.Mkdev(7, 9)} {
			err := s.checkZones(Info{Kind: BlockDevice, Path: "/dev/x", Rdev: rdev})
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), "/dev/x has zones of its own") {
				t.Errorf("%q, device %#x: %v", model, rdev, err)
			}
		}
		if err := s.checkZones(Info{Kind: BlockDevice, Rdev: unix.Mkdev(7, 99)}); err != nil {
			t.Errorf("a device that is not in sysfs: %v", err)
		}
		if err := s.checkZones(Info{Kind: File}); err != nil {
			t.Errorf("a file: %v", err)
		}
	}
}

// Partitions discard in the units of their disk.
func TestDiscardUnit(t *testing.T) {
	for text, want := range map[string]int64{"4194304\n": 4 << 20, "0\n": 0, "-1\n": 0, "many\n": 0} {
		s := fake(t, disk(map[string]string{"sys/devices/sdx/queue/discard_granularity": text}))
		for rdev, want := range map[uint64]int64{unix.Mkdev(7, 8): want, unix.Mkdev(7, 9): want, unix.Mkdev(7, 99): 0} {
			if got := s.discardUnit(rdev); got != want {
				t.Errorf("%q, device %#x: %d, want %d", text, rdev, got, want)
			}
		}
	}
}

func TestNoSystem(t *testing.T) {
	s := system{proc: "/nonexistent", sys: "/nonexistent", dev: "/nonexistent"}
	for _, in := range []Info{{Kind: BlockDevice, Rdev: 5}, {Kind: File, Dev: 1, Ino: 2}} {
		if by, _, err := s.user(in); by != "" || err != nil {
			t.Errorf("%+v: %q, %v", in, by, err)
		}
	}
}

// TestFileUser has a swap file and a loop device that cannot be asked, so that
// its name counts.
func TestFileUser(t *testing.T) {
	path := makeFile(t, 4096)
	link := path + " link"
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	in, other := mustProbe(t, path), mustProbe(t, makeFile(t, 4096))
	loop := fake(t, map[string]string{
		"sys/block/loop0/size":              "0\n",
		"sys/block/loop7/loop/backing_file": link + "\n",
	})
	gone := fake(t, map[string]string{"sys/block/loop7/loop/backing_file": path + ".gone (deleted)\n"})
	swap := fake(t, map[string]string{
		"proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n" + strings.ReplaceAll(link, " ", `\040`) + " file 4 0 -2\n",
	})
	for _, c := range []struct {
		s    system
		in   Info
		want string
	}{
		{loop, in, "the loop device /dev/loop7 is made of it"}, {loop, other, ""},
		{swap, in, "active swap"}, {swap, other, ""},
		{gone, in, ""},
	} {
		if by, _, err := c.s.user(c.in); by != c.want || err != nil {
			t.Errorf("user %q, %v; want %q", by, err, c.want)
		}
	}
}

// Swap is known on any device that has bytes of the target, the target itself included.
func TestSwapDevice(t *testing.T) {
	loop, other := attach(t, makeFile(t, 8<<20)), attach(t, makeFile(t, 8<<20))
	rdev := mustProbe(t, loop).Rdev
	s := system{proc: t.TempDir()}
	for _, c := range []struct{ swap, which, want string }{
		{loop, "", "active swap"},
		{loop, "its partition x1 is ", "its partition x1 is active swap"},
		{other, "", ""},
	} {
		text := "Filename\tType\tSize\tUsed\tPriority\n" + c.swap + " partition 4 0 -2\n"
		if err := os.WriteFile(filepath.Join(s.proc, "swaps"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		by, err := s.swapUser([]relative{{extent: extent{object: object{rdev: rdev}}, which: c.which}})
		if by != c.want || err != nil {
			t.Errorf("swap on %s, %s is %q: %q, %v; want %q", c.swap, loop, c.which, by, err, c.want)
		}
	}
}

func TestInUseError(t *testing.T) {
	var e *InUseError
	err := error(&InUseError{Path: "/dev/x", By: "mounted on /y"})
	if !errors.As(err, &e) || err.Error() != "/dev/x is in use: mounted on /y" {
		t.Errorf("got %q", err)
	}
	if got := (&InUseError{Path: "/dev/x"}).Error(); got != "/dev/x is in use by another program or by the kernel" {
		t.Errorf("got %q", got)
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"/plain": "/plain", `/a\040b`: "/a b", `\134`: `\`, `\04`: `\04`, `\048`: `\048`, `\777`: `\777`, `x\`: `x\`, "": "",
		`\011\012`: "\t\n",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}
