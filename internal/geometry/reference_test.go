package geometry_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/options"
)

// ask plans as the command line with these options on a file of that size would.
func ask(size geometry.Bytes, args []string) (*geometry.Geometry, error) {
	p := options.NewParser()
	for i := 0; i+1 < len(args); i += 2 {
		p.Option(args[i][1], args[i+1])
	}
	p.CommandLine()
	if err := p.Err(); err != nil {
		return nil, err
	}
	spec := p.Request.Spec
	spec.SmallAllowed, spec.CPUs = true, 4
	dev := geometry.Device{Size: size, LogicalSector: 512, PhysicalSector: 512}
	dev.Log.Size, dev.Log.LogicalSector = 64<<20, 512
	g, _, err := geometry.Plan(spec, dev)
	return g, err
}

// row is a line of a table: what the reference said, the size and the options.
type row struct {
	line   int
	values []string
	size   geometry.Bytes
	args   []string
}

func (r row) String() string {
	return fmt.Sprintf("line %d: %d bytes %s", r.line, r.size, strings.Join(r.args, " "))
}

// table reads a file of testdata. A row has so many values, or the word refused.
func table(t *testing.T, name string, values int) []row {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for i, line := range strings.Split(string(content), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		n := values
		if f[0] == "refused" {
			n = 1
		}
		size, err := parseTruncateSize(f[n])
		if err != nil {
			t.Fatalf("%s:%d: %v", name, i+1, err)
		}
		rows = append(rows, row{i + 1, f[:n], size, f[n+1:]})
	}
	return rows
}

func parseTruncateSize(s string) (geometry.Bytes, error) {
	shift := 0
	if i := strings.IndexByte("KMGTPE", s[len(s)-1]); i >= 0 {
		s, shift = s[:len(s)-1], 10*(i+1)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return geometry.Bytes(n << shift), err
}

var leastLog = regexp.MustCompile(`minimum size is (\d+) blocks`)

// The least log decides whether a kernel mounts: it is the product of every
// transaction reservation there is.
func TestLeastLogIsTheReferences(t *testing.T) {
	rows := table(t, "minlog.txt", 1)
	if len(rows) < 60 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, r := range rows {
		g, err := ask(r.size, append([]string{"-l", "size=2m"}, r.args...))
		got := "none"
		if m := leastLog.FindStringSubmatch(fmt.Sprint(err)); m != nil {
			got = m[1]
		} else if g != nil {
			got = strconv.Itoa(int(g.Log.MinBlocks))
		}
		if got != r.values[0] {
			t.Errorf("%v: the least log has %s blocks, want %s (%v)", r, got, r.values[0], err)
		}
	}
}

// Where the rules change, the plan is the reference's.
func TestPlanIsTheReferences(t *testing.T) {
	for _, r := range table(t, "edges.txt", 8) {
		want := strings.Join(r.values, " ")
		g, err := ask(r.size, r.args)
		got := "refused"
		if err == nil {
			got = fmt.Sprint(g.AGCount, g.AGBlocks, g.Blocks, g.MaxInodePercent, g.SectorSize) +
				fmt.Sprintf(" %d,%d", g.StripeUnit, g.StripeWidth) +
				fmt.Sprint(" ", g.Log.Blocks, " ", g.Log.StripeUnit)
		} else if !errors.As(err, new(*geometry.Refusal)) {
			t.Errorf("%v: refused without a Refusal: %v", r, err)
		}
		if got != want {
			t.Errorf("%v\n got %s\nwant %s (%v)", r, got, want, err)
		}
	}
}

// The largest device there can be, with the defaults.
func TestLargestDevice(t *testing.T) {
	g, err := ask(1<<63-1, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(g.AGCount, g.AGBlocks, g.Blocks, g.MaxInodePercent, g.Log.Blocks, g.Log.AG)
	if want := "8388609 268435455 2251799813685247 1 521728 4194304"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if last := g.AGLength(g.AGCount - 1); last != 8388607 {
		t.Errorf("the last AG has %d blocks", last)
	}
}

// What mkfs.xfs 7.2.0 decides otherwise, as random command lines found.
func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		name, options string
		accepted      bool
	}{
		{"a log stripe unit makes version 2 of version 1", "-l version=1,su=32k", true},
		{"the last of two words of autofsck counts", "-m autofsck=none,autofsck=check", true},
		{"but not of two switches", "-m autofsck=0,autofsck=1", false},
		{"all CPUs go with a log size", "-l size=70m,concurrency=nr_cpus", true},
		{"a number of threads does not", "-l size=70m,concurrency=4", false},
		{"agnum follows name", "-l name=x,agnum=0", true},
		{"name does not follow agnum", "-l agnum=0,name=x", false},
		{"the log's sector size follows -s", "-s size=1k -l sectsize=4k", false},
		{"-s follows the log's sector size", "-l sectsize=1k -s size=4k", true},
		{"a stripe width of 2 GiB", "-d su=256k,sw=8192", false},
		{"a stripe width below", "-d su=256k,sw=8191", true},
		{"extsize follows zoned=0", "-r zoned=0,extsize=1m", true},
		{"zoned=0 does not follow extsize", "-r extsize=1m,zoned=0", false},
		{"zones have no extsize", "-r zoned=1,extsize=4k", false},
		{"rtinherit bounds extszinherit to whole realtime extents", "-b size=1024 -d rtinherit=1,extszinherit=1", false},
		{"rtinherit bounds cowextsize likewise", "-b size=1024 -d rtinherit=1,cowextsize=1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ask(1<<30, strings.Fields(c.options))
			if (err == nil) != c.accepted {
				t.Errorf("%s: accepted should be %v: %v", c.options, c.accepted, err)
			}
		})
	}
}
