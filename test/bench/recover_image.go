package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dirt says what is done to a filesystem before it is shut down without an
// unmount.
type dirt struct {
	name, title string
	existing    bool // the files are there already, and on disk; they are changed
	scattered   bool // in an order that has nothing to do with where they are
}

var dirts = []dirt{
	{"changed", "files that had been there, changed directory by directory", true, false},
	{"scattered", "files that had been there, changed all over the disk", true, true},
	{"created", "files that were created", false, false},
}

// tree is the files, in folders that the kernel puts in AGs by turns.
type tree struct{ folders, files int }

func (t tree) count() int { return t.folders * t.files }

func (t tree) path(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("d%d", i/t.files), fmt.Sprintf("f%d", i%t.files))
}

// dirty makes an image whose log holds all inodes of a tree. The kernel does it,
// since nobody else writes a log.
func (b *bench) dirty(ctx context.Context, image string, d dirt, t tree) error {
	os.Remove(image)
	if _, err := command(b.mkfs, "-q", "--size", "40g", "-d", "agcount=32", "-l", "size=1g", image); err != nil {
		return err
	}
	if d.existing {
		err := mounted(b.dir, image, func(dir string) error { return t.create(ctx, dir) })
		if err != nil {
			return err
		}
	}
	return mounted(b.dir, image, func(dir string) error {
		work := t.create
		if d.existing {
			work = func(ctx context.Context, dir string) error { return t.change(ctx, dir, d.scattered) }
		}
		if err := work(ctx, dir); err != nil {
			return err
		}
		return shutdown(dir)
	})
}

// mounted mounts an image for as long as f takes.
func mounted(tmp, image string, f func(dir string) error) (err error) {
	dir, err := os.MkdirTemp(tmp, "bench-recover")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	device, err := attach(image)
	if err != nil {
		return err
	}
	defer detach(device)
	if _, err := command("mount", "-t", "xfs", device, dir); err != nil {
		return skip("%v", err)
	}
	defer func() { err = errors.Join(err, unmount(dir)) }()
	return f(dir)
}

// attach makes a loop device of an image, with direct IO.
func attach(image string) (string, error) {
	device, err := command("losetup", "--direct-io=on", "--show", "-f", image)
	if err != nil {
		return "", skip("%v", err)
	}
	return device, nil
}

func detach(device string) { command("losetup", "-d", device) }

// unmount waits while somebody else is looking.
func unmount(dir string) (err error) {
	for range 50 {
		if err = unix.Unmount(dir, 0); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("unmounting %s: %w", dir, err)
}

// shutdown ends a filesystem as a crash would, but with all changes in the log.
func shutdown(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	const goingDown = 2<<30 | 4<<16 | 'X'<<8 | 125 // XFS_IOC_GOINGDOWN
	flags := uint32(1)                             // XFS_FSOP_GOING_FLAGS_LOGFLUSH
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, f.Fd(), goingDown, uintptr(unsafe.Pointer(&flags))); e != 0 {
		return fmt.Errorf("shutting %s down: %w", dir, e)
	}
	return nil
}

// create makes all folders, and then all files.
func (t tree) create(ctx context.Context, dir string) error {
	for i := range t.folders {
		if err := os.Mkdir(filepath.Dir(t.path(dir, i*t.files)), 0o755); err != nil {
			return err
		}
	}
	return t.each(ctx, func(i int) error { return unix.Mknod(t.path(dir, i), unix.S_IFREG|0o644, 0) })
}

// change changes all files.
func (t tree) change(ctx context.Context, dir string, scattered bool) error {
	return t.each(ctx, func(i int) error {
		if scattered {
			i = t.scattered(i)
		}
		return unix.Chmod(t.path(dir, i), 0o600)
	})
}

// scattered gives files another order: by steps of a prime that does not divide
// their number.
func (t tree) scattered(i int) int { return int(int64(i) * 1_000_003 % int64(t.count())) }

// each calls f for the number of every file, from a few goroutines that take a
// folder at a time.
func (t tree) each(ctx context.Context, f func(i int) error) error {
	const workers = 4
	folders := make(chan int)
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for folder := range folders {
				for i := folder * t.files; i < (folder+1)*t.files && errs[w] == nil; i++ {
					errs[w] = f(i)
				}
			}
		})
	}
	for i := 0; i < t.folders && ctx.Err() == nil; i++ {
		folders <- i
	}
	close(folders)
	all.Wait()
	return errors.Join(append(errs, context.Cause(ctx))...)
}

// recovered is what is used of mkfs recover --json.
type recovered struct {
	Stats struct {
		Items   map[string]int64 `json:"items"`
		Skipped int64            `json:"skipped"`
		Reads   int64            `json:"reads"`
		Written int64            `json:"written"`
	} `json:"replayed"`
	Log     struct{ Head, Tail int64 } `json:"log"`
	Status  string                     `json:"status"`
	Seconds float64                    `json:"seconds"`
	Depth   float64                    `json:"depth_average"`
}

// examine tells what is in the log of an image.
func (b *bench) examine(image string) (r recovered, err error) {
	out, err := exec.Command(b.mkfs, "recover", "--dry-run", "--json", image).Output()
	if err != nil {
		return r, fmt.Errorf("a dry run: %w", err)
	}
	return r, json.Unmarshal(out, &r)
}
