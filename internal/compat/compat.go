// Package compat knows which kernels mount and which boot loaders read a
// filesystem with which features. There is one table of features; presets
// follow from it.
package compat

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a release of a kernel or of GRUB: 5.15 is {5, 15}.
type Version struct{ Major, Minor int }

// Never is later than any release.
var Never = Version{1 << 30, 0}

// ParseVersion reads the first two numbers of a release, as in
// 5.15.0-91-generic or 2.06.
func ParseVersion(text string) (Version, error) {
	major, rest, dotted := strings.Cut(text, ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	var v Version
	var err, err2 error
	v.Major, err = strconv.Atoi(major)
	v.Minor, err2 = strconv.Atoi(minor)
	if !dotted || err != nil || err2 != nil || v.Major < 0 {
		return Version{}, fmt.Errorf("%q is no version, which looks like 5.15", text)
	}
	return v, nil
}

// Before tells whether v is the earlier release.
func (v Version) Before(w Version) bool { return v.compare(w) < 0 }

func (v Version) compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor))
}

func (v Version) String() string {
	if v == Never {
		return "-"
	}
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// grub writes a release of GRUB, which has two digits behind the point.
func (v Version) grub() string {
	if v == Never {
		return "-"
	}
	return fmt.Sprintf("%d.%02d", v.Major, v.Minor)
}

// Feature is a property that not every kernel or boot loader knows.
type Feature struct {
	Flag byte // of its option, as in -m
	Name string
	// Mounts is the first kernel that mounts it and writes to it, and Default
	// the first with long-term support at whose release it was stable enough to
	// be on by default, in xfsprogs 7.2.0's settings for such kernels.
	Mounts, Default Version
	// GRUB is the first release that reads it. Those whose bit says no more than
	// that old code must not write are no matter to it.
	GRUB Version
	Help string
}

// anyV5 is the first GRUB that reads the V5 format at all.
var anyV5 = Version{2, 2}

// Features is the table. Kernels: the release whose XFS took the feature's bit
// into its list of known ones. GRUB: grub-core/fs/xfs.c at its tags, where
// XFS_SB_FEAT_INCOMPAT_SUPPORTED has the bit. Its support of nrext64 came with
// 2.12, but misread some directories until "fix large extent counters incompat
// feature support" of December 2024.
var Features = []Feature{
	{'m', "crc", Version{3, 10}, Version{3, 16}, anyV5, "the V5 format"},
	{'m', "finobt", Version{3, 16}, Version{4, 4}, anyV5, "btree of free inodes"},
	{'i', "sparse", Version{4, 2}, Version{4, 19}, Version{2, 4}, "inode chunks with holes"},
	{'m', "rmapbt", Version{4, 8}, Version{6, 6}, anyV5, "btree of owners"},
	{'m', "reflink", Version{4, 9}, Version{5, 4}, anyV5, "shared blocks"},
	{'m', "inobtcount", Version{5, 10}, Version{5, 15}, anyV5, "sizes of inode btrees"},
	{'m', "bigtime", Version{5, 10}, Version{5, 15}, Version{2, 6}, "times up to 2486"},
	{'i', "nrext64", Version{5, 19}, Version{6, 6}, Version{2, 14}, "large extent counters"},
	{'i', "exchange", Version{6, 10}, Version{6, 18}, Version{2, 14}, "exchange of contents"},
	{'n', "parent", Version{6, 10}, Version{6, 18}, Version{2, 14}, "parent pointers"},
	{'m', "autofsck", Version{3, 10}, Version{6, 18}, anyV5, "an attribute for checkers"},
	{'m', "metadir", Version{6, 13}, Never, Version{2, 14}, "metadata directory"},
}

// Setting is a suboption and its value.
type Setting struct {
	Flag        byte
	Name, Value string
	// Weak ones are dropped where they do not fit what was asked for.
	Weak bool
}

// Preset is a set of settings with a name.
type Preset struct {
	Name, Help string
	Settings   []Setting
	// Lacks tells what a feature is too new for, and the release that takes it,
	// or "". It is nil where the preset is about something else.
	Lacks func(*Feature) string
}

// ForKernel turns off what is not a default for a kernel.
func ForKernel(v Version) Preset {
	name := "Linux " + v.String()
	return Preset{
		Name: name, Settings: off(func(f *Feature) bool { return v.Before(f.Default) }),
		Lacks: func(f *Feature) string { return lacks(name, v, "mount", f.Mounts, f.Mounts.String()) },
	}
}

// ForGRUB turns off what a release of GRUB cannot read.
func ForGRUB(v Version) Preset {
	name := "GRUB " + v.grub()
	return Preset{
		Name: name, Settings: off(func(f *Feature) bool { return v.Before(f.GRUB) }),
		Lacks: func(f *Feature) string { return lacks(name, v, "read", f.GRUB, f.GRUB.grub()) },
	}
}

func lacks(name string, v Version, does string, first Version, firstText string) string {
	if !v.Before(first) {
		return ""
	}
	return fmt.Sprintf("%s does not %s that; %s is the first that does", name, does, firstText)
}

func off(is func(*Feature) bool) (list []Setting) {
	for i := range Features {
		if f := &Features[i]; is(f) {
			list = append(list, Setting{f.Flag, f.Name, "0", f.Name == "autofsck"})
		}
	}
	return list
}

// TooNew tells of features that are on although what presets are for does not take
// them. on tells whether a suboption of that name is 1.
func TooNew(presets []Preset, on func(name string) bool) (warnings []string) {
	for _, p := range presets {
		for i := range Features {
			f := &Features[i]
			if p.Lacks == nil || !on(f.Name) {
				continue
			}
			if text := p.Lacks(f); text != "" {
				warnings = append(warnings, fmt.Sprintf("-%c %s=1: %s", f.Flag, f.Name, text))
			}
		}
	}
	return warnings
}
