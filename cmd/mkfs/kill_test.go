package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mkfs/internal/ondisk"
)

// A run that is killed, at whatever moment, leaves nothing that mounts; run
// again it gives the bytes of an undisturbed run.
func TestKilled(t *testing.T) {
	for name, value := range goldenEnv {
		t.Setenv(name, value)
	}
	const size = 2 << 40
	args := append([]string{"-d", "agsize=1g", "--batch", "16", "--queue-depth", "4"}, fixedArgs...)
	folder := t.TempDir()
	image := func(name string) string {
		path := filepath.Join(folder, name)
		os.Remove(path)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(size); err != nil {
			t.Skip("the folder for temporary files holds no file of 2 TiB: ", err)
		}
		return path
	}
	want := digest(t, image("undisturbed"), args...)
	start := time.Now()
	if err := exec.Command("mkfs", append(args, image("undisturbed"))...).Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)

	killed := 0
	for i := 0; killed < 6 && i < 60; i++ {
		path := image("killed")
		cmd := exec.Command("mkfs", append(args, path)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(took))))
		cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			took = took * 3 / 4 // it was faster
			continue
		}
		killed++
		if looksFinished(t, path) {
			// Between its last write and its exit it may be killed as well.
			if f, err := os.Open(path); err == nil {
				got, err := contentOf(f)
				f.Close()
				if err != nil || got != want {
					t.Errorf("kill %d: the filesystem looks finished and is not", i)
				}
			}
			continue
		}
		if got := digest(t, path, args...); got != want {
			t.Errorf("kill %d: run again it holds %+v, want %+v", i, got, want)
		}
	}
	if killed == 0 {
		t.Error("no run was killed before it ended")
	}
}

// looksFinished tells whether a kernel would take the image for a filesystem.
func looksFinished(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sector := make([]byte, sector)
	if _, err := f.ReadAt(sector, 0); err != nil {
		t.Fatal(err)
	}
	s, ok := ondisk.DecodeSuperblock(sector)
	return ok && s.InProgress == 0
}

// SIGINT and SIGTERM stop a run soon, with the usual exit status.
func TestSignals(t *testing.T) {
	for sig, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		path := filepath.Join(t.TempDir(), "img")
		cmd := exec.Command("mkfs", "-q", "--size", "8t", "-d", "agsize=128m", "--batch", "1", "--queue-depth", "1", path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 1000 { // until it has begun, on a busy machine
			time.Sleep(20 * time.Millisecond)
			if _, err := os.Stat(path); err == nil {
				break
			}
		}
		time.Sleep(50 * time.Millisecond)
		sent := time.Now()
		cmd.Process.Signal(sig)
		err := cmd.Wait()
		if took := time.Since(sent); took > time.Second {
			t.Errorf("%v: it took %v to stop", sig, took)
		}
		if err == nil {
			t.Skip("it was faster than the signal")
		}
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Errorf("%v: exit status %d, want %d", sig, got, status)
		}
		if looksFinished(t, path) {
			t.Errorf("%v: the filesystem looks finished", sig)
		}
	}
}

// A command that a signal stops says so in its object, too.
func TestSignalsJSON(t *testing.T) {
	img := filepath.Join(t.TempDir(), "img")
	mustFormat(t, "-q", "-d", "agsize=256m", sparse(t, img, "4t"))
	for _, args := range [][]string{{"verify", "--json", img}, {"recover", "-n", "--json", "--uuid", "generate", img}} {
		cmd := exec.Command("mkfs", args...)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
		cmd.Process.Signal(syscall.SIGINT)
		cmd.Wait() // what it came to is looked at
		if !cmd.ProcessState.Exited() {
			continue // it had not begun yet
		}
		var object map[string]any
		if err := json.Unmarshal(out.Bytes(), &object); err != nil {
			t.Errorf("%v: %v: %q", args, err, out.String())
		}
		if status := cmd.ProcessState.ExitCode(); status == 130 && object["exit_status"] != 130.0 {
			t.Errorf("%v: exit status 130, and %s", args, out.String())
		} else if status != 130 && status != 0 {
			t.Errorf("%v: exit status %d", args, status)
		}
	}
}
