package options

import (
	"slices"
	"strings"
	"testing"

	"mkfs/internal/geometry"
)

// others are two command lines for each property that a filesystem can be
// compared by: of what is asked, and of a filesystem that differs in it. "rt" and
// "log" stand for a device of each.
var others = []struct{ id, asked, there string }{
	{"b size", "-b size=4k", "-b size=8k"},
	{"d agcount", "-d agcount=5", "-d agcount=6"},
	{"d agsize", "-d agsize=1g", "-d agsize=2g"},
	{"d size", "-d size=5g", "-d size=6g"},
	{"d su", "-d su=64k,sw=2", ""}, {"d sw", "-d su=64k,sw=2", "-d su=64k,sw=3"},
	{"d sunit", "-d sunit=128,swidth=256", ""}, {"d swidth", "-d sunit=128,swidth=256", "-d sunit=128,swidth=512"},
	{"d noalign", "-d noalign", "-d su=64k,sw=2"},
	{"d sectsize", "-d sectsize=4k", ""}, {"s size", "-s size=512", "-s size=4k"}, {"s sectsize", "-s sectsize=4k", ""},
	{"i size", "-i size=1024", ""}, {"i perblock", "-i perblock=4", ""},
	{"i maxpct", "-i maxpct=5", "-i maxpct=6"},
	{"i projid32bit", "-m crc=0 -i projid32bit=0", "-m crc=0"},
	{"l agnum", "-l agnum=1", "-l agnum=0"},
	{"l size", "-l size=64m", "-l size=65m"},
	{"l internal", "-l internal", "log"}, {"l logdev", "-l logdev=log", ""}, {"l name", "-l name=log", ""},
	{"l version", "-m crc=0 -l version=1", "-m crc=0 -l version=2"},
	{"l su", "-l su=64k", ""}, {"l sunit", "-l sunit=128", ""},
	{"l sectsize", "-l logdev=log,sectsize=4k", "log"},
	{"l lazy-count", "-m crc=0 -l lazy-count=0", "-m crc=0"},
	{"n size", "-n size=8k", ""},
	{"m uquota", "-m uquota", ""}, {"m gquota", "-m gquota", "-m gqnoenforce"}, {"m pquota", "-m pquota", "-m uquota"},
	{"m uqnoenforce", "-m uqnoenforce", "-m uquota"}, {"m gqnoenforce", "-m gqnoenforce", ""}, {"m pqnoenforce", "-m pqnoenforce", ""},
	{"r rtdev", "-r rtdev=rt", ""}, {"r name", "-r name=rt", ""},
	{"r extsize", "-r rtdev=rt,extsize=64k", "-r rtdev=rt,extsize=128k"},
	{"r size", "-r rtdev=rt,size=1g", "-r rtdev=rt,size=2g"},
	{"r rgcount", "-m metadir=1 -r rtdev=rt,rgcount=4", "-m metadir=1 -r rtdev=rt,rgcount=5"},
	{"r rgsize", "-m metadir=1 -r rtdev=rt,rgsize=256m", "-m metadir=1 -r rtdev=rt,rgsize=512m"},
	{"r zoned", "-r zoned=1,rtdev=rt,rgsize=64m", "-m metadir=1 -r rtdev=rt,rgsize=64m"},
	{"r start", "-r zoned=1,start=4g,rgsize=64m", "-r zoned=1,start=3g,rgsize=64m"},
	{"r reserved", "-r zoned=1,rtdev=rt,rgsize=64m,reserved=256m", "-r zoned=1,rtdev=rt,rgsize=64m,reserved=512m"},
}

// asked parses a command line and plans its filesystem.
func asked(t *testing.T, line string) (*Parser, *geometry.Geometry) {
	t.Helper()
	p := NewParser()
	if line == "log" {
		line = "-l logdev=log"
	}
	take(p, line)
	p.CommandLine()
	if err := p.Err(); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	s := p.Request.Spec
	dev := geometry.Device{Size: 10 << 30, LogicalSector: 512, PhysicalSector: 512, File: true}
	dev.Log.Size, dev.Log.LogicalSector = 128<<20, 512
	dev.RT.Size = 4 << 30
	s.RT.Device = strings.Contains(line, "=rt")
	s.Log.External = strings.Contains(line, "=log")
	g, _, err := geometry.Plan(s, dev)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return p, g
}

// Each property that is given is compared, and one that is the same makes no
// difference; what is not given counts for nothing.
func TestDifferences(t *testing.T) {
	for _, p := range properties {
		if !slices.ContainsFunc(others, func(o struct{ id, asked, there string }) bool { return o.id == p.id }) {
			t.Errorf("nothing tells whether -%s is compared", p.id)
		}
	}
	_, plain := asked(t, "")
	for _, c := range others {
		p, want := asked(t, c.asked)
		_, there := asked(t, c.there)
		names := func(text string) bool { return strings.HasPrefix(text, "-"+c.id+" is ") }
		if list := p.Differences(want, there); !slices.ContainsFunc(list, names) {
			t.Errorf("%q, and there is %q: -%s is not among %q", c.asked, c.there, c.id, list)
		}
		if list := p.Differences(want, want); list != nil {
			t.Errorf("%q differs from itself: %q", c.asked, list)
		}
		if list := NewParser().Differences(plain, there); list != nil {
			t.Errorf("nothing was asked, and yet %q: %q", c.there, list)
		}
	}
}
