package options

import (
	"fmt"
	"strings"

	"mkfs/internal/geometry"
)

// setting is a line of a configuration file that describes a filesystem. Its
// value, there and in exact, is "" where there is nothing to say: it is what it
// would be without.
type setting struct {
	section, key string
	// value is for the file that asks for the properties of a filesystem; nil
	// where it does not have that line.
	value func(g *geometry.Geometry) string
	// exact is for the file that makes the same filesystem on whatever device and
	// with whatever defaults, so that it says more; nil for value.
	exact   func(g *geometry.Geometry) string
	feature bool // one that the superblock tells
}

// settings are, as far as they have a value, the properties that follow from what
// was asked, not from the device: features and sizes of things. Features are
// always told. The others are what follows from both.
var settings = []setting{
	{section: "block", key: "size", value: func(g *geometry.Geometry) string {
		return unlike(int64(g.BlockSize),
			4096)
	}, exact: blockSize},
	{section: "sector", key: "size", exact: commonSector},
	feature("metadata", "crc", func(f *geometry.Features) bool { return f.CRC }),
	feature("metadata", "finobt", func(f *geometry.Features) bool { return f.Finobt }),
	feature("metadata", "rmapbt", func(f *geometry.Features) bool { return f.Rmapbt }),
	feature("metadata", "reflink", func(f *geometry.Features) bool { return f.Reflink }),
	feature("metadata", "inobtcount", func(f *geometry.Features) bool { return f.InobtCount }),
	feature("metadata", "bigtime", func(f *geometry.Features) bool { return f.Bigtime }),
	feature("metadata", "metadir", func(f *geometry.Features) bool { return f.Metadir }),
	{section: "metadata", key: "autofsck",
		value: func(g *geometry.Geometry) string { return string(g.Features.Autofsck) }},
	quotaOf("uquota", geometry.CountUsers|geometry.LimitUsers, geometry.CountUsers|geometry.LimitUsers),
	quotaOf("gquota", geometry.CountGroups|geometry.LimitGroups, geometry.CountGroups|geometry.LimitGroups),
	quotaOf("pquota", geometry.CountProjects|geometry.LimitProjects, geometry.CountProjects|geometry.LimitProjects),
	quotaOf("uqnoenforce", geometry.CountUsers|geometry.LimitUsers, geometry.CountUsers),
	quotaOf("gqnoenforce", geometry.CountGroups|geometry.LimitGroups, geometry.CountGroups),
	quotaOf("pqnoenforce", geometry.CountProjects|geometry.LimitProjects, geometry.CountProjects),
	{section: "data", key: "sectsize", exact: dataSector},
	{section: "data", key: "size", exact: dataSize},
	{section: "data", key: "agsize", exact: agSize},
	{section: "data", key: "sunit", exact: func(g *geometry.Geometry) string { return basicBlocks(g, g.StripeUnit) }},
	{section: "data", key: "swidth", exact: func(g *geometry.Geometry) string { return basicBlocks(g, g.StripeWidth) }},
	{section: "data", key: "noalign", exact: func(g *geometry.Geometry) string { return oneIf(g.StripeUnit == 0) }},
	{section: "data", key: "rtinherit",
		value: func(g *geometry.Geometry) string { return oneIf(g.Inherit.Realtime.Value) },
		exact: func(g *geometry.Geometry) string { return bit(g.Inherit.Realtime.Value) }}, // on in zoned ones by default
	{section: "data", key: "projinherit",
		value: func(g *geometry.Geometry) string { return nonzero(g.Inherit.ProjectID) },
		exact: func(g *geometry.Geometry) string {
			if !g.Inherit.ProjectID.Given {
				return ""
			}
			return fmt.Sprint(g.Inherit.ProjectID.Value)
		}},
	{section: "data", key: "extszinherit",
		value: func(g *geometry.Geometry) string { return nonzero(g.Inherit.ExtentSize) }},
	{section: "data", key: "cowextsize", value: func(g *geometry.Geometry) string { return nonzero(g.Inherit.CowExtent) }},
	{section: "data", key: "daxinherit", value: func(g *geometry.Geometry) string { return oneIf(g.Inherit.DAX.Value) }},
	feature("inode", "sparse", func(f *geometry.Features) bool { return f.Sparse }),
	feature("inode", "nrext64", func(f *geometry.Features) bool { return f.Nrext64 }),
	feature("inode", "exchange", func(f *geometry.Features) bool { return f.Exchange }),
	{section: "inode", key: "projid32bit", value: func(g *geometry.Geometry) string { return off(g.Features.Projid32) }},
	{section: "inode", key: "maxpct",
		value: func(g *geometry.Geometry) string {
			return unlike(int64(g.MaxInodePercent), geometry.DefaultInodePercent(g))
		},
		exact: func(g *geometry.Geometry) string { return fmt.Sprint(g.MaxInodePercent) }},
	{section: "inode", key: "size",
		value: func(g *geometry.Geometry) string {
			return unlike(int64(g.InodeSize), int64(geometry.DefaultInodeSize(g.Features.CRC)))
		},
		exact: inodeSize},
	{section: "inode", key: "align", exact: func(g *geometry.Geometry) string { return off(g.Features.Align) }},
	{section: "inode", key: "attr", exact: func(g *geometry.Geometry) string { return unlike(int64(g.Features.Attr), 2) }},
	{section: "log", key: "sectsize", exact: logSector},
	{section: "log", key: "agnum", exact: logAG},
	{section: "log", key: "size", exact: logSize},
	{section: "log", key: "version",
		exact: func(g *geometry.Geometry) string { return unlike(int64(g.Features.LogVersion), 2) }},
	{section: "log", key: "sunit", exact: func(g *geometry.Geometry) string { return basicBlocks(g, g.Log.StripeUnit) }},
	{section: "log", key: "lazy-count", value: func(g *geometry.Geometry) string { return off(g.Features.LazyCount) }},
	feature("naming", "parent", func(f *geometry.Features) bool { return f.Parent }),
	feature("naming", "ftype", func(f *geometry.Features) bool { return f.Ftype }),
	{section: "naming", key: "version", feature: true, value: func(g *geometry.Geometry) string {
		if g.Features.CaseFold {
			return "ci"
		}
		return "2"
	}},
	{section: "naming", key: "size",
		value: func(g *geometry.Geometry) string {
			return unlike(int64(g.DirBlockSize), int64(max(g.BlockSize, 4096)))
		},
		exact: dirBlockSize},
	{section: "realtime", key: "zoned", exact: func(g *geometry.Geometry) string { return oneIf(g.Features.Zoned) }},
	{section: "realtime", key: "start",
		exact: func(g *geometry.Geometry) string { return unlike(int64(g.Bytes(g.RT.Start)), 0) }},
	{section: "realtime", key: "extsize",
		value: func(g *geometry.Geometry) string {
			return unlike(int64(g.Bytes(g.RT.Extent)), int64(max(g.BlockSize, 4096)))
		},
		exact: realtimeExtent},
	{section: "realtime", key: "size", exact: realtimeSize},
	{section: "realtime", key: "rgsize", exact: groupSize},
	{section: "realtime", key: "reserved",
		exact: func(g *geometry.Geometry) string { return unlike(int64(g.Bytes(g.RT.Reserved)), 0) }},
}

