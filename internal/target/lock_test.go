package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A second writer is refused, and told who the first is; a reader is not.
func TestLock(t *testing.T) {
	lockWait = 100 * time.Millisecond
	path := filepath.Join(t.TempDir(), "img")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := Open(path, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{Write: true})
	var use *InUseError
	if !errors.As(err, &use) || !strings.Contains(use.By, "which has locked it") {
		t.Fatalf("the second writer: %v", err)
	}
	if want := fmt.Sprintf("process %d (", os.Getpid()); !strings.Contains(use.By, want) {
		t.Errorf("%q does not say %q", use.By, want)
	}
	reader, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A lock that is let go of in time is waited for.
func TestLockIsWaitedFor(t *testing.T) {
	lockWait = 10 * time.Second
	path := filepath.Join(t.TempDir(), "img")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Skipf("no locks here: %v", err)
	}
	time.AfterFunc(3*lockPause, func() { f.Close() })
	tg, err := Open(path, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	tg.Close()
}

// The whole disk is locked while a device is written.
func TestDiskIsLocked(t *testing.T) {
	lockWait = 100 * time.Millisecond
	loop := attach(t, makeFile(t, 8<<20))
	tg, err := Open(loop, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	f, err := os.Open(loop)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("%s is not locked: %v", loop, err)
	}
}

// While a partition is written the disk that it is on is locked, and a disk that
// somebody has locked has no partition that can be written.
func TestDiskOfPartitionIsLocked(t *testing.T) {
	lockWait = 100 * time.Millisecond
	disk := attach(t, labelled(t, labels[0].make), "--partscan")
	part := disk + "p1"
	if _, err := os.Stat(part); err != nil {
		t.Skip("this kernel makes no partitions of loop devices")
	}
	f, err := os.Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	var use *InUseError
	if _, err := Open(part, Options{Write: true}); !errors.As(err, &use) || !strings.Contains(use.By, "which has locked it") {
		t.Errorf("%s is locked: %v", disk, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	tg, err := Open(part, Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("%s is not locked: %v", disk, err)
	}
}

// What the kernel or another program has claimed (O_EXCL) is refused, though
// nothing else shows: a mount in another namespace is such a claim.
func TestClaimedDevice(t *testing.T) {
	loop := attach(t, makeFile(t, 8<<20))
	fd, err := unix.Open(loop, unix.O_RDWR|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if _, err := Open(loop, Options{Write: true}); !errors.As(err, new(*InUseError)) {
		t.Errorf("%s is claimed: %v", loop, err)
	}
}
