package walk

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// nobody is a user without rights.
const nobody = 65534

// asNobody names the directory that the test program is to walk as another user.
const asNobody = "WALK_AS_NOBODY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asNobody); dir != "" {
		if err := tellReadable(dir); err != nil {
			fmt.Println("error", err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tellReadable prints what a survey finds unreadable, what it gives and what is opened after it.
func tellReadable(dir string) error {
	tr := New(dir, Options{})
	ctx := context.Background()
	_, err := take(tr.Open(ctx))
	fmt.Println("first", strings.TrimPrefix(fmt.Sprint(err), dir))
	list, err := take(tr.Survey(ctx, 4096, func(path string, err error) {
		fmt.Println("unreadable", strings.TrimPrefix(path, dir))
	}))
	if err != nil {
		return err
	}
	for _, f := range list {
		fmt.Println("surveyed", strings.TrimPrefix(f.path, dir))
	}
	if list, err = take(tr.Open(ctx)); err != nil {
		return err
	}
	for _, f := range list {
		fmt.Println("opened", strings.TrimPrefix(f.path, dir))
	}
	return nil
}

// TestUnreadable walks as a user who may not read all.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	m := &maker{t, inMemory(t)}
	m.do(os.Chmod(m.dir, 0o755))
	program := m.path("program")
	copyFile(t, os.Args[0], program)
	m.dir = m.path("tree")
	m.do(os.Mkdir(m.dir, 0o755))
	dir := func(name string, mode os.FileMode) {
		m.mkdir(name)
		m.file(name+"/f", []byte("x"))
		m.do(os.Chmod(m.path(name), mode))
	}
	file := func(name string, mode os.FileMode, owner int) {
		m.file(name, []byte("x"))
		m.do(os.Chown(m.path(name), owner, owner))
		m.do(os.Chmod(m.path(name), mode))
	}
	dir("open", 0o755)
	dir("closed", 0o700)
	dir("only names", 0o744)
	dir("no names", 0o711)
	file("readable", 0o644, 0)
	file("secret", 0o600, 0)
	file("own secret", 0o000, nobody)
	file("own", 0o400, nobody)
	file("own for others", 0o044, nobody)
	m.file("empty secret", nil)
	m.do(os.Chmod(m.path("empty secret"), 0o600))
	m.do(unix.Mkfifo(m.path("fifo"), 0o600))

	c := exec.Command(program)
	c.Env = append(os.Environ(), asNobody+"="+m.dir)
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Skipf("not started as another user: %v", err)
	}
	got := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		kind, path, _ := strings.Cut(line, " ")
		got[kind] = append(got[kind], path)
	}
	for kind, want := range map[string][]string{
		"unreadable": {"/closed", "/empty secret", "/no names", "/only names", "/own for others", "/own secret", "/secret"},
		"surveyed":   {"", "/fifo", "/open", "/open/f", "/own", "/readable"},
		"opened":     {"", "/fifo", "/open", "/open/f", "/own", "/readable"},
		"error":      nil,
	} {
		slices.Sort(got[kind])
		if !slices.Equal(got[kind], want) {
			t.Errorf("%s: %q, want %q", kind, got[kind], want)
		}
	}
	if first := strings.Join(got["first"], ""); !strings.HasSuffix(first, "permission denied") {
		t.Errorf("without a survey before: %q", first)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if e := out.Close(); err != nil || e != nil {
		t.Fatal(err, e)
	}
}

// TestReadableUnknown asks the kernel about each file where modes do not tell, and opens files where
// the kernel cannot be asked.
func TestReadableUnknown(t *testing.T) {
	m := newMaker(t)
	m.file("f", []byte("x"))
	for _, can := range []error{nil, unix.ENOSYS, unix.EPERM} {
		tr := New(m.dir, Options{})
		tr.rights.all = false
		tr.rights.uid++
		tr.room = 0
		calls := []string{}
		tr.host = &between{linux{}, func(call, name string) error {
			if name == "f" && (call == "open" || call == "access") {
				calls = append(calls, call)
			}
			if call == "access" {
				return can
			}
			return nil
		}}
		list, err := take(tr.Survey(t.Context(), 4096, nil))
		if err != nil || len(list) != 2 {
			t.Errorf("%v: %v, %v", can, paths(list), err)
		}
		want := "access"
		if can != nil {
			want = "access, open"
		}
		if got := strings.Join(calls, ", "); got != want {
			t.Errorf("%v: calls %s, want %s", can, got, want)
		}
	}
}

// TestRefused makes the host refuse a file to root, as a server does: it is left out with a survey.
func TestRefused(t *testing.T) {
	m := newMaker(t)
	m.mkdir("d")
	m.file("d/f", []byte("x"))
	m.file("g", []byte("x"))
	tr := New(m.dir, Options{})
	tr.host = &between{linux{}, func(call, name string) error {
		if call == "open" && name == "d" {
			return unix.EACCES
		}
		return nil
	}}
	var told []string
	if _, err := take(tr.Survey(t.Context(), 4096, nil)); err == nil {
		t.Error("no error without a function for unreadable files")
	}
	list, err := take(tr.Survey(t.Context(), 4096, func(path string, _ error) { told = append(told, path) }))
	if err != nil || len(list) != 2 || !slices.Equal(told, []string{m.path("d")}) {
		t.Errorf("survey: %v, %v, unreadable %q", paths(list), err, told)
	}
	list, err = take(tr.Open(t.Context()))
	if err != nil || len(list) != 2 || filepath.Base(list[1].path) != "g" {
		t.Errorf("open: %v, %v", paths(list), err)
	}
}
