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
