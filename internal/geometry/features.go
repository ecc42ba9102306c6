package geometry

// Features are the properties of a filesystem that its superblock records as bits.
type Features struct {
	CRC        bool // the V5 format; everything up to Quota needs it
	Finobt     bool
	InobtCount bool
	Rmapbt     bool
	Reflink    bool
	Bigtime    bool
	Sparse     bool
	Nrext64    bool
	Exchange   bool
	Parent     bool
	Metadir    bool
	Zoned      bool
	Quota      QuotaFlags

	Ftype      bool
	CaseFold   bool // ascii-ci names
	Align      bool // inode chunks are aligned
	LazyCount  bool
	Projid32   bool
	Attr       int // version of the attribute fork, 0 for none
	LogVersion int
	Autofsck   Autofsck
}

// needsCRC lists the features that only the V5 format has: off without it,
// refused if they were asked for, with a line that scripts know if there is one.
var needsCRC = []struct {
	option string
	line   string
	asked  func(*FeatureSpec) *Opt[bool]
	on     func(*Features) *bool
}{
	{"-m finobt", "", func(s *FeatureSpec) *Opt[bool] { return &s.Finobt }, func(f *Features) *bool { return &f.Finobt }},
	{"-m inobtcount", "", func(s *FeatureSpec) *Opt[bool] { return &s.InobtCount },
		func(f *Features) *bool { return &f.InobtCount }},
	{"-m rmapbt", "rmapbt not supported without CRC support", func(s *FeatureSpec) *Opt[bool] { return &s.Rmapbt },
		func(f *Features) *bool { return &f.Rmapbt }},
	{"-m reflink", "", func(s *FeatureSpec) *Opt[bool] { return &s.Reflink },
		func(f *Features) *bool { return &f.Reflink }},
	{"-m bigtime", "", func(s *FeatureSpec) *Opt[bool] { return &s.Bigtime },
		func(f *Features) *bool { return &f.Bigtime }},
	{"-i sparse", "", func(s *FeatureSpec) *Opt[bool] { return &s.Sparse }, func(f *Features) *bool { return &f.Sparse }},
	{"-i nrext64", "", func(s *FeatureSpec) *Opt[bool] { return &s.Nrext64 },
		func(f *Features) *bool { return &f.Nrext64 }},
	{"-i exchange", "", func(s *FeatureSpec) *Opt[bool] { return &s.Exchange },
		func(f *Features) *bool { return &f.Exchange }},
	{"-n parent", "", func(s *FeatureSpec) *Opt[bool] { return &s.Parent }, func(f *Features) *bool { return &f.Parent }},
	{"-m metadir", "", func(s *FeatureSpec) *Opt[bool] { return &s.Metadir },
		func(f *Features) *bool { return &f.Metadir }},
}

// planFormat settles the version of the format, V5 or V4.
func (p *plan) planFormat() { p.g.Features.CRC = p.spec.Features.CRC.or(true) }