// ConfigOf is a configuration file that asks for the properties of a
// filesystem, as -c makecfg writes it.
func ConfigOf(g *geometry.Geometry) string {
	return config(g, func(s *setting) func(*geometry.Geometry) string { return s.value })
}

// config is a file of what lines picks of each setting, nil for none. A section
// that could have a line begins, whether it has one or not.
func config(g *geometry.Geometry, lines func(*setting) func(*geometry.Geometry) string) string {
	var b strings.Builder
	section := ""
	for i := range settings {
		s := &settings[i]
		value := lines(s)
		if value == nil {
			continue
		}
		if s.section != section {
			if section != "" {
				b.WriteByte('\n')
			}
			section = s.section
			fmt.Fprintf(&b, "[%s]\n", section)
		}
		if v := value(g); v != "" {
			fmt.Fprintf(&b, "%s=%s\n", s.key, v)
		}
	}
	return b.String()
}

// ValueOf is the value of a property in such a file, or "".
func ValueOf(g *geometry.Geometry, key string) string {
	for _, s := range settings {
		if s.key == key && s.value != nil {
			return s.value(g)
		}
	}
	return ""
}

func feature(section, key string, on func(*geometry.Features) bool) setting {
	return setting{section: section, key: key, feature: true, value: func(g *geometry.Geometry) string {
		return bit(on(&g.Features))
	}}
}

// quotaOf is a way to have a kind of quota: of its flags, these are on.
func quotaOf(key string, kind, on geometry.QuotaFlags) setting {
	return setting{section: "metadata", key: key, value: func(g *geometry.Geometry) string {
		return oneIf(g.Features.Quota&kind == on)
	}}
}

// unlike is a number, or "" if it is the default.
func unlike(v, def int64) string {
	if v == def {
		return ""
	}
	return fmt.Sprint(v)
}

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// oneIf is "1" for what is on and off by default.
func oneIf(on bool) string {
	if on {
		return "1"
	}
	return ""
}

func nonzero(v geometry.Opt[uint32]) string { return unlike(int64(v.Value), 0) }

// off is "0" for what is off and on by default.
func off(on bool) string {
	if on {
		return ""
	}
	return "0"
}
