package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mkfs/internal/logtest"
)

// unpackDirty writes a dirty image to a file.
func unpackDirty(t *testing.T, packed, path string) {
	t.Helper()
	if err := os.WriteFile(path, logtest.Unpack(t, packed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A copy of a loop device, recovered, is what recovery makes of a full copy, but
// for free space, which is zero or the same in it (P86).
func TestCopyOfDirtyDevice(t *testing.T) {
	needRoot(t)
	images, err := filepath.Glob("../../testdata/dirty/*.img.gz")
	if err != nil || len(images) == 0 {
		t.Fatal("no images: ", err)
	}
	for _, packed := range images {
		t.Run(strings.TrimSuffix(filepath.Base(packed), ".img.gz"), func(t *testing.T) {
			dir := t.TempDir()
			img, full, part := filepath.Join(dir, "img"), filepath.Join(dir, "full"), filepath.Join(dir, "part")
			unpackDirty(t, packed, img)
			want, out, errs := runAs(t, "mkfs", "recover", "--copy-to", full, img)
			if want != 0 && want != 3 {
				t.Fatalf("of a file: exit status %d: %s%s", want, out, errs)
			}
			status, out, errs := runAs(t, "mkfs", "recover", "--json", "--copy-to", part, attach(t, img))
			if status != want {
				t.Fatalf("of a device: exit status %d, want %d: %s%s", status, want, out, errs)
			}
			var report struct {
				LeftOut int64 `json:"left_out_bytes"`
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil || report.LeftOut == 0 || strings.Contains(errs, "as a whole") {
				t.Errorf("%v: %d bytes were left out: %s", err, report.LeftOut, errs)
			}
			sameInUse(t, full, part)
			if repair, err := exec.LookPath("xfs_repair"); err == nil && want == 0 {
				if out, err := exec.Command(repair, "-n", "-o", "force_geometry", part).CombinedOutput(); err != nil {
					t.Errorf("xfs_repair -n: %v\n%s", err, out)
				}
			}
		})
	}
}

// sameInUse wants each sector of part to be that of full or zero, and those that
// are zero and not that of full to be free: xfs_repair and what has data say so.
func sameInUse(t *testing.T, full, part string) {
	t.Helper()
	a, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	if len(a) != len(b) {
		t.Fatalf("%d bytes, want %d", len(b), len(a))
	}
	free := freeSectors(t, full)
	var zero [512]byte
	for at := 0; at < len(a); at += 512 {
		is, want := b[at:][:512], a[at:][:512]
		if !bytes.Equal(is, want) && !(free(at) && bytes.Equal(is, zero[:])) {
			t.Fatalf("the sector at byte %d differs, free: %v", at, free(at))
		}
	}
}

// freeSectors asks xfs_db what is free.
func freeSectors(t *testing.T, path string) func(at int) bool {
	t.Helper()
	db := tool(t, "xfs_db")
	get := func(args ...string) string {
		out, err := exec.Command(db, append([]string{"-r"}, append(args, path)...)...).Output()
		if err != nil {
			t.Fatalf("xfs_db %v: %v", args, err)
		}
		return string(out)
	}
	var blockSize, agBlocks int
	text := get("-c", "sb 0", "-c", "p blocksize agblocks")
	if _, err := fmt.Sscanf(text, "blocksize = %d\nagblocks = %d", &blockSize, &agBlocks); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	free := map[int]bool{}
	for _, line := range strings.Split(get("-c", "freesp -d"), "\n") {
		var ag, start, n int
		if strings.Contains(line, "from") {
			break // the histogram begins
		}
		if k, _ := fmt.Sscan(line, &ag, &start, &n); k != 3 {
			continue // a headline
		}
		for i := range n {
			free[ag*agBlocks+start+i] = true
		}
	}
	if len(free) == 0 {
		t.Fatal("xfs_db knows of no free block")
	}
	return func(at int) bool { return free[at/blockSize] }
}

// A device whose space is nearly all free is copied about as fast as a file (P86).
func TestCopyOfLargeDevice(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	img := sparse(t, filepath.Join(dir, "img"), "4t")
	mustFormat(t, "-q", img)
	started := time.Now()
	if status, out, errs := runAs(t, "mkfs", "recover", "--copy-to", filepath.Join(dir, "a"), img); status != 0 {
		t.Fatalf("of a file: exit status %d: %s%s", status, out, errs)
	}
	file := time.Since(started)
	loop := attach(t, img)
	started = time.Now()
	if status, out, errs := runAs(t, "mkfs", "recover", "--copy-to", filepath.Join(dir, "b"), loop); status != 0 {
		t.Fatalf("of a device: exit status %d: %s%s", status, out, errs)
	}
	device := time.Since(started)
	t.Logf("of a file %v, of a device %v", file, device)
	if device > 10*time.Second+10*file {
		t.Errorf("of a file %v, of a device %v", file, device)
	}
	if status, out, errs := runAs(t, "mkfs", "verify", "-q", filepath.Join(dir, "b")); status != 0 {
		t.Errorf("verify: exit status %d: %s%s", status, out, errs)
	}
}
