package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"mkfs/internal/options"
)

// help prints the options, grouped by section, from the table of suboptions.
func help(w io.Writer, name string, fs *pflag.FlagSet) {
	fmt.Fprintf(w, `Make an XFS filesystem on a block device or in an image file.

Usage:
  %[1]s [options] TARGET
%[3]s
Examples:
  %[1]s --size 1t disk.img                  a sparse image of 1 TiB
  %[1]s -L data -m reflink=0 /dev/sdb1      a device, with a label and without reflink
  %[1]s -N -d su=64k,sw=4 /dev/md0          show what would be made

Options:
%[2]s`, name, plainFlags(fs), alsoUsage(name))
	fmt.Fprint(w, `
Suboptions, as in -d agcount=8,su=64k. Those with a section, in brackets, may
also stand in a configuration file, as agcount = 8 below [data]:
`)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range options.Sections {
		title := s.Help
		if s.Name != "" {
			title += ", [" + s.Name + "]"
		}
		fmt.Fprintf(tw, "  -%c\t%s\n", s.Flag, title)
		for _, r := range s.Rows {
			fmt.Fprintf(tw, "     %s\t%s\n", r.Name, r.Help)
		}
	}
	tw.Flush()
	fmt.Fprint(w, `
Sizes are in bytes, or take one suffix: s (sectors), b (blocks), k, m, g, t, p
or e (powers of 1024). 0x begins a hexadecimal number and 0 an octal one.
`)
}

func plainFlags(fs *pflag.FlagSet) string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		long := "--" + f.Name
		if f.Name == f.Shorthand {
			long = ""
		}
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand
		}
		switch t := strings.ToUpper(f.Value.Type()); {
		case t == "BOOL":
		case f.NoOptDefVal != "":
			long += "[=" + t + "]"
		default:
			long = strings.TrimSpace(long + " " + t)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", short, long, f.Usage)
	})
	tw.Flush()
	return b.String()
}

// alsoUsage tells of the subcommands, where there are any.
func alsoUsage(name string) string {
	if name == "mkfs.xfs" {
		return ""
	}
	var b strings.Builder
	for _, sub := range slices.Sorted(maps.Keys(subcommands)) {
		fmt.Fprintf(&b, "  %s %s %s\n", name, sub, usage)
	}
	return b.String()
}
