package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/fusetest"
	"mkfs/internal/report"
)

// slowImage is an image on a host that writes 1 MiB a second, without holes where
// its log comes.
func slowImage(t *testing.T) (path string, h *fusetest.Host) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a mount needs root")
	}
	file := filepath.Join(t.TempDir(), "image")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(320 << 20); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 100 << 20, 200 << 20} {
		if _, err := f.WriteAt([]byte("old"), at); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	h, down, err := fusetest.Mount(dir, file, fusetest.Options{})
	if errors.Is(err, fusetest.ErrNone) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Rate.Store(0)
		if err := down(); err != nil {
			t.Error(err)
		}
	})
	h.Rate.Store(1 << 20)
	return fusetest.Image(dir), h
}

// The log of a device that writes 1 MiB a second takes a minute. Meanwhile
// progress moves, and a signal ends it soon, with a message.
func TestSlowTarget(t *testing.T) {
	for _, c := range []struct {
		sig    unix.Signal
		status int
		says   string
		dense  bool
	}{
		{unix.SIGINT, 130, "stopped by signal: interrupt", false},
		{unix.SIGTERM, 143, "stopped by signal: terminated", false},
		{unix.SIGINT, 130, "stopped by signal: interrupt", true},
	} {
		t.Run(fmt.Sprintf("%v, dense=%v", c.sig, c.dense), func(t *testing.T) {
			t.Parallel()
			path, h := slowImage(t)
			var out, errs strings.Builder
			cmd := exec.Command("mkfs", "-f", "--json", "--progress", "json", fmt.Sprintf("--dense=%v", c.dense), path)
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			sent := time.Now()
			if err := cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // its status tells
			took := time.Since(sent)
			if status := cmd.ProcessState.ExitCode(); status != c.status || took > 4*time.Second {
				t.Errorf("exit status %d after %v, %d writes", status, took, h.Writes.Load())
			}
			lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, c.says) || !strings.HasSuffix(last, path+" holds no filesystem now") {
				t.Errorf("the last line is %q", last)
			}
			if n := strings.Count(errs.String(), `"phase":"log"`); n < 3 {
				t.Errorf("progress of the log was told of %d times\n%s", n, errs.String())
			}
			var failure report.Failure
			if err := json.Unmarshal([]byte(out.String()), &failure); err != nil || failure.Exit != c.status || !strings.Contains(failure.Error, c.says) {
				t.Errorf("%v: %s", err, out.String())
			}
		})
	}
}

// What the system never answers does not keep a signal from being told of.
func TestBusyTarget(t *testing.T) {
	path, h := slowImage(t)
	h.Rate.Store(20 << 10) // so that the first 128 KiB take six seconds
	var errs strings.Builder
	cmd := exec.Command("mkfs", "-f", "-q", path)
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if err := cmd.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its status tells
	want := "mkfs: stopped by signal: interrupt, while the system was still busy with a request; " + path + " holds no filesystem now\n"
	if status := cmd.ProcessState.ExitCode(); status != 130 || errs.String() != want {
		t.Errorf("exit status %d\n%swant\n%s", status, errs.String(), want)
	}
}
