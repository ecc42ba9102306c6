package bmap

import "mkfs/internal/geometry"

// span is a run of a file's blocks.
type span struct {
	off uint64
	n   geometry.Blocks
}

func (s span) end() uint64 { return s.off + uint64(s.n) }

// hole is where blocks may be added: behind low, and before high. bounded is false at the end of a fork, where
// nothing is behind.
type hole struct {
	low, high uint64
	bounded   bool
}

// fit makes a span begin and end at multiples of a number of blocks, as far as the hole and the length of an
// extent allow. Where what is before or behind is in the way it is moved, and made shorter only if the hole is. A span
// that was not aligned to begin with may so lie behind its former beginning.
// (xfs_bmap_extsize_align in libxfs, for data.)
func (h hole) fit(s span, unit geometry.Blocks) span {
	a := s
	if over := geometry.Blocks(s.off % uint64(unit)); over > 0 {
		a.off -= uint64(over)
		a.n += over
	}
	if over := a.n % unit; over > 0 {
		a.n += unit - over
	}
	for a.n > maxLength {
		a.n -= unit
	}
	behindLow := func() {
		if a.off != s.off && a.off < h.low {
			a.off = h.low
		}
	}
	reaches := func() bool { return h.bounded && a.end() != s.end() && a.end() > h.high }
	behindLow()
	if reaches() {
		a.off = max(h.high, uint64(a.n)) - uint64(a.n)
	}
	behindLow()
	if reaches() {
		a.n = geometry.Blocks(h.high - a.off)
	}
	return a
}
