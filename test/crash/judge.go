package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Exit statuses of mkfs recover: the last is right only where the kernel fails too.
const (
	done       = 0
	unfinished = 3
	failed     = 1
)

// judge is one run of the program.
type judge struct {
	mkfs, repair, conf string
	work, keep, mnt    string
	seed               uint64
}

// skipped is the reason why a case cannot be here.
type skipped struct{ why string }

func (s skipped) Error() string { return s.why }

func skip(format string, args ...any) error { return skipped{fmt.Sprintf(format, args...)} }

// trial is a case being judged.
type trial struct {
	*judge
	context.Context
	crash crash
	dir   string
	dirty image // as the crash left it
	// What the kernel makes of the dirty image: its tree, and its bytes
	// after a mount that does no more than recovery.
	tree   tree
	kernel image
	layout layout
	ours   image // what mkfs recover makes of it
	exit   int   // what it said
	took   time.Duration
}

// try judges a case; exit is what mkfs recover said.
func (j *judge) try(ctx context.Context, c crash) (exit int, err error) {
	t := &trial{judge: j, Context: ctx, crash: c}
	if t.dir, err = os.MkdirTemp(j.work, "case"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(t.dir)
	if t.dirty, err = j.dirty(ctx, c, t.dir); err != nil {
		return 0, err
	}
	if err := t.keepDirty(); err != nil {
		return 0, err
	}
	if err := t.ask(); err != nil {
		if err = fmt.Errorf("the kernel: %w", err); c.fragile || c.exit == failed {
			return t.alone(err)
		}
		return 0, err
	}
	if t.exit, err = t.recover(); err != nil {
		return t.exit, err
	}
	for _, check := range checks {
		if err := ctx.Err(); err != nil {
			return t.exit, err
		}
		if (check.exit == always || check.exit == t.exit) && (check.every <= 1 || c.number%check.every == 0) {
			if err := check.run(t); err != nil {
				return t.exit, fmt.Errorf("exit=%d, %s: %w", t.exit, check.name, err)
			}
		}
	}
	return t.exit, nil
}

// helpless is the error of a kernel whose own recovery fails, where that was to
// be expected.
type helpless struct{ error }

// alone judges a case that the kernel cannot recover, for this reason: refusing
// it without a change is right, and so is a result that xfs_repair likes.
func (t *trial) alone(why error) (exit int, err error) {
	t.ours = t.dirty.at(t.dir, "ours")
	if err := t.dirty.copyTo(t.ours); err != nil {
		return 0, err
	}
	if _, exit, err = status(t.recovery(t.ours)...); err != nil {
		return exit, err
	}
	switch {
	case exit == failed:
		err = t.equal(t.dirty)
	case t.crash.exit == failed:
		err = errors.New("mkfs recover does not")
	case exit == done:
		err = t.clean(t.ours)
	case exit != unfinished:
		err = fmt.Errorf("mkfs recover: exit status %d", exit)
	}
	if err != nil {
		return exit, fmt.Errorf("exit=%d: %w, and %w", exit, err, why)
	}
	return exit, helpless{why}
}

// keepDirty leaves a copy of the dirty image, if that is wanted.
func (t *trial) keepDirty() error {
	if t.keep == "" {
		return nil
	}
	return t.dirty.copyTo(t.dirty.at(t.keep, strings.ReplaceAll(t.crash.name, " ", "-")))
}

// ask lets the kernel recover copies of the dirty image.
func (t *trial) ask() (err error) {
	a := t.dirty.at(t.dir, "a")
	defer a.remove()
	if err := t.dirty.copyTo(a); err != nil {
		return err
	}
	if t.tree, err = t.treeOf(a, readWrite); err != nil {
		return err
	}
	t.kernel = t.dirty.at(t.dir, "kernel")
	if err := t.dirty.copyTo(t.kernel); err != nil {
		return err
	}
	at, err := t.kernel.mount(t.mnt, readOnly, "")
	if err != nil {
		return err
	}
	at.unmount()
	t.layout, err = readLayout(t.kernel.data)
	return err
}

// treeOf is what an image shows when it is mounted.
func (t *trial) treeOf(m image, how int64) (tree, error) {
	var now unix.Timespec // as the kernel stamps files: it may lag a little
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
		return nil, err
	}
	at, err := m.mount(t.mnt, how, "")
	if err != nil {
		return nil, err
	}
	defer at.unmount()
	return capture(at.dir, time.Unix(now.Unix()))
}

// recovery is the command for an image.
func (t *trial) recovery(m image, options ...string) []string {
	argv := append([]string{t.mkfs, "recover"}, options...)
	if m.log != "" {
		argv = append(argv, "--logdev", m.log)
	}
	return append(argv, m.data)
}

// run is mkfs recover of an image, with an exit status that is no failure.
func (t *trial) run(m image, options ...string) (exit int, err error) {
	out, exit, err := status(t.recovery(m, options...)...)
	if err == nil && exit != done && exit != unfinished {
		err = fmt.Errorf("mkfs recover: exit status %d: %s", exit, tail(out))
	}
	return exit, err
}

// recover makes our own copy.
func (t *trial) recover() (exit int, err error) {
	t.ours = t.dirty.at(t.dir, "ours")
	if err := t.dirty.copyTo(t.ours); err != nil {
		return 0, err
	}
	started := time.Now()
	exit, err = t.run(t.ours)
	t.took = time.Since(started)
	if err == nil && t.crash.exit != always && t.crash.exit != exit {
		err = fmt.Errorf("mkfs recover: exit status %d, not %d", exit, t.crash.exit)
	}
	return exit, err
}

// repaired is what xfs_repair -n says of an image; dirty is that its log is.
func (t *trial) repaired(m image) (dirty bool, err error) {
	argv := []string{t.repair, "-n", "-o", "force_geometry"} // or it wants more than one group
	if m.log != "" {
		argv = append(argv, "-l", m.log)
	}
	out, exit, err := status(append(argv, m.data)...)
	if err != nil {
		return false, err
	}
	dirty = strings.Contains(out, "valuable metadata changes in a log")
	if exit != 0 && !dirty {
		return false, fmt.Errorf("xfs_repair -n: exit status %d: %s", exit, tail(out))
	}
	return dirty, nil
}

// clean is that xfs_repair finds nothing, not even a dirty log.
func (t *trial) clean(m image) error {
	dirty, err := t.repaired(m)
	if err == nil && dirty {
		err = errors.New("xfs_repair -n: the log is dirty")
	}
	if err != nil && m != t.kernel && t.clean(t.kernel) != nil {
		err = fmt.Errorf("%w; nor is what the kernel does alone clean", err)
	}
	return err
}

// sameTree is that an image shows what the kernel's own recovery does.
func (t *trial) sameTree(m image, how int64) error {
	tree, err := t.treeOf(m, how)
	if err != nil {
		return err
	}
	if d := diff(t.tree, tree); d != "" {
		return errors.New(d)
	}
	return nil
}

// judging makes ready what all cases need, and says what is missing.
func (j *judge) judging() (down func(), err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("needs root, for loop mounts")
	}
	if j.mkfs, err = filepath.Abs(j.mkfs); err != nil {
		return nil, err
	}
	if j.work, err = os.MkdirTemp(j.work, "crash"); err != nil {
		return nil, err
	}
	j.mnt = filepath.Join(j.work, "mnt")
	if j.keep != "" {
		err = os.MkdirAll(j.keep, 0o755)
	}
	unix.Umask(0o022)
	return func() { os.RemoveAll(j.work) }, errors.Join(err, os.Mkdir(j.mnt, 0o700))
}
