package options

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"mkfs/internal/geometry"
)

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64
		unit geometry.Unit
		bad  bool
	}{
		{text: "512", n: 512},
		{text: "1k", n: 1 << 10},
		{text: "1M", n: 1 << 20},
		{text: "3g", n: 3 << 30},
		{text: "1t", n: 1 << 40},
		{text: "1P", n: 1 << 50},
		{text: "7e", n: 7 << 60},
		{text: "-1k", n: -1 << 10},
		{text: "9007199254740991k", n: math.MaxInt64 &^ 1023},
		{text: "100s", n: 100, unit: geometry.UnitSectors},
		{text: "100B", n: 100, unit: geometry.UnitBlocks},
		{text: "0x10b", n: 0x10b}, // the suffix is a digit there
		{text: "8e", bad: true},
		{text: "-9e", bad: true},
		{text: "9007199254740992k", bad: true},
		{text: "1kb", bad: true},
		{text: "1 k", bad: true},
		{text: "1d", bad: true},
		{text: "1\x8b", bad: true}, // 'k' with its high bit set
		{text: "1K\u0301", bad: true},
		{text: "k", bad: true},
		{text: "", bad: true},
		{text: "1.5g", bad: true},
	} {
		got, reason := parseSize(c.text)
		if c.bad {
			if reason == "" {
				t.Errorf("parseSize(%q) = %+v, want a reason", c.text, got)
			}
		} else if reason != "" || got.Count != c.n || got.Unit != c.unit || got.Text != c.text {
			t.Errorf("parseSize(%q) = %+v, %q; want %d, unit %d", c.text, got, reason, c.n, c.unit)
		}
	}
}

// What a number means, and whether it is one, is as in the reference program.
func TestNumbersAreTheReferences(t *testing.T) {
	content, err := os.ReadFile("testdata/numbers.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for i, line := range strings.Split(string(content), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		rows++
		head, value, _ := strings.Cut(line, " '")
		value = strings.TrimSuffix(value, "'")
		f := strings.Fields(head)
		option, want := f[0]+" "+f[1]+"="+value, f[2]
		if got := outcome(f[0][1], f[1], value); got != want {
			t.Errorf("numbers.txt:%d: %q is %s, want %s", i+1, option, got, want)
		}
	}
	if rows < 200 {
		t.Errorf("only %d rows", rows)
	}
}

// outcome is what testdata/numbers.sh prints of a geometry.
func outcome(flag byte, name, value string) string {
	p := NewParser()
	p.Option(flag, name+"="+value)
	p.CommandLine()
	if p.Err() != nil {
		return "refused"
	}
	spec := p.Request.Spec
	spec.SmallAllowed, spec.CPUs = true, 2
	g, _, err := geometry.Plan(spec, geometry.Device{Size: 4 << 30, LogicalSector: 512, PhysicalSector: 512})
	if err != nil {
		return "refused"
	}
	switch string(flag) + " " + name {
	case "d size":
		return fmt.Sprint(g.Blocks)
	case "d agcount", "d concurrency":
		return fmt.Sprint(g.AGCount)
	case "m reflink":
		return fmt.Sprint(number01(g.Features.Reflink))
	case "i sparse":
		return fmt.Sprint(number01(g.Features.Sparse))
	case "b size":
		return fmt.Sprint(g.BlockSize)
	case "n size":
		return fmt.Sprint(g.DirBlockSize)
	case "s size":
		return fmt.Sprint(g.SectorSize)
	case "i size":
		return fmt.Sprint(g.InodeSize)
	case "l su":
		return fmt.Sprint(g.Log.StripeUnit)
	case "i maxpct":
		return fmt.Sprint(g.MaxInodePercent)
	}
	return "unknown"
}

func number01(on bool) int {
	if on {
		return 1
	}
	return 0
}
