package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"mkfs/internal/report"

	"golang.org/x/sys/unix"
)

// confined is this program in a process that may not make some system calls:
// confineEnv has lists of their numbers behind the errno that each fails with,
// as "38:425,206".
func confined() {
	rule := os.Getenv(confineEnv)
	errno, calls, _ := strings.Cut(rule, ":")
	no, err := strconv.Atoi(errno)
	if err == nil {
		err = confine(unix.Errno(no), strings.Split(calls, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no confinement:", err)
		os.Exit(confineFails)
	}
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}

const (
	confineEnv   = "MKFS_TEST_CONFINE"
	confineFails = 77
)

// confine installs a seccomp filter in all threads.
func confine(errno unix.Errno, calls []string) error {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
	for _, call := range calls {
		nr, err := strconv.ParseUint(call, 10, 32)
		if err != nil {
			return err
		}
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(nr)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}

// Where the kernel or a container refuses io_uring, or Linux AIO as well, the
// next engine does the same work without a word (P22).
func TestRefusedEngines(t *testing.T) {
	ring := []string{strconv.Itoa(unix.SYS_IO_URING_SETUP)}
	both := append([]string{strconv.Itoa(unix.SYS_IO_SETUP)}, ring...)
	dir := t.TempDir()
	want := filepath.Join(dir, "want")
	fixed := []string{"--reproducible", "--size", "4g", "-d", "agcount=40"}
	mustFormat(t, append(fixed, want)...)
	for _, c := range []struct {
		errno  unix.Errno
		calls  []string
		engine string // that is chosen
		forced string // and one that then fails
		says   string
	}{
		{unix.EPERM, ring, "aio", "uring", "io_uring_setup: operation not permitted"},
		{unix.ENOSYS, ring, "aio", "uring", "io_uring_setup: function not implemented"},
		{unix.EPERM, both, "sync", "aio", "io_setup: operation not permitted"},
		{unix.ENOSYS, both, "sync", "aio", "io_setup: function not implemented"},
	} {
		name := fmt.Sprintf("%s %v", c.engine, c.errno)
		env := append(os.Environ(), fmt.Sprintf("%s=%d:%s", confineEnv, int(c.errno), strings.Join(c.calls, ",")))
		path := filepath.Join(dir, name)
		run := func(args ...string) (string, string, int) {
			t.Helper()
			var out, errs strings.Builder
			cmd := exec.Command("mkfs-confined", append(args, path)...)
			cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &errs
			_ = cmd.Run() // its status tells
			if cmd.ProcessState.ExitCode() == confineFails {
				t.Skip(errs.String())
			}
			return out.String(), errs.String(), cmd.ProcessState.ExitCode()
		}
		// a depth asks for an engine also where direct IO does not work
		out, errs, status := run(append(fixed, "--json", "--queue-depth", "8")...)
		var report report.Made
		if err := json.Unmarshal([]byte(out), &report); err != nil || status != 0 || errs != "" || report.Work.Engine != c.engine {
			t.Errorf("%s: exit status %d, %v\n%s%s", name, status, err, out, errs)
			continue
		}
		if got, wanted := digestOf(t, path), digestOf(t, want); got != wanted {
			t.Errorf("%s: %+v, want %+v", name, got, wanted)
		}
		// What was there stays if the engine that was asked for is refused.
		_, errs, status = run("-q", "-f", "--engine", c.forced)
		if status != 1 || !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s, --engine %s: exit status %d\n%s", name, c.forced, status, errs)
		}
		if got, wanted := digestOf(t, path), digestOf(t, want); got != wanted {
			t.Errorf("%s, --engine %s: something was written", name, c.forced)
		}
		if _, errs, status := run("-q", "-f", "--engine", c.engine); status != 0 || errs != "" {
			t.Errorf("%s, --engine %s: exit status %d\n%s", name, c.engine, status, errs)
		}
		for _, command := range []string{"verify", "info", "recover"} {
			if _, errs, status := run(command); status != 0 || errs != "" {
				t.Errorf("%s, %s: exit status %d\n%s", name, command, status, errs)
			}
		}
	}
}

// digestOf is what a sparse file holds.
func digestOf(t *testing.T, path string) content {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := contentOf(f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The number of CPUs, and how many of them are used, makes no difference to a
// file (P16).
func TestCPUs(t *testing.T) {
	dir := t.TempDir()
	format := func(name string, env string, before ...string) content {
		t.Helper()
		path := filepath.Join(dir, name)
		args := append(before, "mkfs", "-q", "--reproducible", "--size", "1t", path)
		cmd := exec.Command(args[0], args[1:]...)
		if env != "" {
			cmd.Env = append(os.Environ(), env)
		}
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return digestOf(t, path)
	}
	want := format("plain", "")
	for _, n := range []string{"1", "2", "64"} {
		if got := format("procs"+n, "GOMAXPROCS="+n); got != want {
			t.Errorf("GOMAXPROCS=%s: %+v, want %+v", n, got, want)
		}
	}
	taskset := tool(t, "taskset")
	if got := format("one", "", taskset, "-c", "0"); got != want {
		t.Errorf("on one CPU: %+v, want %+v", got, want)
	}
}
