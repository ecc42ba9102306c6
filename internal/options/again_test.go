package options

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mkfs/internal/geometry"
)

type fixedID struct{}

func (fixedID) String() string { return "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0" }

// planned is a new filesystem of 1 GiB.
func planned(t *testing.T) geometry.Geometry {
	t.Helper()
	g, _, err := geometry.Plan(geometry.Spec{}, geometry.Device{Size: 1 << 30, LogicalSector: 512, PhysicalSector: 512})
	if err != nil {
		t.Fatal(err)
	}
	return *g
}

// What mkfs cannot make again is told, in the file too, and what it can is not.
func TestConfigAgainDiffers(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*geometry.Geometry)
		want   []string
	}{
		{"new", func(*geometry.Geometry) {}, nil},
		{"grown by a short AG", func(g *geometry.Geometry) {
			g.Blocks += 100
			g.AGCount++
		}, []string{"the number of AGs is 5 here, and would be 4", "size of [data] is 1074151424 here, and would be 1073741824"}},
		{"log too small", func(g *geometry.Geometry) { g.Log.Blocks = 600 },
			[]string{"-l size: log size 600 blocks too small, minimum size is 2001 blocks"}},
		{"log moved", func(g *geometry.Geometry) { g.Log.Start += 8 },
			[]string{"the start of the log is AG 2 block 15 here, and would be AG 2 block 7"}},
		{"root moved", func(g *geometry.Geometry) { g.Root.Start += 8 },
			[]string{"the root inode is 192 here, and would be 128"}},
		{"inodes elsewhere", func(g *geometry.Geometry) { g.InodeAlign = 4 },
			[]string{"the alignment of inodes is 4 and 4 blocks here, and would be 8 and 4 blocks"}},
		{"no property", func(g *geometry.Geometry) { g.Features.Autofsck = geometry.AutofsckUnset },
			[]string{"autofsck of [metadata] is not set here, and would be repair"}},
		{"quota by a mount", func(g *geometry.Geometry) { g.Features.Quota = geometry.CountUsers | geometry.LimitUsers }, nil},
		{"damaged hint", func(g *geometry.Geometry) { g.Inherit.ExtentSize = geometry.Given(uint32(1 << 30)) },
			[]string{"-d extszinherit: 1073741824 blocks; it is at most 32768"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := planned(t)
			c.change(&g)
			a := ConfigAgain(&g, fixedID{}, true)
			var got []string
			for _, text := range a.Differ {
				got = append(got, strings.TrimSuffix(text, " (in the file)"))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for _, text := range a.Differ {
				if !strings.Contains(a.Text, "\n# NOT THE SAME: "+text+"\n") {
					t.Errorf("the file does not tell %q:\n%s", text, a.Text)
				}
			}
		})
	}
}

// Whatever a label holds, the file has no more lines for it, and none too long.
func TestConfigAgainLabel(t *testing.T) {
	for label, want := range map[string]string{
		"it's $x":          `-L 'it'\''s $x'`,
		"\xff\xfe":         "-L '\xff\xfe'",
		"a\n[data]":        `NOT THE SAME: the label, "a\n[data]", has characters`,
		"\t$(id)":          `NOT THE SAME: the label, "\t$(id)", has characters`,
		"\x00\xff\r\t\x1b": `NOT THE SAME: the label, "\x00\xff\r\t\x1b", has characters`,
		"":                 "a5b4c3d2e1f0 TARGET",
	} {
		g := planned(t)
		g.Label = label
		a := ConfigAgain(&g, fixedID{}, true)
		if !strings.Contains(a.Text, want) {
			t.Errorf("%q: want %s in\n%s", label, want, a.Text)
		}
		if told := strings.Contains(want, "NOT THE SAME"); told != (len(a.Differ) > 0) || told && strings.Contains(a.Text, " -L ") {
			t.Errorf("%q: differs in %q:\n%s", label, a.Differ, a.Text)
		}
		p := NewParser()
		p.Config("file", a.Text)
		if err := p.Err(); err != nil {
			t.Errorf("%q: %v", label, err)
		}
	}
	for _, line := range strings.SplitAfter(commented(strings.Repeat("x", 1000)), "\n") {
		if len(line) > maxLine || line != "" && !strings.HasPrefix(line, "# ") {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
}

// A device that advertises other sectors and stripes changes nothing.
func TestConfigAgainElsewhere(t *testing.T) {
	g := planned(t)
	p := NewParser()
	p.Config("file", ConfigAgain(&g, fixedID{}, true).Text)
	dev := geometry.Device{
		Size: 100 << 30, LogicalSector: 512, PhysicalSector: 4096, IO: geometry.IOSizes{Min: 64 << 10, Opt: 256 << 10}, SolidState: true,
	}
	p.Request.Spec.CPUs = 64
	again, _, err := geometry.Plan(p.Request.Spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	g.Log.MinBlocks, again.Log.MinBlocks = 0, 0 // more where the size is not asked for
	if diff := cmp.Diff(g, *again, cmpopts.IgnoreFields(geometry.Geometry{}, "Inherit")); diff != "" {
		t.Error(diff)
	}
}
