package against_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"mkfs/internal/live/livetest"
	"mkfs/internal/protofile"
	"mkfs/internal/tree"
)

// Files of a prototype file have the space that is reserved for them, and data and devices as it says.
func TestPrototype(t *testing.T) {
	dir := sourceDir(t)
	write(t, filepath.Join(dir, "data"), pattern(5000))
	path := filepath.Join(dir, "proto")
	write(t, path, []byte(`/stand
0 0
d--755 3 4
some ---644 0 0 `+filepath.Join(dir, "data")+`
kept rug755 5 6 40k
byte r--600 0 0 1
disk b--660 0 6 8 17
link l--777 0 0 some
sub d-g755 0 0
 deeper d--700 1 1
 $
$
$
`))
	open := func() tree.Source {
		src, err := protofile.New(path, protofile.Options{}).Open(context.Background())
		must(t, err)
		return src
	}
	for _, args := range [][]string{nil, {"-m", "crc=0"}, {"-b", "size=1024", "-n", "parent=1"}} {
		d := livetest.Open(t, livetest.Reference(t, size, append(args, "-p", path)...))
		s := &spy{Device: d}
		if list, n, err := s.compare(t, open(), nil); err != nil || n.Differences > 0 || n.Entries != 8 {
			t.Errorf("%v: %v, %+v, %v", args, lines(list), n, err)
		}
		var entries []tree.Entry
		for src := open(); ; {
			e, err := src.Next()
			if err != nil {
				break
			}
			c := *e
			switch e.Name {
			case "kept":
				c.Size += 32 << 10
			case "some":
				c.Reserve, c.Data = true, nil
			}
			entries = append(entries, c)
		}
		list, _, err := s.compare(t, &replay{list: entries}, nil)
		must(t, err)
		blocks := map[bool][3]string{false: {"10 blocks", "18 blocks", "2 blocks"}, true: {"40 blocks", "72 blocks", "5 blocks"}}[len(args) > 2]
		want := []string{
			"/kept: what is reserved is " + blocks[0] + ", unwritten, " + blocks[1] + ", unwritten in the source",
			"/some: length is 5000, 0 in the source",
			"/some: what is reserved is " + blocks[2] + ", written ones among them, " + blocks[2] + ", unwritten in the source",
		}
		if got := lines(list); !slices.Equal(got, want) {
			t.Errorf("%v: %q\nwant %q", args, got, want)
		}
	}
}
