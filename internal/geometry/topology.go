package geometry

import "fmt"

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

// fault is what makes no sense about them, "" if all does. An advertised stripe with
// a fault is not used; without a stripe, whole physical sectors are expected.
func (s IOSizes) fault(physical int64) string {
	if unit, width := s.stripes(physical); unit != 0 || width != 0 {
		return badStripes(unit, width, 0)
	}
	sector := Bytes(physical)
	for _, n := range []Bytes{s.Min, s.Opt} {
		switch {
		case n > maxStripe:
			return "they must be below 2 GiB"
		case sector != 0 && n%sector != 0:
			return fmt.Sprintf("they must be multiples of a physical sector, %d", sector)
		}
	}
	if s.Opt != 0 && s.Min > s.Opt {
		return "the optimal one must not be smaller than the minimum"
	}
	return ""
}

// deviceStripes are the stripe unit and width that the device advertises. If it does so
// in vain, that is told once, with the option that sets them.
func (p *plan) deviceStripes() (unit, width Bytes) {
	dev, block := p.dev, p.g.BlockSize
	unit, width = dev.IO.stripes(dev.PhysicalSector)
	fault := dev.IO.fault(dev.PhysicalSector)
	switch {
	case fault != "":
		p.warn("the device reports a minimum I/O size of %d and an optimal one of %d bytes, which makes no sense (%s); "+
			"the filesystem gets no stripes (-d su=UNIT,sw=DISKS sets them)", dev.IO.Min, dev.IO.Opt, fault)
	case unit == 0:
	case p.g.Blocks < blocksIn(gib, p.g.BlockLog):
		p.warn("the filesystem is smaller than 1 GiB; ignoring the device's stripe unit of %d and width of %d bytes "+
			"(-d su=%d,sw=%d sets them)",
			unit, width, unit, width/unit)
	case unit%block != 0 || width%block != 0:
		p.warn("the device reports a stripe unit of %d and a width of %d bytes, not both multiples of the block size, %d; "+
			"the filesystem gets no stripes (-d su=UNIT,sw=DISKS sets them)", unit, width, block)
	default:
		return unit, width
	}
	return 0, 0
}

// deviceExtent is the stripe width of the realtime device, which is the size of a
// realtime extent if it can be one, or 0. It is told if it cannot.
func (p *plan) deviceExtent() Bytes {
	rt := &p.dev.RT
	_, width := rt.IO.stripes(rt.PhysicalSector)
	fault := ""
	switch {
	case width == 0:
		fault = rt.IO.fault(rt.PhysicalSector)
	case width%p.g.BlockSize != 0:
		fault = fmt.Sprintf("they must be multiples of the block size, %d", p.g.BlockSize)
	case width < minRealtimeExtent || width > maxRealtimeExtent:
		fault = fmt.Sprintf("they must have %d to %d bytes", minRealtimeExtent, maxRealtimeExtent)
	default:
		return width
	}
	if fault != "" {
		p.warn("the realtime device reports a minimum I/O size of %d and an optimal one of %d bytes, which give no "+
			"size of realtime extents (%s); "+
			"they have %d bytes (-r extsize sets them)", rt.IO.Min, rt.IO.Opt, fault, p.g.Bytes(p.g.RT.Extent))
	}
	return 0
}

// deviceSector is the sector size that suits a device: its physical one, unless that
// lies across ours or is larger than any the format has, which is told. whose is
// "the device" or another.
func (p *plan) deviceSector(whose string, logical, physical int64, misaligned bool) int64 {
	const instead = "its logical ones of %d bytes are used (-s size sets another size)"
	switch {
	case physical <= logical:
	case misaligned:
		p.warn("%s is not aligned to its physical sectors of %d bytes; "+instead, whose, physical, logical)
	case physical > int64(maxSectorSize):
		p.warn("%s has physical sectors of %d bytes, more than the %d that sectors can have; "+instead, whose, physical,
			maxSectorSize, logical)
	default:
		return physical
	}
	return logical
}
