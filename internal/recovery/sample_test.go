package recovery

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/aio"
	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
)

// samples are dirty images that a kernel has left, with what it made of them
// when it mounted them read-only. test/crash makes them.
const samples = "../../testdata/dirty"

// sample is one, with the kernel's word.
type sample struct {
	name     string
	exit     int
	log      [2]int64 // where, how long
	sha256   string   // of all but the log and the primary superblock
	counters [3]uint64
}

func readSamples(t testing.TB) (list []sample) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(samples, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no samples: ", err)
	}
	for _, path := range paths {
		s := sample{name: strings.TrimSuffix(filepath.Base(path), ".txt")}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fields := map[string][]any{
			"exit": {&s.exit}, "log": {&s.log[0], &s.log[1]}, "sha256": {&s.sha256},
			"icount": {&s.counters[0]}, "ifree": {&s.counters[1]}, "fdblocks": {&s.counters[2]},
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			name, rest, _ := strings.Cut(lines.Text(), " ")
			if _, err := fmt.Sscan(rest, fields[name]...); err != nil {
				t.Fatalf("%s: %q: %v", path, lines.Text(), err)
			}
		}
		list = append(list, s)
	}
	return list
}

// unpack returns the image.
func (s *sample) unpack(t testing.TB) []byte {
	t.Helper()
	return logtest.Unpack(t, filepath.Join(samples, s.name+".img.gz"))
}

// recoverFile recovers an image in a file, by way of a real ring, and returns
// what became of it.
func recoverFile(t testing.TB, img []byte, depth int, change func(*Options)) (Report, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "img")
	if err := os.WriteFile(path, img, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ring, err := aio.Open(int(f.Fd()), aio.Config{Depth: depth})
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	opts := Options{
		Data: Device{Name: path, Ring: ring, Size: int64(len(img))}, Depth: depth, Memory: aio.NewSlab,
	}
	if change != nil {
		change(&opts)
	}
	report, err := Run(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return report, out
}

// What is recovered is what the kernel recovers, byte for byte, at any depth.
func TestSamples(t *testing.T) {
	for i, s := range readSamples(t) {
		if underRace && i > 1 {
			break
		}
		t.Run(s.name, func(t *testing.T) {
			img := s.unpack(t)
			dry, same := recoverFile(t, img, 8, func(o *Options) { o.DryRun = true })
			if !bytes.Equal(img, same) {
				t.Error("a dry run has written")
			}
			var first []byte
			for _, depth := range []int{1, 100} {
				report, out := recoverFile(t, img, depth, nil)
				if report.Finished != (s.exit == 0) || dry.Finished != report.Finished {
					t.Fatalf("finished: %v, dry run %v; remains %+v", report.Finished, dry.Finished, report.Remains)
				}
				if first == nil {
					first = out
				}
				if !bytes.Equal(first, out) {
					t.Errorf("depth %d makes a difference", depth)
				}
				s.check(t, &report, img, out)
			}
			again, out := recoverFile(t, first, 100, nil)
			if again.Finished != (s.exit == 0) || !bytes.Equal(first, out) {
				t.Error("a second run has changed something")
			}
		})
	}
}

// check compares a recovered image with the kernel's.
func (s *sample) check(t *testing.T, report *Report, before, after []byte) {
	t.Helper()
	log := after[s.log[0]:][:s.log[1]]
	if s.exit != 0 {
		if report.Remains.None() {
			t.Error("nothing remains, they say")
		}
		if !bytes.Equal(log, before[s.log[0]:][:s.log[1]]) {
			t.Error("the log has changed, with work in it")
		}
		return
	}
	sb, _ := ondisk.DecodeSuperblock(after)
	if got := [3]uint64{sb.InodeCount, sb.FreeInodes, sb.FreeBlocks}; got != s.counters {
		t.Errorf("counters %d, the kernel's %d", got, s.counters)
	}
	rest := bytes.Clone(after)
	clear(rest[:sb.SectorSize])
	clear(rest[s.log[0]:][:s.log[1]])
	if sum := sha256.Sum256(rest); hex.EncodeToString(sum[:]) != s.sha256 {
		t.Error("not the kernel's bytes")
	}
}
