package livetest

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/aginit"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/super"
)

// UUID and Seconds are those of all filesystems for tests, of the reference's too.
var UUID = ondisk.UUID{0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}

const (
	Seconds    = 1234567890
	Generation = 0x53454544 // of all inodes but the root directory
)

// Plan is the geometry of a filesystem on a device of so many bytes.
func Plan(t testing.TB, size geometry.Bytes, ask func(*geometry.Spec)) *geometry.Geometry {
	t.Helper()
	spec := geometry.Spec{SmallAllowed: true}
	if ask != nil {
		ask(&spec)
	}
	dev := geometry.Device{Size: size, LogicalSector: 512, PhysicalSector: 512, File: true}
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// New makes a filesystem without any inode on a device in memory: its AGs have
// headers, and nothing else has happened.
func New(t testing.TB, g *geometry.Geometry) (*live.FS, *Device) {
	t.Helper()
	b := aginit.New(g, aginit.Identity{
		UUID: UUID, Seconds: Seconds, Generation: func() uint32 { return Generation },
	})
	d := NewDevice()
	f := aginit.Frame{Data: make([]byte, b.HeaderSize())}
	for agno := range g.AGCount {
		b.Build(agno, &f)
		_, _ = d.WriteAt(f.Data, int64(g.Offset(agno, 0)))
	}
	fs := on(d, g)
	fs.Counts = live.Counts{FreeBlocks: g.FreeBlocks()}
	return fs, d
}

// Load opens a filesystem that is on a device.
func Load(t testing.TB, d *Device) *live.FS {
	t.Helper()
	b := make([]byte, super.ReadSize)
	_, _ = d.ReadAt(b, 0)
	s := super.Read(b, 1<<62, func(message string) { t.Error(message) })
	if s == nil {
		t.FailNow()
	}
	fs := on(d, &s.Geometry)
	fs.UUID = s.MetaUUID
	fs.Counts = live.Counts{
		Inodes: s.SB.InodeCount, FreeInodes: s.SB.FreeInodes, FreeBlocks: geometry.Blocks(s.SB.FreeBlocks),
	}
	return fs
}

// tight is for a look whether anything depends on what blocks are in memory: what an
// operation leaves there, unpinned or changed without a word, is gone in the next one.
// Tests of what remains in blocks that are freed may fail with it, as those have been
// written before, and tests of how much is allocated.
var tight = flag.Bool("tight", false, "blocks are written at once, and leave memory as soon as they are not pinned")

func on(d *Device, g *geometry.Geometry) *live.FS {
	cfg := buffer.Config{
		Device: "test", Limit: 64 << 20,
		Place: func(off int64) int64 { return off / int64(g.Bytes(g.AGBlocks)) },
	}
	if *tight {
		cfg.Limit, cfg.Age = 1, buffer.AtOnce
	}
	cache := buffer.New(d, cfg)
	return &live.FS{
		G: g, V5: g.Features.CRC, UUID: UUID, Cache: cache, Remains: live.Remains{},
		Now:        func() (int64, uint32) { return Seconds, 0 },
		Generation: func() uint32 { return Generation },
	}
}

// Reference makes a filesystem with the reference, of the same identity as New's, on
// a sparse file of so many bytes, and returns its path. The test is skipped where
// there is no mkfs.xfs 7.2.0 on the PATH.
func Reference(t testing.TB, size int64, args ...string) string {
	t.Helper()
	program := tool(t, "mkfs.xfs")
	if out, _ := exec.Command(program, "-V").CombinedOutput(); !strings.Contains(string(out), "7.2.0") {
		t.Skipf("mkfs.xfs is of another version: %s", out)
	}
	path := filepath.Join(t.TempDir(), "reference")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append(append([]string{"-q", "-f", "-m",
		"uuid=deadbeef-0102-0304-0506-0708090a0b0c"}, args...), path)...)
	cmd.Env = env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// Run runs a program of xfsprogs, with Reference's clock, and skips the test where it is not on the PATH.
func Run(t testing.TB, name string, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.Command(tool(t, name), args...)
	cmd.Env = env()
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// env makes the reference's programs give the same bytes whenever they run.
func env() []string {
	return append(os.Environ(), "DETERMINISTIC_SEED=1", "SOURCE_DATE_EPOCH=1234567890", "TZ=UTC")
}

func tool(t testing.TB, name string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s", name)
	}
	return program
}
