package geometry

// IOSizes are the smallest I/O and the best one that a block device advertises: stripe
// unit and width of a RAID, a physical sector or 0 of others. They are 0 for files.
type IOSizes struct{ Min, Opt Bytes }

// stripes are the stripe unit and width that are advertised, in whole basic blocks, which
// is what mkfs.xfs counts in. A device without stripes has its physical sector as
// one or the other.
func (s IOSizes) stripes(physical int64) (unit, width Bytes) {
	if sector := Bytes(physical); s.Min == sector || s.Opt == sector {
		return 0, 0
	}
	return s.Min &^ (BasicBlock - 1), s.Opt &^ (BasicBlock - 1)
}