// planFeatures settles the features: the defaults, what was asked for, and
// what follows from either.
func (p *plan) planFeatures() {
	s := &p.spec.Features
	f := Features{
		CRC:        p.g.Features.CRC,
		Finobt:     s.Finobt.or(true),
		InobtCount: s.InobtCount.or(true),
		Rmapbt:     s.Rmapbt.or(true),
		Reflink:    s.Reflink.or(true),
		Bigtime:    s.Bigtime.or(true),
		Sparse:     s.Sparse.or(true),
		Nrext64:    s.Nrext64.or(true),
		Exchange:   s.Exchange.or(true),
		Parent:     s.Parent.or(true),
		Metadir:    s.Metadir.or(false),
		Zoned:      p.spec.RT.Zoned.Value,
		Quota:      s.Quota,
		Ftype:      s.Ftype.or(true),
		CaseFold:   s.CaseFold.or(false),
		Align:      s.Align.or(true),
		LazyCount:  s.LazyCount.or(true),
		Projid32:   s.Projid32.or(true),
		Attr:       int(s.Attr.or(2)),
		LogVersion: int(s.LogVersion.or(2)),
		Autofsck:   s.Autofsck.or(AutofsckUnset),
	}
	if l := &p.spec.Log; f.LogVersion == 1 && (l.StripeUnit.asked() || l.StripeUnit512.asked()) {
		p.warn("-l su: a log with a stripe unit has version 2")
		f.LogVersion = 2
	}
	if f.CaseFold {
		p.notice("ascii-ci filesystems are deprecated and will not be supported by future versions.")
	}
	switch f.Autofsck {
	case AutofsckCheck, AutofsckOptimize, AutofsckRepair: // which need back references
		f.Rmapbt = f.Rmapbt || !s.Rmapbt.asked()
		f.Parent = f.Parent || !s.Parent.asked()
	}
	if f.Parent && !s.Exchange.asked() {
		f.Exchange = true // online repair of parent pointers takes both
	}
	if f.CRC {
		p.settleV5(&f)
	} else {
		p.settleV4(&f)
	}
	if !f.Finobt {
		if s.InobtCount.asked() && s.InobtCount.Value && f.CRC {
			p.refuse("-m inobtcount", "counts the blocks of the inode btrees, which needs finobt=1")
		}
		f.InobtCount = false
	}
	p.settleRealtime(&f)
	if p.spec.Data.Inherit.CowExtent.Value != 0 && !f.Reflink {
		p.refuse("-d cowextsize", "only a filesystem with reflink=1 copies on write")
	}
	p.settleMetadir(&f)
	if p.spec.Inode.MaxAtomicWrite.asked() && !f.Reflink {
		p.refuse("-i max_atomic_write", "writes are made atomic by copying, which needs reflink=1")
	}
	if f.CRC {
		p.settleAutofsck(&f)
	}
	p.g.Features = f
}

func (p *plan) settleV5(f *Features) {
	const always = "the V5 format (crc=1) always has this; add -m crc=0 to change it"
	for _, fixed := range []struct {
		option string
		ok     bool
	}{
		{"-i align", f.Align},
		{"-l lazy-count", f.LazyCount},
		{"-l version", f.LogVersion == 2},
		{"-i attr", f.Attr == 2},
		{"-i projid32bit", f.Projid32},
		{"-n ftype", f.Ftype},
	} {
		if !fixed.ok {
			p.refuse(fixed.option, always)
		}
	}
}

// settleAutofsck knows whether there is what a background checker needs.
func (p *plan) settleAutofsck(f *Features) {
	s := &p.spec.Features
	switch f.Autofsck {
	case AutofsckUnset:
		// A checker can repair a filesystem that has both back references.
		if f.Rmapbt && f.Parent {
			f.Autofsck = AutofsckRepair
		}
	case AutofsckCheck, AutofsckOptimize, AutofsckRepair:
		if s.Rmapbt.asked() && !f.Rmapbt {
			p.notice("-m autofsck=%s is less effective without reverse mapping", f.Autofsck)
		}
		if s.Parent.asked() && !f.Parent {
			p.notice("-m autofsck=%s is less effective without parent pointers", f.Autofsck)
		}
	}
}

func (p *plan) settleV4(f *Features) {
	p.notice("V4 filesystems are deprecated and will not be supported by future versions.")
	s := &p.spec.Features
	for _, row := range needsCRC {
		switch asked := row.asked(s); {
		case !asked.asked() || !asked.Value:
		case row.line != "":
			p.refuseLine(row.option, "%s", row.line)
		default:
			p.refuse(row.option, "needs the V5 format, and -m crc=0 asks for V4")
		}
		*row.on(f) = false
	}
	switch {
	case s.AutofsckSwitch:
		p.refuse("-m autofsck", "needs the V5 format, and -m crc=0 asks for V4")
	case s.Autofsck.asked():
		p.warn("-m autofsck=%s: ignored, it needs the V5 format", s.Autofsck.Value)
	}
	f.Autofsck = AutofsckUnset
	if f.Quota != 0 {
		p.refuse("-m uquota", "quota that is on from the start needs the V5 format, and -m crc=0 asks for V4")
	}
}
