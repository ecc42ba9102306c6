package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// TestMain lets scripts run this program, under both of its names, as
// commands; they are processes of the test binary.
func TestMain(m *testing.M) {
	program := func() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) }
	testscript.Main(m, map[string]func(){"mkfs": program, "mkfs.xfs": program, "mkfs-confined": confined})
}

// dirtyImages is the folder of the images of dirty, once TestScript has run.
var dirtyImages string

// TestScript runs testdata/script; the README there lists the commands.
func TestScript(t *testing.T) {
	var err error
	if dirtyImages, err = filepath.Abs("../../testdata/dirty"); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:             "testdata/script",
		ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			env.Values[statesKey{}] = map[string]state{}
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command of a race test waits a second
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("no condition %q", name)
		},
		Cmds: withDisks(map[string]func(*testscript.TestScript, bool, []string){
			"refuses":   refuses,
			"fails":     fails,
			"exits":     exits,
			"truncate":  truncate,
			"put":       put,
			"fifo":      fifo,
			"filesize":  filesize,
			"allocated": takes,
			"note":      note,
			"unchanged": unchanged,

			"same-as-noted": sameAsNoted,

			"sha":     sha,
			"same":    same,
			"missing": missing,
			"zeros":   zeros,
			"lines":   lines,
			"unread":  unread,
			"dirty":   dirty,
		}),
	})
}

// outcome runs a command of a script and returns its exit status.
func outcome(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	}
	ts.Fatalf("%v: %v", args, err)
	return -1
}

// arguments checks how many a command has.
func arguments(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

// refuses N COMMAND...: exit status 1, nothing on stdout but that a format is old,
// and on stderr N lines that begin with the program's name, unless scripts know
// them by their beginning, and one with a hint.
func refuses(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "refuses N COMMAND...")
	saysNo(ts, args, fmt.Sprintf("See '%s --help'.", filepath.Base(args[1])))
}

// fails N COMMAND...: as refuses, without the hint.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "fails N COMMAND...")
	saysNo(ts, args, "")
}

func saysNo(ts *testscript.TestScript, args []string, hint string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if status := outcome(ts, args[1:]); status != 1 {
		ts.Fatalf("exit status %d, not 1", status)
	}
	for line := range strings.Lines(ts.ReadFile("stdout")) { // which tells of an old format first
		if !strings.HasSuffix(line, "filesystems are deprecated and will not be supported by future versions.\n") {
			ts.Fatalf("prints %q", line)
		}
	}
	said := strings.Split(strings.TrimSuffix(ts.ReadFile("stderr"), "\n"), "\n")
	if hint != "" {
		if said[len(said)-1] != hint {
			ts.Fatalf("the last line is no %q", hint)
		}
		said = said[:len(said)-1]
	}
	if len(said) != want {
		ts.Fatalf("%d lines on stderr, not %d", len(said), want)
	}
	for _, line := range said {
		known := strings.HasPrefix(line, "block size ") || line == "rmapbt not supported without CRC support"
		if !known && !strings.HasPrefix(line, filepath.Base(args[1])+": ") || strings.HasPrefix(line, "See ") {
			ts.Fatalf("line %q does not begin with the program's name", line)
		}
	}
}

// exits STATUS COMMAND...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "exits STATUS COMMAND...")
	if status := outcome(ts, args[1:]); strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d, not %s", status, args[0])
	}
}

// unread COMMAND...: run it with a stdout that nobody reads.
func unread(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "unread COMMAND...")
	r, w, err := os.Pipe()
	ts.Check(err)
	ts.Check(r.Close())
	defer w.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout = ts.MkAbs("."), w
	if err := cmd.Run(); err != nil {
		ts.Fatalf("%v", err)
	}
}

// lines N stdout|stderr|FILE: it has N lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "lines N FILE")
	if n := strings.Count(ts.ReadFile(args[1]), "\n"); strconv.Itoa(n) != args[0] {
		ts.Fatalf("%s has %d lines, not %s", args[1], n, args[0])
	}
}

// truncate SIZE FILE...: makes files, or gives them another size.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "truncate SIZE FILE...")
	size, err := bytesOf(args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		f, err := os.OpenFile(ts.MkAbs(name), os.O_CREATE|os.O_RDWR, 0o666)
		ts.Check(err)
		ts.Check(f.Truncate(size))
		ts.Check(f.Close())
	}
}

// put FILE OFFSET TEXT: writes into a file; TEXT takes the escapes of Go.
func put(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 3, "put FILE OFFSET TEXT")
	off, err := bytesOf(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	_, err = f.WriteAt([]byte(text), off)
	ts.Check(err)
	ts.Check(f.Close())
}

