package target

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mkfs/internal/labeltest"
)

// labels are partition tables, on a disk of 64 MiB.
var labels = []struct {
	name   string
	sector int64
	make   func(f *os.File) error
	want   string
}{
	{"gpt", 512, func(f *os.File) error {
		return labeltest.GPT(f, 64<<20, 512, labeltest.Part{Start: 2048, Length: 8192}, labeltest.Part{}, labeltest.Part{Start: 40960, Length: 2})
	}, "gpt 1:1048576+4194304 3:20971520+1024"},
	{"gpt 4096", 4096, func(f *os.File) error {
		return labeltest.GPT(f, 64<<20, 4096, labeltest.Part{Start: 256, Length: 1024})
	}, "gpt 1:1048576+4194304"},
	{"dos", 512, func(f *os.File) error {
		return labeltest.DOS(f, 512, []labeltest.Part{{Start: 2048, Length: 8192}, {}, {Start: 40960, Length: 2}})
	}, "dos 1:1048576+4194304 3:20971520+1024"},
	{"dos 4096", 4096, func(f *os.File) error {
		return labeltest.DOS(f, 4096, []labeltest.Part{{Start: 256, Length: 1024}})
	}, "dos 1:1048576+4194304"},
	{"logical", 512, func(f *os.File) error {
		return labeltest.DOS(f, 512, []labeltest.Part{{Start: 2048, Length: 2048}, {Start: 8192, Length: 65536}},
			labeltest.Part{Start: 8193, Length: 2047}, labeltest.Part{Start: 20001, Length: 1000}, labeltest.Part{Start: 40001, Length: 5000})
	}, "dos 1:1048576+1048576 2:4194304+33554432x 5:4194816+1048064 6:10240512+512000 7:20480512+2560000"},
	{"empty", 512, func(f *os.File) error { return labeltest.DOS(f, 512, nil) }, "dos"},
	{"none", 512, func(*os.File) error { return nil }, "none"},
}

func describeTable(t *Table) string {
	if t == nil {
		return "none"
	}
	s := t.Kind
	for _, p := range t.Partitions {
		s += fmt.Sprintf(" %d:%d+%d", p.Number, p.Offset, p.Length)
		if p.Extended {
			s += "x"
		}
	}
	return s
}

