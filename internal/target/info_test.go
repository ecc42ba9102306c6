package target

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// makeFile makes a sparse file of size bytes and returns its path.
func makeFile(t *testing.T, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "img")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProbeFile(t *testing.T) {
	path := makeFile(t, 1073741825)
	before := mustStat(t, path)
	in, err := Probe(path)
	if err != nil {
		t.Fatal(err)
	}
	if in.Kind != File || in.Size != 1073741825 || in.Path != path {
		t.Errorf("got %+v", in)
	}
	if in.LogicalSector != in.PhysicalSector || in.LogicalSector < 512 {
		t.Errorf("sectors %d/%d", in.LogicalSector, in.PhysicalSector)
	}
	if !in.Rotational || in.ReadOnly || in.MinIO != 0 || in.OptIO != 0 || in.Misaligned {
		t.Errorf("got %+v", in)
	}
	if after := mustStat(t, path); after.Atim != before.Atim || after.Mtim != before.Mtim || after.Ctim != before.Ctim {
		t.Error("Probe changed the times of the file")
	}
}

func mustStat(t *testing.T, path string) unix.Stat_t {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestProbeSame(t *testing.T) {
	path := makeFile(t, 4096)
	link, sym := path+".hard", path+".sym"
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, sym); err != nil {
		t.Fatal(err)
	}
	a, b, c, other := mustProbe(t, path), mustProbe(t, link), mustProbe(t, sym), mustProbe(t, makeFile(t, 4096))
	if !a.Same(b) || !a.Same(c) || !c.Same(b) {
		t.Error("two names of one file are not the same")
	}
	if a.Same(other) {
		t.Error("two files are the same")
	}
}

func mustProbe(t *testing.T, path string) Info {
	t.Helper()
	in, err := Probe(path)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestProbeRefuses(t *testing.T) {
	dir := t.TempDir()
	fifo, sock := filepath.Join(dir, "fifo"), filepath.Join(dir, "sock")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct{ path, want string }{
		{dir, "is a directory"},
		{fifo, "is a fifo"},
		{sock, "is a socket"},
		{"/dev/null", "is a character device"},
		{filepath.Join(dir, "none"), "no such file"},
		{filepath.Join(dir, "none", "none"), "no such file"},
		{"", "no such file"},
	} {
		_, err := Probe(c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Probe(%q): error %v, want one with %q", c.path, err, c.want)
		}
		if c.path != "" && err != nil && !strings.HasPrefix(err.Error(), c.path) {
			t.Errorf("error %q does not name the path first", err)
		}
		for _, opts := range []Options{{}, {Write: true}, {Write: true, Truncate: true}} {
			if o, err := Open(c.path, opts); err == nil {
				o.Close()
				t.Errorf("Open(%q, %+v) worked", c.path, opts)
			}
		}
	}
	if _, err := Probe(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v is not fs.ErrNotExist", err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("something was created: %v", names)
	}
}

func TestSector(t *testing.T) {
	for _, c := range []struct{ n, min, want int }{
		{0, 512, 512}, {512, 512, 512}, {4096, 512, 4096}, {256, 512, 512},
		{520, 512, 512}, {-512, 512, 512}, {512, 4096, 4096}, {65536, 512, 65536},
	} {
		if got := sector(c.n, c.min); got != c.want {
			t.Errorf("sector(%d, %d) = %d, want %d", c.n, c.min, got, c.want)
		}
	}
}

func TestKindString(t *testing.T) {
	if File.String() != "regular file" || BlockDevice.String() != "block device" || Kind(0).String() != "Kind(0)" {
		t.Error("wrong names", File, BlockDevice, Kind(0))
	}
}
