package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// always is for checks and cases of both exit statuses.
const always = -1

// check is something that must hold of what mkfs recover did.
type check struct {
	name  string
	exit  int // of the runs it is for
	every int // of so many cases it is done in one
	run   func(*trial) error
}

var checks = []check{
	{"bytes", done, 1, sameBytes},
	{"counters", done, 1, sameCounters},
	{"xfs_repair", done, 1, func(t *trial) error { return t.clean(t.ours) }},
	{"tree, mounted read-only", done, 1, func(t *trial) error { return t.sameTree(t.ours, protected) }},
	{"remainder", unfinished, 1, remains},
	{"dry run", always, 1, dryRun},
	{"again", always, 1, again},
	{"killed", always, 2, killed},
	{"copy", always, 6, copied},
	{"queue depth", always, 5, depths},
	{"bytes, finished by the kernel", unfinished, 1, finishesSame},
	{"finished by the kernel", unfinished, 1, finishes},
}

// sameBytes is that all but the log and the primary superblock is as the
// kernel leaves it.
func sameBytes(t *trial) error { return t.same(t.ours) }

// same is that, of an image of ours, with differences that are allowed.
func (t *trial) same(m image, allowed ...allowance) error {
	d, err := t.compare(m, allowed...)
	if err == nil && d != "" {
		err = errors.New(d)
	}
	return err
}

func sameCounters(t *trial) error {
	l, err := readLayout(t.ours.data)
	if err != nil {
		return err
	}
	if ours, kernel := l.counters(), t.layout.counters(); ours != kernel {
		return fmt.Errorf("%s, not %s", ours, kernel)
	}
	return nil
}

// remains is that the kernel had something left to do: if it did no more than
// we did, then it was not right to say so.
func remains(t *trial) error {
	dirty, err := t.repaired(t.ours)
	if err != nil {
		return err
	}
	if !dirty {
		return errors.New("xfs_repair -n: the log is clean")
	}
	d, err := t.compare(t.ours)
	if err == nil && d == "" {
		err = errors.New("there was nothing left for the kernel to do")
	}
	return err
}

// finishes is that the kernel does what is left, and all is well then.
func finishes(t *trial) error {
	m := t.ours.at(t.dir, "finished")
	defer m.remove()
	if err := t.ours.copyTo(m); err != nil {
		return err
	}
	return errors.Join(t.sameTree(m, readWrite), t.clean(m))
}

// finishesSame is that the kernel, when it has finished, leaves what it leaves
// when it does all by itself.
func finishesSame(t *trial) error {
	m := t.ours.at(t.dir, "finished")
	defer m.remove()
	if err := t.ours.copyTo(m); err != nil {
		return err
	}
	at, err := m.mount(t.mnt, readOnly, "")
	if err != nil {
		return err
	}
	at.unmount()
	return t.same(m, changeTimes)
}

// unchanged is that something leaves an image alone.
func unchanged(m image, f func() error) error {
	before, err := m.sums()
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	after, err := m.sums()
	if err == nil && before != after {
		err = fmt.Errorf("%s has changed", filepath.Base(m.data))
	}
	return err
}

// says is that mkfs recover has this exit status.
func (t *trial) says(exit int, m image, options ...string) error {
	got, err := t.run(m, options...)
	if err == nil && got != exit {
		err = fmt.Errorf("exit status %d, not %d", got, exit)
	}
	return err
}

func dryRun(t *trial) error {
	return unchanged(t.dirty, func() error { return t.says(t.exit, t.dirty, "--dry-run") })
}

// again is that there is nothing more to do, and it is not done.
func again(t *trial) error {
	return errors.Join(
		unchanged(t.ours, func() error { return t.says(t.exit, t.ours, "--dry-run") }),
		unchanged(t.ours, func() error { return t.says(t.exit, t.ours) }))
}

// equal is that two images are the same, byte by byte.
func (t *trial) equal(m image) error {
	var at []string
	see := func(o int64, _, _ []byte) bool { at = append(at, t.layout.place(o)); return len(at) < 3 }
	err := differences(t.ours.data, m.data, 512, see)
	if err == nil && m.log != "" {
		err = differences(t.ours.log, m.log, 512, func(o int64, _, _ []byte) bool {
			at = append(at, fmt.Sprintf("log+%d", o))
			return len(at) < 3
		})
	}
	if err == nil && len(at) > 0 {
		err = fmt.Errorf("not the same bytes: %s", strings.Join(at, ", "))
	}
	return err
}

// killed kills runs at some time, and then lets one come to its end.
func killed(t *trial) error {
	m := t.dirty.at(t.dir, "killed")
	defer m.remove()
	if err := t.dirty.copyTo(m); err != nil {
		return err
	}
	rng := t.rng(t.crash, "kill")
	for range 6 {
		argv := t.recovery(m)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		time.Sleep(time.Duration(rng.Int64N(int64(t.took) + 1)))
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		if err := unlocked(m.data); err != nil {
			return err
		}
	}
	return errors.Join(t.says(t.exit, m), t.equal(m))
}

// unlocked waits until a file is: the kernel may still be busy with what a
// killed process had in flight.
func unlocked(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for range 500 {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("locked, 5 s after a process was killed: %w", err)
}

func copied(t *trial) error {
	m := t.dirty.at(t.dir, "copy")
	if m.log != "" {
		return nil // the log is no part of what is copied
	}
	defer m.remove()
	return errors.Join(
		unchanged(t.dirty, func() error { return t.says(t.exit, t.dirty, "--copy-to", m.data) }),
		t.equal(m))
}

func depths(t *trial) error {
	for _, depth := range []string{"1", "100"} {
		m := t.dirty.at(t.dir, "depth")
		if err := t.dirty.copyTo(m); err != nil {
			return err
		}
		err := errors.Join(t.says(t.exit, m, "--queue-depth", depth), t.equal(m))
		m.remove()
		if err != nil {
			return fmt.Errorf("%s: %w", depth, err)
		}
	}
	return nil
}
