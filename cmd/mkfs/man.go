package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mkfs/internal/compat"
	"mkfs/internal/options"
)

// The parts of the manual that follow from no table.
var (
	//go:embed manual_start.8
	manualStart string // with the version
	//go:embed manual_end.8
	manualEnd string
)

// newManCommand makes the command that writes the manual page, from the same
// tables as the help.
func newManCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " man [options]", Short: "Write the manual page", Long: "Write the manual page, " + name + "(8), on stdout.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := bufio.NewWriter(stdout)
			manual(w, name)
			return w.Flush()
		},
	}
	return settled(cmd, stdout, stderr, exitRefused)
}

// manual writes the page in the language of man(7).
func manual(w io.Writer, name string) {
	fs := newCommand(name, io.Discard, io.Discard).Flags()
	fmt.Fprintf(w, `.TH %[1]s 8 "" "xfsprogs %[2]s" "System Administration"
.SH NAME
%[3]s, mkfs.xfs \- make an XFS filesystem
.SH SYNOPSIS
.B %[3]s
[\fIoptions\fR] \fItarget\fR
`, options.Roff(strings.ToUpper(name)), options.Roff(formatVersion), options.Roff(name))
	for _, sub := range slices.Sorted(maps.Keys(subcommands)) {
		fmt.Fprintf(w, ".br\n.B %s %s\n", options.Roff(name), options.Roff(subcommands[sub].usage))
	}
	fmt.Fprintf(w, manualStart, options.Roff(name), formatVersion)
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			manFlag(w, f)
		}
	})
	fmt.Fprintf(w, ".SH SUBOPTIONS\n%s.PP\n%s", manText(suboptionText), manText(sizeText))
	fmt.Fprint(w, options.Man())
	fmt.Fprint(w, ".SH PRESETS\nFor \\fB\\-\\-preset\\fR.\n")
	for _, p := range compat.Presets() {
		fmt.Fprintf(w, ".TP\n.B %s\n%s: %s.\n", options.Roff(p.Name), options.Roff(p.Help),
			options.Roff(compat.Text(p.Settings)))
	}
	fmt.Fprint(w, ".SH COMMANDS\n")
	for _, sub := range slices.Sorted(maps.Keys(subcommands)) {
		c := subcommands[sub].make(name, io.Discard, io.Discard)
		fmt.Fprintf(w, ".SS %s %s\n%s", options.Roff(name), options.Roff(subcommands[sub].usage), manText(cmp.Or(c.Long, c.Short+".")))
		c.Flags().VisitAll(func(f *pflag.Flag) { manFlag(w, f) })
	}
	fmt.Fprint(w, manualEnd)
}

func manFlag(w io.Writer, f *pflag.Flag) {
	short, long, usage := flagUsage(f)
	name, value, _ := strings.Cut(long, " ")
	head := []string{}
	for _, text := range []string{short, name} {
		if strings.HasPrefix(text, "-") {
			head = append(head, `\fB`+options.Roff(text)+`\fR`)
		} else if text != "" {
			value = text // a letter's
		}
	}
	line := strings.Join(head, ", ")
	if value != "" {
		line += ` \fI` + options.Roff(strings.ToLower(value)) + `\fR`
	}
	fmt.Fprintf(w, ".TP\n%s\n%s.\n", line, options.Roff(strings.ToUpper(usage[:1])+usage[1:]))
}

// manText is text with empty lines between paragraphs.
func manText(text string) string {
	text = strings.TrimRight(text, "\n:.") + "."
	text = strings.ReplaceAll(options.Roff(text), "\n\n", "\n.PP\n")
	return strings.ReplaceAll(text, "\n  ", "\n.br\n") + "\n"
}
