package compat

import (
	"fmt"
	"strings"
)

// files are the configuration files that mkfs.xfs comes with (xfsprogs, mkfs/*.conf),
// by the preset that says the same.
var files = map[string]string{"dax_x86_64.conf": "dax"}

func init() {
	for _, p := range Presets() {
		if v, ok := strings.CutPrefix(p.Name, "lts-"); ok {
			files["lts_"+v+".conf"] = p.Name
		}
	}
}

// File is the text of a configuration file that mkfs.xfs comes with, and the
// name of the preset that it is made of. As in those files, features are told
// whether they are on or off. ok is false for any other name.
func File(name string) (text, preset string, ok bool) {
	preset, ok = files[name]
	if !ok {
		return "", "", false
	}
	list := dax
	if v, lts := strings.CutPrefix(preset, "lts-"); lts {
		release, err := ParseVersion(v)
		if err != nil {
			panic("compat: " + err.Error()) // our own table
		}
		list = featuresOf(release)
	}
	return configText(list), preset, true
}

// featuresOf tells of each feature whether a kernel has it by default.
func featuresOf(v Version) (list []Setting) {
	for i := range Features {
		switch f := &Features[i]; {
		case v.Before(f.Default):
			list = append(list, Setting{f.Flag, f.Name, "0", false})
		case f.Name != "autofsck": // which follows from others
			list = append(list, Setting{f.Flag, f.Name, "1", false})
		}
	}
	return list
}

// sections are the names in a configuration file of the options of one letter.
var sections = []struct {
	flag byte
	name string
}{{'b', "block"}, {'m', "metadata"}, {'d', "data"}, {'i', "inode"}, {'n', "naming"}, {'r', "realtime"}}

// configText writes settings as a configuration file.
func configText(list []Setting) string {
	var b strings.Builder
	for _, s := range sections {
		head := fmt.Sprintf("[%s]\n", s.name)
		for _, setting := range list {
			if setting.Flag == s.flag {
				fmt.Fprintf(&b, "%s%s=%s\n", head, setting.Name, setting.Value)
				head = ""
			}
		}
	}
	return b.String()
}
