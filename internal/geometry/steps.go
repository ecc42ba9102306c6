package geometry

import (
	"slices"
	"strings"
)

// step settles some numbers of a Geometry from those before it, or refuses
// what was asked.
type step struct {
	name string
	run  func(*plan)
	// options it takes. If one was refused before, so is what the step settles.
	options []string
	// needs are earlier steps whose results this one takes. If one of them was
	// refused the step is left out: what it said would only follow from that.
	needs []string
}

// steps are in the order of work. They go on after a refusal as far as they do
// not depend on it, so that faults that have nothing to do with each other are
// all told. checks settle nothing.
var steps = []step{
	{"format", (*plan).planFormat, []string{"-m crc"}, nil},
	{"blocks", (*plan).planBlockSize, []string{"-b size"}, []string{"format"}},
	{"sectors", (*plan).planSectors, []string{"-s size", "-s sectsize", "-d sectsize"}, []string{"blocks"}},
	{"log sectors", (*plan).planLogSectors, append([]string{"-l sectsize", "-l version"}, logPlace...),
		[]string{"sectors"}},
	{"features", (*plan).planFeatures, featureOptions, []string{"blocks"}},
	{"directories", (*plan).planDirBlocks, []string{"-n size"}, []string{"sectors"}},
	{"inodes", (*plan).planInodes, []string{"-i size", "-i perblock"}, []string{"blocks"}},
	{"realtime unit", (*plan).planRealtimeExtent, append([]string{"-r extsize", "-r noalign"}, realtimePlace...),
		[]string{"sectors", "features"}},
	{"realtime place", (*plan).planInternalRealtime, append([]string{"-d size", "--size"}, realtimePlace...),
		[]string{"sectors"}},
	{"size", (*plan).planSize, []string{"-d size", "--size"}, []string{"sectors", "realtime place"}},
	{"realtime size", (*plan).planRealtime, []string{"-r size"}, []string{"realtime unit", "realtime place"}},
	{"log asked", (*plan).planLogAsked, []string{"-l size", "-l concurrency"}, []string{"sectors"}},
	{"log device", (*plan).planLogDevice, nil, []string{"log asked", "log sectors"}},
	{"log within data", (*plan).checkLogWithin, logPlace, []string{"log asked", "size"}},
	{"stripes asked", (*plan).planStripesAsked, []string{"-d su", "-d sw", "-d sunit", "-d swidth", "-d noalign"},
		[]string{"sectors"}},
	{"stripes", (*plan).planStripes, nil, []string{"stripes asked", "size"}},
	{"log stripe asked", (*plan).planLogStripeAsked, []string{"-l su", "-l sunit"}, []string{"sectors"}},
	{"log stripe", (*plan).planLogStripe, nil, []string{"log stripe asked", "stripes", "log sectors", "features"}},
	{"atomic writes", (*plan).planAtomicWrites, []string{"-i max_atomic_write"}, []string{"sectors"}},
	{"growth", (*plan).planGrowth, []string{"--plan-for"}, []string{"size"}},
	{"AGs", (*plan).planAGs, []string{"-d agcount", "-d agsize", "-d concurrency"}, []string{"stripes", "atomic writes",
		"growth", "log asked"}},
	{"groups", (*plan).planGroups, []string{"-r rgcount", "-r rgsize", "-r concurrency", "-r reserved"},
		[]string{"realtime size", "size"}},
	{"realtime files", (*plan).planRealtimeFiles, nil, []string{"groups"}},
	{"atomic writes in groups", (*plan).checkAtomicWrites, nil, []string{"AGs", "groups"}},
	{"inode space", (*plan).planMaxInodes, []string{"-i maxpct"}, []string{"size"}},
	{"inode alignment", (*plan).planInodeAlign, nil, []string{"inodes", "features"}},
	{"log", (*plan).planLog, []string{"-l agnum"}, []string{
		"AGs", "groups", "atomic writes in groups", "log within data", "log device", "log stripe", "directories",
		"inode alignment"}},
	{"inheritance", (*plan).checkInherit, []string{"-d extszinherit", "-d cowextsize", "-d rtinherit"}, []string{"AGs",
		"realtime unit"}},
	{"supported size", (*plan).checkSize, nil, []string{"size"}},
	{"supported log asked", (*plan).checkLogAsked, nil, []string{"log asked"}},
	{"supported log", (*plan).checkLog, nil, []string{"log", "supported size", "supported log asked"}},
	{"supported AGs", (*plan).checkAGCount, nil, []string{"AGs"}},
	{"root directory", (*plan).planRoot, nil, []string{"log"}},
	{"inodes of groups", (*plan).checkGroupInodes, nil, []string{"log", "realtime files", "supported log",
		"supported AGs", "inode space", "inheritance"}},
}

