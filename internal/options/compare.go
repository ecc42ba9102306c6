package options

import (
	"fmt"

	"mkfs/internal/geometry"
)

// property is what a suboption settles of a filesystem, as its superblock tells.
type property struct {
	id    string // "d agcount"
	value func(*geometry.Geometry) string
}

// properties are those of suboptions that are no features, which settings has.
// What the root directory holds is not among them.
var properties = []property{
	{"b size", blockSize},
	{"d agcount", func(g *geometry.Geometry) string { return fmt.Sprint(g.AGCount) }},
	{"d agsize", agSize},
	{"d size", dataSize},
	{"d su", stripes}, {"d sw", stripes}, {"d sunit", stripes}, {"d swidth", stripes}, {"d noalign", stripes},
	{"d sectsize", sectorSize}, {"s size", sectorSize}, {"s sectsize", sectorSize},
	{"i size", inodeSize}, {"i perblock", inodeSize},
	{"i maxpct", func(g *geometry.Geometry) string { return fmt.Sprint(g.MaxInodePercent) }},
	{"i projid32bit", func(g *geometry.Geometry) string { return fmt.Sprint(g.Features.Projid32) }},
	{"l agnum", func(g *geometry.Geometry) string { return fmt.Sprint(g.Log.AG) }},
	{"l size", logSize},
	{"l internal", external}, {"l logdev", external}, {"l name", external},
	{"l version", func(g *geometry.Geometry) string { return fmt.Sprint(g.Features.LogVersion) }},
	{"l su", logStripe}, {"l sunit", logStripe},
	{"l sectsize", func(g *geometry.Geometry) string { return fmt.Sprint(g.Log.SectorSize) }},
	{"l lazy-count", func(g *geometry.Geometry) string { return fmt.Sprint(g.Features.LazyCount) }},
	{"n size", dirBlockSize},
	{"m uquota", quotaFlags}, {"m gquota", quotaFlags}, {"m pquota", quotaFlags},
	{"m uqnoenforce", quotaFlags}, {"m gqnoenforce", quotaFlags}, {"m pqnoenforce", quotaFlags},
	{"r rtdev", realtimePlace}, {"r name", realtimePlace},
	{"r extsize", func(g *geometry.Geometry) string { return fmt.Sprint(g.Bytes(g.RT.Extent)) }},
	{"r size", func(g *geometry.Geometry) string { return fmt.Sprint(g.Bytes(g.RT.Blocks)) }},
	{"r rgcount", func(g *geometry.Geometry) string { return fmt.Sprint(g.RT.GroupCount) }},
	{"r rgsize", func(g *geometry.Geometry) string { return fmt.Sprint(g.Bytes(g.RT.GroupBlocks)) }},
	{"r zoned", func(g *geometry.Geometry) string { return fmt.Sprint(g.Features.Zoned) }},
	{"r start", func(g *geometry.Geometry) string { return fmt.Sprint(g.Bytes(g.RT.Start)) }},
	{"r reserved", func(g *geometry.Geometry) string { return fmt.Sprint(g.Bytes(g.RT.Reserved)) }},
}

func stripes(g *geometry.Geometry) string {
	return fmt.Sprintf("%d,%d", g.Bytes(g.StripeUnit), g.Bytes(g.StripeWidth))
}
func blockSize(g *geometry.Geometry) string    { return fmt.Sprint(g.BlockSize) }
func sectorSize(g *geometry.Geometry) string   { return fmt.Sprint(g.SectorSize) }
func dirBlockSize(g *geometry.Geometry) string { return fmt.Sprint(g.DirBlockSize) }
func inodeSize(g *geometry.Geometry) string    { return fmt.Sprint(g.InodeSize) }
func dataSize(g *geometry.Geometry) string     { return fmt.Sprint(g.Bytes(g.Blocks)) }
func agSize(g *geometry.Geometry) string       { return fmt.Sprint(g.Bytes(g.AGBlocks)) }
func logSize(g *geometry.Geometry) string      { return fmt.Sprint(g.Bytes(g.Log.Blocks)) }
func logStripe(g *geometry.Geometry) string    { return fmt.Sprint(g.Bytes(g.Log.StripeUnit)) }
func external(g *geometry.Geometry) string {
	if g.Log.External {
		return "external"
	}
	return "internal"
}

// quotaFlags leaves out what a mount adds: that all there is has been counted.
func quotaFlags(g *geometry.Geometry) string {
	const asked = geometry.CountUsers | geometry.LimitUsers | geometry.CountGroups | geometry.LimitGroups |
		geometry.CountProjects | geometry.LimitProjects
	return fmt.Sprintf("%#x", uint16(g.Features.Quota&asked))
}

func realtimePlace(g *geometry.Geometry) string {
	switch {
	case g.RT.Blocks == 0:
		return ""
	case g.RT.Start > 0:
		return "internal"
	}
	return "on a device"
}

// Differences tells what was given, in whatever way, of which have is not what
// want is, a Geometry that was planned from it.
func (p *Parser) Differences(want, have *geometry.Geometry) (list []string) {
	for _, s := range p.table {
		for _, r := range s.Rows {
			id := string(s.Flag) + " " + r.Name
			value := valueOf(s.Name, id)
			if !p.given[id] || value == nil {
				continue
			}
			if w, h := value(want), value(have); w != h {
				list = append(list, fmt.Sprintf("-%s is %s there, not %s", id, orNone(h), orNone(w)))
			}
		}
	}
	return list
}

// valueOf finds the property of a suboption.
func valueOf(section, id string) func(*geometry.Geometry) string {
	for _, p := range properties {
		if p.id == id {
			return p.value
		}
	}
	for _, s := range settings {
		if s.section == section && s.key == id[2:] && s.feature {
			return s.value
		}
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
