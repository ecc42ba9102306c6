package geometry

// minRealtimeExtent is the least allocation unit of a realtime section.
const minRealtimeExtent = 4 * kib

// settleRealtime makes features fit the realtime section: zones need the
// metadata directory, and so do owners and sharing of its blocks.
func (p *plan) settleRealtime(f *Features) {
	s, rt := &p.spec.Features, &p.spec.RT
	if f.Zoned {
		p.settleZoned(f)
	} else if rt.Start.Given {
		p.refuse("-r start", "only a zoned realtime section (zoned=1) is in the data device")
	} else if rt.Reserved.Given && rt.Reserved.Value.Count != 0 {
		p.refuse("-r reserved", "only a zoned realtime section (zoned=1) has reserved space")
	}
	if !rt.Device && rt.Start.Value.Count == 0 {
		return
	}
	if f.Reflink {
		switch small := p.g.BlockSize < minRealtimeExtent; {
		case rt.ExtentSize.Given || small:
			if s.Reflink.asked() {
				p.refuse("-m reflink", "blocks of a realtime section can only be shared if its allocation unit is a block "+
					"of at least %d bytes", minRealtimeExtent)
			}
			f.Reflink = false
		}
	}
	p.needMetadir(f, "-m reflink", s.Reflink, &f.Reflink)
	p.needMetadir(f, "-m rmapbt", s.Rmapbt, &f.Rmapbt)
}

func (p *plan) settleZoned(f *Features) {
	s := &p.spec.Features
	if p.spec.RT.ExtentSize.asked() {
		p.refuse("-r extsize", "zoned file systems do not support an allocation unit of their own, and -r zoned=1 "+
			"asks for one")
	}
	if !f.CRC {
		p.refuse("-r zoned", "needs the V5 format, and -m crc=0 asks for V4")
	}
	if p.g.BlockSize < minRealtimeExtent {
		p.refuse("-b size", "blocks of %d bytes; those of zones have at least %d", p.g.BlockSize, minRealtimeExtent)
	}
	if !f.Metadir {
		if s.Metadir.asked() {
			p.refuse("-r zoned", "needs the metadata directory, and -m metadir=0 asks for none")
		}
		f.Metadir = true
	}
	if f.Reflink {
		if s.Reflink.asked() {
			p.refuse("-m reflink", "zoned file systems do not support shared blocks, and -r zoned=1 asks for one")
		}
		f.Reflink = false
	}
	// The data section usually holds only metadata then.
	if in := &p.g.Inherit.Realtime; !in.Given {
		in.Value = true
	}
}

// needMetadir turns the metadata directory on for a feature of the realtime
// section that was asked for, or the feature off.
func (p *plan) needMetadir(f *Features, option string, asked Opt[bool], on *bool) {
	switch {
	case f.Metadir || !*on:
	case !asked.asked():
		*on = false
	case p.spec.Features.Metadir.asked():
		p.refuse(option, "needs the metadata directory if there is a realtime section, and -m metadir=0 asks for none")
	default:
		f.Metadir = true
	}
}

// settleMetadir turns on what the metadata directory is needed for, and what it needs.
func (p *plan) settleMetadir(f *Features) {
	s := &p.spec.Features
	if f.Quota != 0 && !f.Metadir {
		if s.Metadir.asked() {
			p.refuse("-m uquota", "quota that is on from the start needs the metadata directory, and -m metadir=0 asks for none")
		}
		f.Metadir = true
	}
	if f.Metadir && !f.Exchange {
		if s.Exchange.asked() {
			p.refuse("-m metadir", "needs exchange=1, and -i exchange=0 was asked for")
		}
		f.Exchange = true
	}
}