// fifo FILE: makes a named pipe.
func fifo(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "fifo FILE")
	ts.Check(unix.Mkfifo(ts.MkAbs(args[0]), 0o666))
}

// state is what a file holds and how much space it takes.
type state struct {
	content
	allocated int64
}

// statesKey finds what note noted.
type statesKey struct{}

// stateOf looks at a file; synced says that it was durable before, if it has
// not changed, so that its allocation is final.
func stateOf(ts *testscript.TestScript, name string, synced bool) (s state) {
	f, err := os.Open(ts.MkAbs(name))
	ts.Check(err)
	defer f.Close()
	s.content, err = contentOf(f)
	ts.Check(err)
	if s.sectors > 0 && !synced {
		ts.Check(f.Sync()) // a file system may put off allocation
	}
	s.allocated, err = allocated(f)
	ts.Check(err)
	return s
}

// filesize SIZE FILE
func filesize(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "filesize SIZE FILE")
	want, err := bytesOf(args[0])
	ts.Check(err)
	if have := stateOf(ts, args[1], true).size; have != want {
		ts.Fatalf("%s has %d bytes, not %d", args[1], have, want)
	}
}

// allocated MOST FILE: the file takes no more space than that.
func takes(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, false, args, 2, "[!] allocated MOST FILE")
	most, err := bytesOf(args[0])
	ts.Check(err)
	if have := stateOf(ts, args[1], false).allocated; (have > most) != neg {
		ts.Fatalf("%s takes %d bytes; more than %d: %v", args[1], have, most, have > most)
	}
}

// note FILE...: remembers what is in files, for unchanged.
func note(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "note FILE...")
	for _, name := range args {
		ts.Value(statesKey{}).(map[string]state)[name] = stateOf(ts, name, false)
	}
}

// unchanged FILE...: files hold what they held at note, and take as much space.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "unchanged FILE...")
	for _, name := range args {
		was, noted := ts.Value(statesKey{}).(map[string]state)[name]
		if !noted {
			ts.Fatalf("%s was not noted", name)
		}
		if is := stateOf(ts, name, true); is != was {
			ts.Fatalf("%s was %+v and is %+v", name, was, is)
		}
	}
}

// sameAsNoted FILE...: as unchanged, but they may take more or less space.
func sameAsNoted(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "same-as-noted FILE...")
	for _, name := range args {
		was, noted := ts.Value(statesKey{}).(map[string]state)[name]
		if !noted {
			ts.Fatalf("%s was not noted", name)
		}
		if is := stateOf(ts, name, true); is.content != was.content {
			ts.Fatalf("%s was %+v and is %+v", name, was.content, is.content)
		}
	}
}

// sha FILE: prints the hash of what the file holds.
func sha(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "sha FILE")
	fmt.Fprintln(ts.Stdout(), stateOf(ts, args[0], true).hash)
}

// same FILE FILE: they hold the same; with ! they do not.
func same(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, false, args, 2, "[!] same FILE FILE")
	a, b := stateOf(ts, args[0], true), stateOf(ts, args[1], true)
	if equal := a.content == b.content; equal == neg {
		ts.Fatalf("equal is %t: %+v and %+v", equal, a, b)
	}
}

// missing FILE...: there are no such files.
func missing(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "missing FILE...")
	for _, name := range args {
		if _, err := os.Lstat(ts.MkAbs(name)); !errors.Is(err, os.ErrNotExist) {
			ts.Fatalf("%s is there: %v", name, err)
		}
	}
}

// zeros FILE OFFSET LENGTH: there is nothing but zeros; with ! there is something.
func zeros(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, false, args, 3, "[!] zeros FILE OFFSET LENGTH")
	off, err := bytesOf(args[1])
	ts.Check(err)
	n, err := bytesOf(args[2])
	ts.Check(err)
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	b := make([]byte, n)
	_, err = f.ReadAt(b, off)
	ts.Check(err)
	if is := bytes.Count(b, []byte{0}) == len(b); is == neg {
		ts.Fatalf("all zero is %t from %d to %d", is, off, off+n)
	}
}

// dirty NAME FILE: an image with a dirty log, as a kernel has left it.
func dirty(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "dirty NAME FILE")
	f, err := os.Open(filepath.Join(dirtyImages, args[0]+".img.gz"))
	ts.Check(err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	ts.Check(err)
	b, err := io.ReadAll(z)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o600))
}
