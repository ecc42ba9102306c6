package target

import (
	"slices"
	"strings"
	"testing"

	"mkfs/internal/labeltest"
)

// writerDisk lets a sparseDisk be written.
type writerDisk struct{ *sparseDisk }

func (d writerDisk) WriteAt(p []byte, off int64) (int, error) {
	d.pieces = append(d.pieces, piece{off, slices.Clone(p)})
	return len(p), nil
}

// heldBy is what a disk holds.
func heldBy(t *testing.T, d *sparseDisk, in Info) Held {
	t.Helper()
	in.Size = d.size
	h, err := holds(d, in, len(d.pieces) == 0)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Every format that is known is named, and what there is advice for is a
// format that is known.
func TestHeldNamesAll(t *testing.T) {
	for _, s := range allSamples() {
		h := heldBy(t, &s.disk, Info{Kind: File})
		d, special := descriptions[s.name]
		bare, _ := strings.CutSuffix(s.name, "_raid_member")
		switch {
		case s.name == "xfs":
			if !h.XFS || h.What != "" {
				t.Errorf("an XFS: %+v", h)
			}
		case s.name == "gpt" && h.What != "it is a disk with a GPT", s.name == "dos" && !strings.Contains(h.What, "MBR"):
			t.Errorf("%s: %q", s.name, h)
		case s.name == "gpt", s.name == "dos", s.name == "PMBR" && strings.Contains(h.What, "a GPT that is damaged"):
		case special && (h.What != d.what || h.Advice != d.advice), !special && !strings.Contains(h.What, bare):
			t.Errorf("%s: %q", s.name, h)
		}
	}
	for name := range descriptions {
		if !slices.ContainsFunc(formats, func(f format) bool { return f.name == name }) {
			t.Errorf("there is no format %s", name)
		}
	}
}

// Of a disk the partitions are named that begin with an XFS, and what the
// others hold.
func TestHeldPartitions(t *testing.T) {
	const mb = 2048 // sectors
	whole, part := Info{Kind: File}, Info{Kind: File, Part: true, Offset: 1 << 20}
	for _, c := range []struct {
		name string
		in   Info
		size int64
		put  map[int64]string
		xfs  []int
		want string
	}{
		{"none", whole, 64 << 20, nil, nil, "it is a disk with a GPT; none of its 3 partitions begins with an XFS"},
		{"others", whole, 64 << 20, map[int64]string{1 << 20: "LUKS\xba\xbe\x00\x01", 20 << 20: "??"}, nil,
			"it is a disk with a GPT; none of its 3 partitions begins with an XFS (partition 1 crypto_LUKS)"},
		{"one", whole, 64 << 20, map[int64]string{10 << 20: "XFSB"}, []int{2}, "it is a disk with a GPT; partition 2 holds an XFS: --partition 2"},
		{"all", whole, 64 << 20, map[int64]string{1 << 20: "XFSB", 10 << 20: "XFSB", 20 << 20: "XFSB"}, []int{1, 2, 3},
			"it is a disk with a GPT; partitions 1, 2 and 3 hold an XFS each: choose one with --partition 1, --partition 2 or --partition 3"},
		{"within a partition", part, 64 << 20, map[int64]string{10 << 20: "XFSB"}, []int{2},
			"it is a disk with a GPT; partition 2 holds an XFS: --offset 11534336 --length 10485760"},
	} {
		d := &sparseDisk{size: c.size}
		if err := labeltest.GPT(writerDisk{d}, c.size, 512, labeltest.Part{Start: mb, Length: 9 * mb},
			labeltest.Part{Start: 10 * mb, Length: 10 * mb}, labeltest.Part{Start: 20 * mb, Length: 10 * mb}); err != nil {
			t.Fatal(err)
		}
		for off, text := range c.put {
			d.pieces = append(d.pieces, piece{off, []byte(text)})
		}
		h := heldBy(t, d, c.in)
		var numbers []int
		for _, p := range h.Partitions {
			numbers = append(numbers, p.Number)
		}
		if h.String() != c.want || !slices.Equal(numbers, c.xfs) {
			t.Errorf("%s: %q, %v", c.name, h, numbers)
		}
	}
}

// A target with nothing on it says of what kind the nothing is.
func TestHeldNothing(t *testing.T) {
	for _, c := range []struct {
		disk sparseDisk
		want string
	}{
		{sparseDisk{}, "it is empty: it has 0 bytes"},
		{sparseDisk{size: 1 << 20}, "it is a hole of 1048576 bytes: nothing was ever written to it"},
		{sparseDisk{size: 100, pieces: []piece{{0, []byte("x")}}}, "it has only 100 bytes"},
		{sparseDisk{size: 1 << 20, pieces: []piece{{900 << 10, []byte("x")}}}, "its first 131072 bytes are zeros, and no other format is found on it"},
		{sparseDisk{size: 1 << 20, pieces: []piece{{1<<20 - 512, []byte("x")}}}, "its first 131072 bytes are zeros, and no other format is found on it"},
		{sparseDisk{size: 1 << 20, pieces: []piece{{0, []byte("not known")}}}, "it begins with 6e6f74206b6e6f776e00000000000000, which is of no known format"},
	} {
		if h := heldBy(t, &c.disk, Info{}); h.String() != c.want {
			t.Errorf("%q, not %q", h, c.want)
		}
	}
}