// stepSizes are the lengths that steps take.
var stepSizes = map[string]func(*Spec) *Opt[Size]{
	"directories":      func(s *Spec) *Opt[Size] { return &s.DirBlockSize },
	"size":             func(s *Spec) *Opt[Size] { return &s.Data.Size },
	"log asked":        func(s *Spec) *Opt[Size] { return &s.Log.Size },
	"stripes asked":    func(s *Spec) *Opt[Size] { return &s.Data.StripeUnit },
	"realtime unit":    func(s *Spec) *Opt[Size] { return &s.RT.ExtentSize },
	"realtime size":    func(s *Spec) *Opt[Size] { return &s.RT.Size },
	"groups":           func(s *Spec) *Opt[Size] { return &s.RT.GroupSize },
	"atomic writes":    func(s *Spec) *Opt[Size] { return &s.Inode.MaxAtomicWrite },
	"log stripe asked": func(s *Spec) *Opt[Size] { return &s.Log.StripeUnit },
	"growth":           func(s *Spec) *Opt[Size] { return &s.PlanFor },
	"AGs":              func(s *Spec) *Opt[Size] { return &s.Data.AGSize },
}

// checkLimits checks what is known of a step's length before sectors and blocks are.
func (p *plan) checkLimits(name string) {
	at := stepSizes[name]
	if at == nil {
		return
	}
	if size := at(p.spec); size.Given && size.Value.Unit == UnitBytes {
		p.size(size.Value)
	}
}

// logPlace are the options that tell whether the log is external.
var logPlace = []string{"-l internal", "-l logdev", "-l name", "-l file"}

// realtimePlace are the options that tell where the realtime section is.
var realtimePlace = []string{"-r rtdev", "-r name", "-r file", "-r zoned", "-r start"}

// featureOptions are those that turn features on and off.
var featureOptions = []string{
	"-m finobt", "-m inobtcount", "-m rmapbt", "-m reflink", "-m bigtime", "-m autofsck",
	"-i sparse", "-i nrext64", "-i exchange", "-i align", "-i attr", "-i projid32bit",
	"-n ftype", "-n parent", "-n version", "-l lazy-count", "-l version",
	"-m metadir", "-m uquota", "-m gquota", "-m pquota", "-m uqnoenforce", "-m gqnoenforce", "-m pqnoenforce",
	"-r zoned", "-r start", "-r reserved", "-r rtdev", "-r name", "-r extsize",
}

// Plan computes the layout of the filesystem that spec asks for on a device.
// The error joins a *Refusal for everything that is wrong, as far as one does
// not follow from another. There is no Geometry if anything was refused, here
// or before (Spec.Refused).
func Plan(spec Spec, dev Device) (*Geometry, Notes, error) {
	p := &plan{spec: &spec, dev: &dev, g: &Geometry{Label: spec.Label, Inherit: spec.Data.Inherit}, dataSize: dev.Size}
	if spec.Label != strings.TrimSpace(spec.Label) {
		p.warn("-L: the label %q begins or ends with a blank, which is part of it", spec.Label)
	}
	refused := map[string]bool{}
	for _, s := range steps {
		p.stop = false
		switch {
		case slices.ContainsFunc(s.options, func(option string) bool { return slices.Contains(spec.Refused, option) }):
			p.stop = true
		case slices.ContainsFunc(s.needs, func(name string) bool { return refused[name] }):
			p.checkLimits(s.name)
			p.stop = true
		default:
			s.run(p)
		}
		refused[s.name] = p.stop
	}
	switch {
	case len(p.errs) > 0:
		return nil, p.notes, &Refusals{p.errs}
	case p.stop: // of what was refused before; the last step needs all others
		return nil, p.notes, nil
	}
	return p.g, p.notes, nil
}
