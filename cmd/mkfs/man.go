package main

import (
	"bufio"
	"cmp"
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

// newManCommand makes the command that writes the manual page, from the same
// tables as the help.
func newManCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " man [options]", Short: "Write the manual page", Long: "Write the manual page, mkfs(8), on stdout.",
		SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs, DisableFlagsInUseLine: true,
		RunE: func(*cobra.Command, []string) error {
			w := bufio.NewWriter(stdout)
			manual(w)
			return w.Flush()
		},
	}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return newFlagError(err) })
	return cmd
}

// manual writes the page in the language of man(7).
func manual(w io.Writer) {
	fs := newCommand("mkfs", io.Discard, io.Discard).Flags()
	fmt.Fprintf(w, `.TH MKFS 8 "" "mkfs %s" "System Administration"
.SH NAME
mkfs, mkfs.xfs \- make an XFS filesystem
.SH SYNOPSIS
.B mkfs
[\fIoptions\fR] \fItarget\fR
`, options.Roff(formatVersion))
	for _, sub := range slices.Sorted(maps.Keys(subcommands)) {
		fmt.Fprintf(w, ".br\n.B mkfs %s\n", options.Roff(subcommands[sub].usage))
	}
	fmt.Fprint(w, `.SH DESCRIPTION
.B mkfs
makes an XFS filesystem on a block device or in an image file. It takes the
options of mkfs.xfs of xfsprogs `+formatVersion+` and writes the same bytes. Under the
name
.B mkfs.xfs
it has no commands.
.PP
A target that holds a filesystem, a partition table or another known format is
refused without
.BR \-f ,
and one that is in use always. All that is wrong is told at once, and then nothing
has been written.
.SH OPTIONS
`)
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			manFlag(w, f)
		}
	})
	fmt.Fprintf(w, ".SH SUBOPTIONS\n%s.PP\n%s", manText(suboptionText), manText(sizeText))
	fmt.Fprint(w, options.Man())
	fmt.Fprint(w, ".SH PRESETS\nFor \\fB\\-\\-preset\\fR.\n")
	for _, p := range compat.Presets() {
		fmt.Fprintf(w, ".TP\n.B %s\n%s: %s.\n", options.Roff(p.Name), options.Roff(p.Help), options.Roff(compat.Text(p.Settings)))
	}
	fmt.Fprint(w, ".SH COMMANDS\n")
	for _, sub := range slices.Sorted(maps.Keys(subcommands)) {
		c := subcommands[sub].make("mkfs", io.Discard, io.Discard)
		fmt.Fprintf(w, ".SS mkfs %s\n%s", options.Roff(subcommands[sub].usage), manText(cmp.Or(c.Long, c.Short+".")))
		c.Flags().VisitAll(func(f *pflag.Flag) { manFlag(w, f) })
	}
	fmt.Fprint(w, manEnd)
}

const manEnd = `.SH EXIT STATUS
.TP
0
Done: made, or kept by \fB\-\-ensure\fR; no faults and a clean log; replayed; put back.
.TP
1
Refused or failed. Of
.B mkfs verify
and
.BR "mkfs info" :
there are faults, or no XFS at all.
.TP
2
Of commands: reading or writing failed, or, where nothing is written, the arguments make no sense.
.TP
3
Of
.B mkfs verify
and
.BR "mkfs info" :
the log must be replayed. Of
.BR "mkfs recover" :
it was replayed, but the kernel must finish the rest.
.TP
4
With
.BR \-\-ensure :
there is another XFS.
.TP
130, 143
Stopped by SIGINT or SIGTERM.
.PP
With
.B \-\-verify
also the statuses of
.BR "mkfs verify" .
.SH ENVIRONMENT
.TP
.B SOURCE_DATE_EPOCH
The time that is written, in seconds since 1970.
.TP
.B DETERMINISTIC_SEED
If this is 1, nothing random but the UUID is written.
.TP
.BR TEST_DIR ", " TEST_DEV ", " QA_CHECK_FS
If all are set, filesystems may be as small as the format allows, as with
.BR \-\-unsupported .
.SH SEE ALSO
.BR xfs (5),
.BR mount (8),
.BR xfs_repair (8)
`

func manFlag(w io.Writer, f *pflag.Flag) {
	short, long := flagUsage(f)
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
	fmt.Fprintf(w, ".TP\n%s\n%s.\n", line, options.Roff(strings.ToUpper(f.Usage[:1])+f.Usage[1:]))
}

// manText is text with empty lines between paragraphs.
func manText(text string) string {
	text = strings.TrimRight(text, "\n:.") + "."
	text = strings.ReplaceAll(options.Roff(text), "\n\n", "\n.PP\n")
	return strings.ReplaceAll(text, "\n  ", "\n.br\n") + "\n"
}
