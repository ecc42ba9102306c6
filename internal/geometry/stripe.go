package geometry

// maxStripe is the most bytes of a stripe unit or width, which the tools count
// with 31 bits.
const maxStripe = 2*gib - 1

// planStripesAsked takes the stripe unit and width that were asked for.
func (p *plan) planStripesAsked() {
	block := p.g.BlockSize
	unit, width, option := p.askedStripes()
	if !p.stop && (unit%block != 0 || width%block != 0) {
		p.refuse(option, "a stripe unit of %d and a width of %d bytes are not both multiples of the block size, %d", unit,
			width, block)
	}
	p.stripe.unit, p.stripe.width = unit, width
}

// planStripes settles the stripe unit and width: what was asked for, else what
// the device advertises, if that makes sense.
func (p *plan) planStripes() {
	g, s := p.g, &p.spec.Data
	unit, width := p.stripe.unit, p.stripe.width
	switch {
	case s.NoAlign.Value, (s.StripeUnit.Given || s.StripeUnit512.Given) && unit == 0 && width == 0:
		unit, width = 0, 0
	case unit == 0:
		unit, width = p.deviceStripes()
	case p.dev.IO.fault(p.dev.PhysicalSector) == "": // else nothing compares
		if u, w := p.dev.IO.stripes(p.dev.PhysicalSector); u != 0 && (unit != u || width != w) {
			p.warn("the stripe unit and width asked for (%d and %d bytes) are not the device's (%d and %d)", unit, width, u, w)
		}
	}
	g.StripeUnit, g.StripeWidth = blocksIn(unit, g.BlockLog), blocksIn(width, g.BlockLog)
}

// askedStripes is the stripe unit and width that were asked for, in bytes, and the
// option that says the unit.
func (p *plan) askedStripes() (unit, width Bytes, option string) {
	s := p.spec.Data
	if s.StripeUnit.Default && (s.StripeUnit512.asked() || s.StripeWidth512.asked()) {
		s.StripeUnit, s.StripeWidth = Opt[Size]{}, Opt[int64]{}
	}
	option = "-d sunit"
	if s.StripeUnit512.Given != s.StripeWidth512.Given {
		p.refuse(option, "sunit and swidth go together")
		return 0, 0, option
	}
	unit = Bytes(s.StripeUnit512.Value) * BasicBlock
	width = Bytes(s.StripeWidth512.Value) * BasicBlock
	if s.StripeUnit.Given || s.StripeWidth.Given {
		option = "-d su"
		unit = p.size(s.StripeUnit.Value)
		if s.StripeUnit.Given != s.StripeWidth.Given && (unit != 0 || s.StripeWidth.Value != 0) {
			p.refuse(option, "su and sw go together")
			return 0, 0, option
		}
		if count := s.StripeWidth.Value; count > 0 && unit > maxStripe/Bytes(count) {
			p.refuse("-d sw", "%d times the stripe unit of %d bytes makes 2 GiB or more", count, unit)
			return 0, 0, option
		}
		width = unit * Bytes(s.StripeWidth.Value)
	}
	if reason := badStripes(unit, width, p.g.SectorSize); reason != "" && !p.stop {
		p.refuse(option, "a stripe unit of %d bytes and a width of %d bytes: %s", unit, width, reason)
	}
	return unit, width, option
}

// badStripes tells why a stripe unit and width do not go together, or "".
func badStripes(unit, width, sector Bytes) string {
	switch {
	case unit < 0 || width < 0:
		return "neither may be negative"
	case unit > maxStripe || width > maxStripe:
		return "they must be below 2 GiB"
	case sector != 0 && unit%sector != 0:
		return "the unit must be a multiple of the sector size"
	case unit != 0 && width == 0 || unit > width:
		return "the width must not be smaller than the unit"
	case unit == 0 && width != 0:
		return "a width needs a unit"
	case unit != 0 && width%unit != 0:
		return "the width must be a multiple of the unit"
	}
	return ""
}

const (
	maxLogStripe      = 256 * kib
	fallbackLogStripe = 32 * kib
)

// planLogStripeAsked takes the log stripe unit that was asked for.
func (p *plan) planLogStripeAsked() {
	s := &p.spec.Log
	unit, option := Bytes(s.StripeUnit512.Value)*BasicBlock, "-l sunit"
	if s.StripeUnit.Given {
		unit, option = p.size(s.StripeUnit.Value), "-l su"
	}
	if unit%p.g.BlockSize != 0 && !p.stop {
		p.refuse(option, "%d bytes is no multiple of the block size, %d", unit, p.g.BlockSize)
	}
	p.logStripe = unit
}

// planLogStripe settles the unit in which log writes are padded: what was
// asked for, else the data's stripe unit if the log is there too, else a block
// if log sectors have more than 512 bytes.
func (p *plan) planLogStripe() {
	g, s := p.g, &p.spec.Log
	asked := s.StripeUnit.Given || s.StripeUnit512.Given
	unit := p.logStripe
	if !asked && g.Features.LogVersion == 2 {
		if !g.Log.External {
			unit = g.Bytes(g.StripeUnit)
		}
		if unit == 0 && g.Log.SectorSize > BasicBlock {
			unit = g.BlockSize
		}
	}
	if unit > maxLogStripe {
		unit = fallbackLogStripe
	}
	g.Log.StripeUnit = blocksIn(unit, g.BlockLog)
}
