package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fixedArgs and goldenEnv together are all inputs that may vary.
var fixedArgs = []string{"-q", "-f", "-m", "uuid=0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"}

// digest formats a sparse file and tells what is in it.
func digest(t *testing.T, path string, args ...string) content {
	t.Helper()
	var stdout, stderr bytes.Buffer
	argv := append(append([]string{"mkfs"}, fixedArgs...), args...)
	if status := run(append(argv, path), &stdout, &stderr); status != 0 {
		t.Fatalf("%v: exit status %d\n%s", args, status, stderr.Bytes())
	}
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

// Equal inputs give equal bytes, whatever the engine, depth and batch.
func TestSameBytes(t *testing.T) {
	for name, value := range goldenEnv {
		t.Setenv(name, value)
	}
	ways := [][]string{
		{}, // a second time
		{"--engine", "sync"}, {"--engine", "aio"}, {"--engine", "uring"},
		{"--queue-depth", "1"}, {"--queue-depth", "7"}, {"--batch", "1"}, {"--batch", "3"},
		{"--engine", "sync", "--queue-depth", "2", "--batch", "2"}, {"--buffered"},
	}
	for _, size := range []string{"300m", "1g", "1t", "15t"} {
		t.Run(size, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "img")
			n, err := bytesOf(size)
			if err != nil {
				t.Fatal(err)
			}
			make := func() {
				os.Remove(path)
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if err := f.Truncate(n); errors.Is(err, syscall.EFBIG) {
					t.Skip("the folder for temporary files cannot hold a file of ", size)
				} else if err != nil {
					t.Fatal(err)
				}
			}
			make()
			want := digest(t, path)
			for _, args := range ways {
				make()
				if got := digest(t, path, args...); got != want {
					t.Errorf("fresh, %s: %+v, want %+v", strings.Join(args, " "), got, want)
				}
			}
		})
	}
}
