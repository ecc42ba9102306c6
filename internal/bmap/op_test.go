package bmap

import (
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// No more extents are added than can be counted. Where the filesystem has large counters an inode gets them.
func TestCounters(t *testing.T) {
	const small = 1<<15 - 1 // of attributes
	for _, large := range []bool{false, true} {
		fs, ip := newFile(t, 1<<30, func(s *geometry.Spec) {
			s.Features.Nrext64, s.Features.Exchange = geometry.Given(large), geometry.Given(false)
		})
		ip.Core.Flags2 &^= ondisk.Flag2Nrext64
		ip.Attr.Extents = make([]inode.Extent, small-1)
		o := on(fs.Begin(0), ip, Attr)
		if err := o.count(1); err != nil || ip.Core.Flags2&ondisk.Flag2Nrext64 != 0 {
			t.Errorf("the last extent that can be counted: %v, flags %#x", err, ip.Core.Flags2)
		}
		switch err := o.count(2); {
		case large && (err != nil || ip.Core.Flags2&ondisk.Flag2Nrext64 == 0):
			t.Errorf("counters do not become large: %v", err)
		case !large && (err == nil || !strings.Contains(err.Error(), "32768 extents; the most are 32767")):
			t.Errorf("one extent more than can be counted: %v", err)
		}
		o.end()
	}
}

// What is no range of a file, or no fork with extents, is refused.
func TestRefuses(t *testing.T) {
	fs, ip := newFile(t, 1<<30, nil)
	tr := fs.Begin(10)
	local := &inode.Inode{Data: inode.Fork{Format: ondisk.FormatLocal}}
	realtime := &inode.Inode{Data: inode.Fork{Format: ondisk.FormatExtents}}
	realtime.Core.Flags = ondisk.FlagRealtime
	ip.Data.Extents = []inode.Extent{{Offset: 5, Start: 100, Blocks: 5}}
	write := func(ip *inode.Inode, off uint64, n geometry.Blocks) error {
		_, err := Write(tr, ip, Data, off, n, 0, 0)
		return err
	}
	unmap := func(ip *inode.Inode, off uint64, n geometry.Blocks) error {
		_, err := Unmap(tr, ip, Data, off, n, 0, 0)
		return err
	}
	for _, c := range []struct {
		name, want string
		err        error
	}{
		{"no blocks", "cannot be mapped", write(ip, 0, 0)},
		{"behind all files", "cannot be mapped", write(ip, inode.MaxOffset, 2)},
		{"a range that wraps around", "cannot be mapped", write(ip, 5, 1<<63)},
		{"local", "no extents", write(local, 0, 1)},
		{"realtime", "realtime", write(realtime, 0, 1)},
		{"realtime", "realtime", unmap(realtime, 0, 1)},
		{"a range that wraps around", "behind all files", unmap(ip, 5, ^geometry.Blocks(0))},
		{"mapped already", "already", Map(tr, ip, Data, inode.Extent{Offset: 9, Start: 200, Blocks: 1})},
		{"too long", "cannot be mapped", Map(tr, ip, Data, inode.Extent{Offset: 50, Start: 200, Blocks: inode.MaxExtent + 1})},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
}

// Places of a fork are told from its extents.
func TestPlaces(t *testing.T) {
	ip := &inode.Inode{Data: inode.Fork{Format: ondisk.FormatExtents, Extents: []inode.Extent{
		{Offset: 2, Start: 100, Blocks: 3}, {Offset: 8, Start: 200, Blocks: 2}, {Offset: 10, Start: 300, Blocks: 5},
	}}}
	for _, c := range []struct{ below, want uint64 }{{0, 0}, {2, 0}, {3, 3}, {5, 5}, {7, 5}, {9, 9}, {100, 15}} {
		if got, err := LastOffset(nil, ip, Data, c.below); err != nil || got != c.want {
			t.Errorf("the last block below %d is before %d, want %d (%v)", c.below, got, c.want, err)
		}
	}
	for _, c := range []struct {
		n         geometry.Blocks
		low, want uint64
	}{{1, 0, 0}, {2, 0, 0}, {3, 0, 5}, {1, 1, 1}, {1, 2, 5}, {3, 5, 5}, {4, 5, 15}, {1, 9, 15}, {2, 40, 40}} {
		if got, err := FirstUnused(nil, ip, Data, c.n, c.low); err != nil || got != c.want {
			t.Errorf("%d blocks from %d on are unused at %d, want %d (%v)", c.n, c.low, got, c.want, err)
		}
	}
	local := &inode.Inode{Data: inode.Fork{Format: ondisk.FormatLocal}}
	if a, err := LastOffset(nil, local, Data, 9); a != 0 || err != nil {
		t.Error(a, err)
	}
	if a, err := FirstUnused(nil, local, Data, 1, 9); a != 0 || err != nil {
		t.Error(a, err)
	}
}
