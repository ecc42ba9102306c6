package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A tree of every kind of file comes into an image as it is, by the kernel's mount and by xfs_repair (P18).
func TestFilledMounts(t *testing.T) {
	needRoot(t)
	folder := t.TempDir()
	source, image := filepath.Join(folder, "tree"), sparse(t, filepath.Join(folder, "img"), "400m")
	everyKind(t, source)
	touched := filepath.Join(source, "regular")
	const accessed = 1_400_000_000
	if err := unix.UtimesNano(touched, []unix.Timespec{{Sec: accessed, Nsec: 5}, {Sec: 1, Nsec: 987654321}}); err != nil {
		t.Fatal(err)
	}
	mustFormat(t, "-p", "atime=1,"+source, image)
	if repair, err := exec.LookPath("xfs_repair"); err == nil {
		must(t, repair, "-n", "-f", image)
	}
	at := filepath.Join(folder, "mnt")
	mountAt(t, attach(t, image), at, "ro,noatime,norecovery")
	want, have := seen(t, source), seen(t, at)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			t.Errorf("%q is\n%s, in the source\n%s", name, have[name], want[name])
		}
		delete(have, name)
	}
	for name := range have {
		t.Errorf("%q is not in the source", name)
	}
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(at, "regular"), &st); err != nil || st.Atim != (unix.Timespec{Sec: accessed, Nsec: 5}) {
		t.Errorf("the access time is %+v: %v", st.Atim, err)
	}
}

