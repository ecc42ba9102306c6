package options

import (
	"fmt"
	"strings"

	"mkfs/internal/geometry"
)

// setting is a line of the configuration file that describes a filesystem.
// value gives "" where there is nothing to say: the value is what it would be
// without.
type setting struct {
	section, key string
	value        func(g *geometry.Geometry) string
	feature      bool // one that the superblock tells
}

// settings are the properties that follow from what was asked, not from the
// device: features and sizes of things. Features are always told.
var settings = []setting{
	{section: "block", key: "size", value: func(g *geometry.Geometry) string { return unlike(int64(g.BlockSize), 4096) }},
	feature("metadata", "crc", func(f *geometry.Features) bool { return f.CRC }),
	feature("metadata", "finobt", func(f *geometry.Features) bool { return f.Finobt }),
	feature("metadata", "rmapbt", func(f *geometry.Features) bool { return f.Rmapbt }),
	feature("metadata", "reflink", func(f *geometry.Features) bool { return f.Reflink }),
	feature("metadata", "inobtcount", func(f *geometry.Features) bool { return f.InobtCount }),
	feature("metadata", "bigtime", func(f *geometry.Features) bool { return f.Bigtime }),
	feature("metadata", "metadir", func(f *geometry.Features) bool { return f.Metadir }),
	{section: "metadata", key: "autofsck", value: func(g *geometry.Geometry) string { return string(g.Features.Autofsck) }},
	quotaOf("uquota", geometry.CountUsers|geometry.LimitUsers, geometry.CountUsers|geometry.LimitUsers),
	quotaOf("gquota", geometry.CountGroups|geometry.LimitGroups, geometry.CountGroups|geometry.LimitGroups),
	quotaOf("pquota", geometry.CountProjects|geometry.LimitProjects, geometry.CountProjects|geometry.LimitProjects),
	quotaOf("uqnoenforce", geometry.CountUsers|geometry.LimitUsers, geometry.CountUsers),
	quotaOf("gqnoenforce", geometry.CountGroups|geometry.LimitGroups, geometry.CountGroups),
	quotaOf("pqnoenforce", geometry.CountProjects|geometry.LimitProjects, geometry.CountProjects),
	{section: "data", key: "rtinherit", value: func(g *geometry.Geometry) string { return isSet(g.Inherit.Realtime) }},
	{section: "data", key: "projinherit", value: func(g *geometry.Geometry) string { return nonzero(g.Inherit.ProjectID) }},
	{section: "data", key: "extszinherit", value: func(g *geometry.Geometry) string { return nonzero(g.Inherit.ExtentSize) }},
	{section: "data", key: "cowextsize", value: func(g *geometry.Geometry) string { return nonzero(g.Inherit.CowExtent) }},
	{section: "data", key: "daxinherit", value: func(g *geometry.Geometry) string { return isSet(g.Inherit.DAX) }},
	feature("inode", "sparse", func(f *geometry.Features) bool { return f.Sparse }),
	feature("inode", "nrext64", func(f *geometry.Features) bool { return f.Nrext64 }),
	feature("inode", "exchange", func(f *geometry.Features) bool { return f.Exchange }),
	{section: "inode", key: "projid32bit", value: func(g *geometry.Geometry) string { return off(g.Features.Projid32) }},
	{section: "inode", key: "maxpct", value: func(g *geometry.Geometry) string {
		return unlike(int64(g.MaxInodePercent), geometry.DefaultInodePercent(g))
	}},
	{section: "inode", key: "size", value: func(g *geometry.Geometry) string {
		return unlike(int64(g.InodeSize), int64(geometry.DefaultInodeSize(g.Features.CRC)))
	}},
	{section: "log", key: "lazy-count", value: func(g *geometry.Geometry) string { return off(g.Features.LazyCount) }},
	feature("naming", "parent", func(f *geometry.Features) bool { return f.Parent }),
	feature("naming", "ftype", func(f *geometry.Features) bool { return f.Ftype }),
	{section: "naming", key: "version", feature: true, value: func(g *geometry.Geometry) string {
		if g.Features.CaseFold {
			return "ci"
		}
		return "2"
	}},
	{section: "naming", key: "size", value: func(g *geometry.Geometry) string {
		return unlike(int64(g.DirBlockSize), int64(max(g.BlockSize, 4096)))
	}},
	{section: "realtime", key: "extsize", value: func(g *geometry.Geometry) string {
		return unlike(int64(g.Bytes(g.RT.Extent)), int64(max(g.BlockSize, 4096)))
	}},
}

// ConfigOf is a configuration file that asks for the properties of a
// filesystem, as -c makecfg writes it.
func ConfigOf(g *geometry.Geometry) string {
	var b strings.Builder
	section := ""
	for _, s := range settings {
		if s.section != section {
			if section != "" {
				b.WriteByte('\n')
			}
			section = s.section
			fmt.Fprintf(&b, "[%s]\n", section)
		}
		if v := s.value(g); v != "" {
			fmt.Fprintf(&b, "%s=%s\n", s.key, v)
		}
	}
	return b.String()
}

// ValueOf is the value of a property in such a file, or "".
func ValueOf(g *geometry.Geometry, key string) string {
	for _, s := range settings {
		if s.key == key {
			return s.value(g)
		}
	}
	return ""
}

func feature(section, key string, on func(*geometry.Features) bool) setting {
	return setting{section: section, key: key, feature: true, value: func(g *geometry.Geometry) string {
		if on(&g.Features) {
			return "1"
		}
		return "0"
	}}
}

// quotaOf is a way to have a kind of quota: of its flags, these are on.
func quotaOf(key string, kind, on geometry.QuotaFlags) setting {
	return setting{section: "metadata", key: key, value: func(g *geometry.Geometry) string {
		if g.Features.Quota&kind == on {
			return "1"
		}
		return ""
	}}
}

// unlike is a number, or "" if it is the default.
func unlike(v, def int64) string {
	if v == def {
		return ""
	}
	return fmt.Sprint(v)
}

func isSet(on geometry.Opt[bool]) string {
	if on.Value {
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
