package compat

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Presets lists them all.
func Presets() (list []Preset) {
	for _, v := range []Version{{4, 19}, {5, 4}, {5, 10}, {5, 15}, {6, 1}, {6, 6}, {6, 12}, {6, 18}} {
		p := ForKernel(v)
		p.Help, p.Name = "for "+p.Name+" and later", "lts-"+v.String()
		list = append(list, p)
	}
	for _, v := range []Version{{2, 6}, {2, 12}} {
		p := ForGRUB(v)
		p.Help, p.Name = "for "+p.Name+" and later to boot from", "grub-"+v.grub()
		list = append(list, p)
	}
	return append(list, Preset{Name: "dax", Help: "for persistent memory that is mapped in pages of 2 MiB", Settings: dax})
}

// dax lays out files such that they can be mapped in huge pages.
var dax = []Setting{
	{'b', "size", "4096", true}, {'d', "su", "2m", true}, {'d', "sw", "1", true},
	{'d', "extszinherit", "512", true}, {'d', "daxinherit", "1", true},
	{'r', "extsize", "2m", true},
}

// Find finds a preset by its name; lts_5.15 is lts-5.15 too, as the reference's
// files are called.
func Find(name string) (Preset, error) {
	list := Presets()
	i := slices.IndexFunc(list, func(p Preset) bool { return p.Name == strings.ReplaceAll(name, "_", "-") })
	if i < 0 {
		return Preset{}, fmt.Errorf("there is no preset %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return list[i], nil
}

// Names lists the names of all presets.
func Names() (names []string) {
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// List prints the features with the first kernel and boot loader for each, and
// the presets.
func List(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "feature\tLinux mounts it\tdefault for\tGRUB reads it\t")
	for _, f := range Features {
		fmt.Fprintf(tw, "-%c %s\t%v\t%v\t%s\t%s\n", f.Flag, f.Name, f.Mounts, f.Default, f.GRUB.grub(), f.Help)
	}
	tw.Flush()
	fmt.Fprintln(w)
	fmt.Fprintln(tw, "preset\t\tsets")
	for _, p := range Presets() {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", p.Name, p.Help, Text(p.Settings))
	}
	tw.Flush()
}

// Text writes settings as options.
func Text(list []Setting) string {
	var words []string
	for _, s := range list {
		word := s.Name + "=" + s.Value
		if n := len(words); n > 0 && strings.HasPrefix(words[n-1], fmt.Sprintf("-%c ", s.Flag)) {
			words[n-1] += "," + word
		} else {
			words = append(words, fmt.Sprintf("-%c %s", s.Flag, word))
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}