func labelled(t *testing.T, make func(f *os.File) error) string {
	t.Helper()
	path := makeFile(t, 64<<20)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := make(f); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPartitions(t *testing.T) {
	for _, c := range labels {
		tg := mustOpen(t, labelled(t, c.make), Options{})
		sectors := []int{int(c.sector)}
		if c.name != "dos 4096" { // which a file does not tell
			sectors = append(sectors, 0)
		}
		for _, sector := range sectors {
			table, err := Partitions(tg, tg.Info().Size, sector)
			if got := describeTable(table); err != nil || got != c.want || table != nil && table.Sector != int(c.sector) {
				t.Errorf("%s, sectors of %d: %s, %v; want %s", c.name, sector, got, err, c.want)
			}
		}
	}
}

// A GPT whose start is gone is read from its end, as long as its cover is there.
func TestPartitionsOfCopy(t *testing.T) {
	path := labelled(t, labels[0].make)
	tg := mustOpen(t, path, Options{Write: true})
	if err := tg.Zero(512, 512); err != nil {
		t.Fatal(err)
	}
	table, err := Partitions(tg, tg.Info().Size, 0)
	if got := describeTable(table); err != nil || got != labels[0].want {
		t.Errorf("%s, %v", got, err)
	}
	want := []Window{{0, 34 * 512}, {64<<20 - 33*512, 33 * 512}}
	if !slices.Equal(table.Own, want) {
		t.Errorf("the table is at %v, not %v", table.Own, want)
	}
}

// A chain that bites its own tail ends.
func TestEndlessChain(t *testing.T) {
	path := labelled(t, func(f *os.File) error {
		err := labeltest.DOS(f, 512, []labeltest.Part{{Start: 2048, Length: 8192}},
			labeltest.Part{Start: 2049, Length: 10}, labeltest.Part{Start: 3001, Length: 10})
		if err != nil {
			return err
		}
		// The second link gets what the first has, which leads to the second.
		link := make([]byte, 512)
		if _, err := f.ReadAt(link, 2048*512); err != nil {
			return err
		}
		_, err = f.WriteAt(link, 3000*512)
		return err
	})
	tg := mustOpen(t, path, Options{})
	table, err := Partitions(tg, tg.Info().Size, 0)
	if err != nil || len(table.Partitions) != mostLogical+1 {
		t.Errorf("%d partitions, %v", len(table.Partitions), err)
	}
}

// A partition may end with the last sector of the disk, and not behind it.
func TestLastSector(t *testing.T) {
	const last = 64<<20/512 - 1
	for length, want := range map[int64]string{
		last - 2048 + 1: "gpt 1:1048576+66060288", last - 2048 + 2: "gpt",
	} {
		tg := mustOpen(t, labelled(t, func(f *os.File) error {
			return labeltest.GPT(f, 64<<20, 512, labeltest.Part{Start: 2048, Length: length})
		}), Options{})
		table, err := Partitions(tg, tg.Info().Size, 512)
		if got := describeTable(table); err != nil || got != want {
			t.Errorf("%d sectors: %s, %v; want %s", length, got, err, want)
		}
	}
}

// The kernel finds the same partitions.
func TestPartitionsAsLinux(t *testing.T) {
	for _, c := range labels {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "none" {
				t.Skip("nothing to compare")
			}
			dev := attach(t, labelled(t, c.make), "--partscan", "--sector-size="+strconv.Itoa(int(c.sector)))
			dir := filepath.Join("/sys/block", filepath.Base(dev))
			number := func(path ...string) int64 {
				b, err := os.ReadFile(filepath.Join(append([]string{dir}, path...)...))
				if err != nil {
					t.Fatal(err)
				}
				n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			tg := mustOpen(t, dev, Options{})
			table, err := Partitions(tg, tg.Info().Size, tg.Info().LogicalSector)
			if err != nil {
				t.Fatal(err)
			}
			found, err := filepath.Glob(filepath.Join(dir, filepath.Base(dev)+"p*"))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 && len(table.Partitions) > 0 {
				t.Skip("this kernel looks for no partitions of loop devices")
			}
			if len(found) != len(table.Partitions) {
				t.Errorf("Linux sees %v, we %s", found, describeTable(table))
			}
			for _, p := range table.Partitions {
				name := fmt.Sprintf("%sp%d", filepath.Base(dev), p.Number)
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Errorf("partition %d: Linux does not see it", p.Number)
					continue
				}
				start, size := number(name, "start")*512, number(name, "size")*512
				if start != p.Offset || size != p.Length && !p.Extended {
					t.Errorf("partition %d is at %d+%d, for Linux at %d+%d", p.Number, p.Offset, p.Length, start, size)
				}
			}
		})
	}
}

// util-linux, which has its own reader, finds the same partitions in images.
func TestPartitionsAsPartx(t *testing.T) {
	partx, err := exec.LookPath("partx")
	if err != nil {
		t.Skip("needs partx")
	}
	for _, c := range labels {
		out, err := exec.Command(partx, "--sector-size", strconv.Itoa(int(c.sector)), "--raw", "--noheadings",
			"--output", "NR,START,SECTORS", labelled(t, c.make)).Output()
		if err != nil && c.want != "none" && c.want != "dos" {
			t.Errorf("%s: %v", c.name, err)
		}
		tg := mustOpen(t, labelled(t, c.make), Options{})
		table, err := Partitions(tg, tg.Info().Size, int(c.sector))
		if err != nil {
			t.Fatal(err)
		}
		var have string
		if table != nil {
			for _, p := range table.Partitions {
				have += fmt.Sprintf("%d %d %d\n", p.Number, p.Offset/512, p.Length/512)
			}
		}
		if string(out) != have {
			t.Errorf("%s: partx says\n%swe\n%s", c.name, out, have)
		}
	}
}