// everyKind makes a tree of all kinds of files, names and attributes.
func everyKind(t *testing.T, root string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	write := func(name, text string) { check(os.WriteFile(at(name), []byte(text), 0o640)) }
	check(os.Mkdir(root, 0o751))
	check(os.Mkdir(at("many"), 0o700))
	for i := range 3000 {
		write(fmt.Sprintf("many/%d", i), fmt.Sprint(i))
	}
	for _, name := range []string{"regular", "name\nof two lines", "no UTF-8 \xff\xfe", "set", "foreign", "old", "blank name "} {
		write(name, strings.Repeat(name, 777))
	}
	write("empty", "")
	f, err := os.Create(at("sparse"))
	check(err)
	check(f.Truncate(100 << 20))
	_, err = f.WriteAt(bytes.Repeat([]byte("x"), 4096), 50<<20)
	check(err)
	check(f.Close())
	check(os.Link(at("regular"), at("many/link")))
	check(os.Symlink("regular", at("short")))
	check(os.Symlink(strings.Repeat("long/", 200), at("long")))
	check(unix.Mkfifo(at("fifo"), 0o622))
	check(unix.Mknod(at("socket"), unix.S_IFSOCK|0o755, 0))
	check(unix.Mknod(at("null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
	check(unix.Mknod(at("block"), unix.S_IFBLK|0o660, int(unix.Mkdev(259, 70000))))
	check(os.Chmod(at("set"), 0o755|os.ModeSetuid|os.ModeSetgid))
	check(os.Lchown(at("foreign"), 123456, 4_000_000_000))
	check(os.Lchown(at("short"), 7, 8))
	check(os.Chmod(at("many"), 0o777|os.ModeSticky))
	for _, name := range []string{"", "regular", "many", "old"} {
		for _, attr := range []struct{ name, value string }{
			{"trusted.short", "value"}, {"trusted.large", strings.Repeat(name+"v", 400)},
		} {
			if err := unix.Lsetxattr(at(name), attr.name, []byte(attr.value), 0); err != nil {
				t.Log("attributes are not tested, the folder for temporary files takes none: ", err)
				break
			}
		}
	}
	check(unix.UtimesNano(at("old"), []unix.Timespec{{Sec: 1}, {Sec: -1_000_000, Nsec: 123456789}}))
}

// seen tells all of a tree that -p keeps, by path.
func seen(t *testing.T, root string) map[string]string {
	t.Helper()
	list, links := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		name := strings.TrimPrefix(path, root)
		says := fmt.Sprintf("mode %o, owners %d:%d, device %d,", st.Mode, st.Uid, st.Gid, st.Rdev)
		if name != "" { // the root keeps the time of mkfs, as with mkfs.xfs
			says += fmt.Sprintf(" modified %d.%09d,", st.Mtim.Sec, st.Mtim.Nsec)
		}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			says += " target " + target
		case d.Type().IsRegular():
			if st.Nlink > 1 {
				first, ok := links[st.Ino]
				if !ok {
					first, links[st.Ino] = name, name
				}
				says += " the file of " + first
			}
			says += held(t, path)
		}
		list[name] = says + attributesOf(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// held tells what a regular file holds, and where its data is.
func held(t *testing.T, path string) (says string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := contentOf(f)
	if err != nil {
		t.Fatal(err)
	}
	says = fmt.Sprintf(" %+v", sum)
	for end := int64(0); ; {
		start, err := unix.Seek(int(f.Fd()), end, unix.SEEK_DATA)
		if err != nil {
			return says
		}
		if end, err = unix.Seek(int(f.Fd()), start, unix.SEEK_HOLE); err != nil {
			t.Fatal(err)
		}
		says += fmt.Sprintf(" data %d-%d", start, end)
	}
}

// attributesOf tells extended attributes, in the order of their names.
func attributesOf(t *testing.T, path string) (says string) {
	t.Helper()
	b := make([]byte, 65536)
	n, err := unix.Llistxattr(path, b)
	if err != nil {
		return ""
	}
	names := strings.Split(strings.TrimSuffix(string(b[:n]), "\x00"), "\x00")
	slices.Sort(names)
	for _, name := range names {
		if name != "" && name != "trusted.xfs:autofsck" { // mkfs gives it to the root
			n, err := unix.Lgetxattr(path, name, b)
			if err != nil {
				t.Fatal(path, name, err)
			}
			says += fmt.Sprintf(" %s=%q", name, b[:n])
		}
	}
	return says
}

// SIGINT and SIGTERM stop a run that fills a filesystem within a second, and leave nothing that mounts.
func TestFilledSignals(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "tree")
	if err := os.Mkdir(source, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 40_000 {
		if err := os.WriteFile(filepath.Join(source, fmt.Sprint(i)), []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for sig, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		image := sparse(t, filepath.Join(folder, sig.String()), "1g")
		cmd := exec.Command("mkfs", "-q", "-p", source, image)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 20_000 { // until the first writes, which are after the survey
			if f, err := os.Open(image); err != nil {
				t.Fatal(err)
			} else if n, err := allocated(f); f.Close() != nil || err != nil || n > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		sent := time.Now()
		cmd.Process.Signal(sig)
		if cmd.Wait() == nil {
			t.Log("it was faster than the signal")
			continue
		}
		if took := time.Since(sent); took > time.Second {
			t.Errorf("%v: it took %v to stop", sig, took)
		}
		if got := cmd.ProcessState.ExitCode(); got != status || looksFinished(t, image) {
			t.Errorf("%v: exit status %d; finished is %t", sig, got, looksFinished(t, image))
		}
	}
}

// A user who may not read a file is told which, and may leave it out; nothing is made before that.
func TestUnreadable(t *testing.T) {
	needRoot(t)
	dir, err := os.MkdirTemp("", "mkfs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, source := filepath.Join(dir, "mkfs"), filepath.Join(dir, "tree")
	must(t, "cp", self, program)
	must(t, "mkdir", "-p", filepath.Join(source, "closed", "sub"))
	must(t, "cp", "/etc/hostname", filepath.Join(source, "open"))
	must(t, "cp", "/etc/hostname", filepath.Join(source, "secret"))
	must(t, "chmod", "755", dir, source)
	must(t, "chmod", "600", filepath.Join(source, "secret"))
	must(t, "chmod", "700", filepath.Join(source, "closed"))
	must(t, "mkdir", "-m", "777", filepath.Join(dir, "out"))
	image := filepath.Join(dir, "out", "img")
	format := func(args ...string) (string, error) {
		cmd := exec.Command(program, append(args, "-q", "--size", "400m", "-p", source, image)...)
		cmd.Dir = "/"
		cmd.SysProcAttr = asNobody()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := format()
	if err == nil || !strings.Contains(out, "-p: 2 files cannot be read; --skip-unreadable leaves them out:") ||
		!strings.Contains(out, "tree/secret: ") || !strings.Contains(out, "tree/closed: ") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Lstat(image); !os.IsNotExist(err) {
		t.Errorf("a file was made: %v", err)
	}
	out, err = format("--skip-unreadable")
	if err != nil || !strings.Contains(out, "leaves out 2 files:") {
		t.Errorf("%v: %s", err, out)
	}
	_, out, _ = runAs(t, "mkfs", "verify", "--against", source, image)
	for _, says := range []string{"/secret is missing", "/closed is missing", ", 2 differences"} {
		if !strings.Contains(out, says) {
			t.Errorf("no %q in: %s", says, out)
		}
	}
}
