package filling

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/geometry"
)

// check opens what a path names, and checks it against a filesystem on a device of so many MiB.
func check(t *testing.T, r Request, mib geometry.Bytes) (*Filling, error) {
	t.Helper()
	f, err := Open(r)
	if err != nil {
		return nil, err
	}
	spec := geometry.Spec{SmallAllowed: true}
	dev := geometry.Device{Size: mib << 20, LogicalSector: 512, PhysicalSector: 512}
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	return f, f.Check(context.Background(), spec, dev, g)
}

// proto writes a prototype file of so many files with a source.
func proto(t *testing.T, n int, source string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x\n0 0\nd--755 0 0\n")
	for i := range n {
		fmt.Fprintf(&b, "f%d ---644 0 0 %s\n", i, source)
	}
	path := filepath.Join(t.TempDir(), "proto")
	if err := os.WriteFile(path, []byte(b.String()+"$\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What cannot be read is told of, the first twenty with their places, and left out if that is wanted.
func TestUnreadable(t *testing.T) {
	path := proto(t, 33, filepath.Join(t.TempDir(), "missing"))
	_, err := check(t, Request{Path: path}, 300)
	if err == nil || !strings.HasPrefix(err.Error(), "-p: 33 files cannot be read; --skip-unreadable leaves them out:\n") {
		t.Fatal(err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 22 || lines[21] != "  and 13 more" || !strings.Contains(lines[20], "missing") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-2:])
	}
	f, err := check(t, Request{Path: path, SkipUnreadable: true}, 300)
	if err != nil {
		t.Fatal(err)
	}
	if f.Skipped != 33 || f.Survey.Entries != 1 || len(f.Notes()) != 1 {
		t.Errorf("%d skipped, %d entries, notes %q", f.Skipped, f.Survey.Entries, f.Notes())
	}
}

// A tree that does not fit is refused with a size that is large enough.
func TestNoRoom(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(source, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	path := proto(t, 80, source)
	_, err := check(t, Request{Path: path}, 40)
	var size geometry.Bytes
	if err != nil {
		at := strings.LastIndex(err.Error(), "; a filesystem of ")
		if _, e := fmt.Sscanf(err.Error()[max(at, 0):], "; a filesystem of %dm would do", &size); e != nil {
			t.Fatal(err)
		}
	}
	if size < 81 || size > 130 {
		t.Fatalf("%d MiB: %v", size, err)
	}
	if _, err := check(t, Request{Path: path}, size); err != nil {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "missing")} {
		if _, err := Open(Request{Path: path}); err == nil || !strings.HasPrefix(err.Error(), "-p: ") {
			t.Errorf("%q: %v", path, err)
		}
	}
	if f, err := Open(Request{Path: t.TempDir()}); err != nil || f.Name() == "" {
		t.Error(f, err)
	}
	var none *Filling
	if none.Load() != (geometry.Load{}) || none.Seen() != nil {
		t.Error("no filling takes something")
	}
}

// Who has access control lists is told that they are none in the image.
func TestACLs(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Version 2; the owner, user 1000, the group, the mask, others: tag, permissions, number.
	list := []byte{2, 0, 0, 0}
	for _, e := range [][2]byte{{1, 6}, {2, 7}, {4, 4}, {16, 7}, {32, 4}} {
		id := []byte{255, 255, 255, 255}
		if e[0] == 2 {
			id = []byte{232, 3, 0, 0}
		}
		list = append(append(list, e[0], 0, e[1], 0), id...)
	}
	if err := unix.Setxattr(filepath.Join(dir, "1"), "system.posix_acl_access", list, 0); err != nil {
		t.Skip("no access control lists here:", err)
	}
	f, err := check(t, Request{Path: dir}, 300)
	if err != nil {
		t.Fatal(err)
	}
	if notes := f.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "access control lists of 1 files") {
		t.Errorf("%q", notes)
	}
}
