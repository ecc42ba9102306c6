package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mkfs/internal/options"
)

// help prints all options: those with a letter or a name, then the suboptions
// by section.
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
%[2]s
%[4]s
%[5]s
%[6]s`, name, plainFlags(fs), alsoUsage(name), suboptionText, options.Usage, sizeText)
}

const (
	suboptionText = `Suboptions, as in -d agcount=8,su=64k. Those with a section, in brackets, may
also stand in a configuration file, as agcount = 8 below [data]:
`
	sizeText = `Sizes are in bytes, or take one suffix: s (sectors), b (blocks), k, m, g, t, p
or e (powers of 1024). 0x begins a hexadecimal number and 0 an octal one. For 0|1
the value may be omitted and means 1.
`
)

func plainFlags(fs *pflag.FlagSet) string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		short, long, usage := flagUsage(f)
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", short, long, usage)
	})
	tw.Flush()
	return b.String()
}

// flagUsage is how an option is written: by letter, and by name with its value, and
// what it does. The value's name is in backquotes in the text, or that of its type.
func flagUsage(f *pflag.Flag) (short, long, usage string) {
	long = "--" + f.Name
	if f.Name == f.Shorthand {
		long = ""
	}
	if f.Shorthand != "" {
		short = "-" + f.Shorthand
	}
	value, usage := pflag.UnquoteUsage(f)
	if !strings.Contains(f.Usage, "`") {
		value = f.Value.Type()
	}
	switch t := strings.ToUpper(value); {
	case f.Value.Type() == "bool":
	case f.NoOptDefVal != "":
		long += "[=" + t + "]"
	default:
		long = strings.TrimSpace(long + " " + t)
	}
	return short, long, usage
}

// alsoUsage tells of the subcommands, where there are any.
func alsoUsage(name string) string {
	if name == xfsName {
		return ""
	}
	var b strings.Builder
	for _, sub := range slices.Sorted(maps.Keys(subcommands)) {
		fmt.Fprintf(&b, "  %s %s\n", name, subcommands[sub].usage)
	}
	return b.String()
}

// newHelpCommand makes the command that explains one thing: a section of
// suboptions by its name or letter, or a command.
func newHelpCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " help [SECTION]", Short: "Explain a section of suboptions, or a command",
		DisableFlagParsing: true, // -d is a section
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "-h" || args[0] == "--help":
				helpTopics(stdout, name)
				return nil
			case len(args) > 1:
				return usageError{fmt.Errorf("one section, please, not %d", len(args))}
			}
			return helpOn(stdout, stderr, name, args[0])
		},
	}
	cmd.CompletionOptions.DisableDefaultCmd = true // there is help on our own
	return settled(cmd, stdout, stderr, exitRefused)
}

// helpTopics lists what there is help on.
func helpTopics(w io.Writer, name string) {
	fmt.Fprintf(w, "Sections, as in '%s help data' or '%s help -d':\n\n", name, name)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range options.Sections {
		s := &options.Sections[i]
		fmt.Fprintf(tw, "  %s\t-%c\t%s\n", s.Topic(), s.Flag, s.Help)
	}
	tw.Flush()
	fmt.Fprint(w, "\nCommands:\n\n")
	for _, sub := range slices.Sorted(maps.Keys(subcommands)) {
		c := subcommands[sub].make(name, io.Discard, io.Discard)
		fmt.Fprintf(tw, "  %s\t\t%s\n", sub, c.Short)
	}
	tw.Flush()
	fmt.Fprintf(w, "\n'%s --help' lists all options.\n", name)
}

func helpOn(stdout, stderr io.Writer, name, topic string) error {
	if s := options.FindSection(topic); s != nil {
		fmt.Fprint(stdout, s.Describe(), "\n", sizeText)
		return nil
	}
	if sub, ok := subcommands[topic]; ok {
		cmd := sub.make(name, stdout, stderr)
		cmd.InitDefaultHelpFlag()
		return cmd.Help()
	}
	return usageError{fmt.Errorf("there is no help on %q; '%s help' lists what there is", topic, name)}
}
