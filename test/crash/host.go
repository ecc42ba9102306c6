package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// command runs a tool to its end, also when we are interrupted: it is in a
// process group of its own. With an error comes the end of what it printed.
func command(argv ...string) (string, error) {
	out, status, err := status(argv...)
	if err == nil && status != 0 {
		err = fmt.Errorf("%s: exit status %d: %s", strings.Join(argv, " "), status, tail(out))
	}
	return out, err
}

// status is command for tools whose exit status means something.
func status(argv ...string) (out string, code int, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// With these mkfs makes filesystems smaller than it otherwise would.
	cmd.Env = append(os.Environ(), "TEST_DIR=1", "TEST_DEV=1", "QA_CHECK_FS=1")
	b, err := cmd.CombinedOutput()
	out = strings.TrimSpace(string(b))
	if cmd.ProcessState == nil {
		return out, 0, fmt.Errorf("%s: %w", argv[0], err)
	}
	if code = cmd.ProcessState.ExitCode(); code < 0 {
		return out, code, fmt.Errorf("%s: %v: %s", strings.Join(argv, " "), cmd.ProcessState, tail(out))
	}
	return out, code, nil
}

// tail is the last few lines of a text, as one line.
func tail(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-4):], " | ")
}

// undo is a stack of what takes things down again.
type undo []func()

func (u *undo) add(f func()) { *u = append(*u, f) }

func (u *undo) run() {
	for i := len(*u) - 1; i >= 0; i-- {
		(*u)[i]()
	}
	*u = nil
}

// image is a filesystem in a file, and its external log in another, if any.
type image struct {
	data, log string
	sector    int // of the loop devices made of it
}

// at is where a copy of the image would be.
func (m image) at(dir, name string) image {
	c := image{data: filepath.Join(dir, name+".img"), sector: m.sector}
	if m.log != "" {
		c.log = filepath.Join(dir, name+".log")
	}
	return c
}

func (m image) copyTo(c image) error {
	if err := copySparse(m.data, c.data); err != nil {
		return err
	}
	if m.log == "" {
		return nil
	}
	return copySparse(m.log, c.log)
}

func (m image) remove() {
	os.Remove(m.data)
	if m.log != "" {
		os.Remove(m.log)
	}
}

// attach makes a block device of a file. Undoing it waits until it is gone.
func attach(u *undo, file string, sector int, readOnly bool) (device string, err error) {
	argv := []string{"losetup", "--show", "-f", "-b", strconv.Itoa(sector)}
	if readOnly {
		argv = append(argv, "-r")
	}
	if device, err = command(append(argv, file)...); err != nil {
		return "", err
	}
	u.add(func() {
		command("losetup", "-d", device)
		backing := filepath.Join("/sys/block", filepath.Base(device), "loop/backing_file")
		for range 500 {
			if b, err := os.ReadFile(backing); err != nil || strings.TrimSpace(string(b)) != file {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Fprintf(os.Stderr, "crash: %s stays attached\n", device)
	})
	return device, nil
}

// mounted is an image that is attached and mounted.
type mounted struct {
	dir    string
	device string // its name without a folder
	undo   undo
}

// How an image is mounted.
const (
	readWrite  = 0
	readOnly   = unix.MS_RDONLY
	deviceOnly = 1 << 62               // for writeProtected
	protected  = readOnly | deviceOnly // read-only, and on read-only devices
)

// refused is an error of mount itself.
type refused struct{ error }

// mount attaches an image and mounts it on dir.
func (m image) mount(dir string, how int64, options string) (_ *mounted, err error) {
	at := &mounted{dir: dir}
	defer func() {
		if err != nil {
			at.undo.run()
		}
	}()
	ro := how&deviceOnly != 0
	device, err := attach(&at.undo, m.data, m.sector, ro)
	if err != nil {
		return nil, err
	}
	at.device = filepath.Base(device)
	if m.log != "" {
		log, err := attach(&at.undo, m.log, m.sector, ro)
		if err != nil {
			return nil, err
		}
		options = strings.Trim(options+",logdev="+log, ",")
	}
	if err := unix.Mount(device, dir, "xfs", uintptr(how&^deviceOnly), options); err != nil {
		return nil, refused{fmt.Errorf("mount of %s, options %q: %w", filepath.Base(m.data), options, err)}
	}
	at.undo.add(func() {
		for range 100 { // something may be looking at it
			if unix.Unmount(dir, 0) != unix.EBUSY {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		fmt.Fprintf(os.Stderr, "crash: %s stays mounted\n", dir)
	})
	return at, nil
}

func (at *mounted) unmount() { at.undo.run() }
