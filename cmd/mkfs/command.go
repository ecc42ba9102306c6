package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mkfs/internal/compat"
	"mkfs/internal/identity"
	"mkfs/internal/options"
	"mkfs/internal/report"
	"mkfs/internal/source"
)

// formatVersion is the release of xfsprogs whose format and options these are.
const formatVersion = "7.2.0"

// flagsOf are the options that are not sections of suboptions.
type flagsOf struct {
	force, quiet, dryRun, noDiscard, version bool
	discardLimit                             time.Duration
	unsupported, buffered, json, verify      bool
	ensure, labelled, dense                  bool
	skipUnreadable, clampTimes               bool
	engine, progress                         string
	forKernel, forGRUB                       string
	preset                                   []string
	depth, batch                             int

	part         source.Part
	undoFile     string
	reproducible identity.Seed
}

// usage is what follows the name of a command.
const usage = "[options] TARGET"

// newCommand makes the command. Under any name it formats; suboptions are
// parsed as they come, so that all faults are known in the end.
func newCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	var f flagsOf
	parser := options.NewParser()
	cmd := &cobra.Command{
		Use:           name + " " + usage,
		Short:         "Make an XFS filesystem on a block device or in an image file",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(f.preset, "list") {
				compat.List(stdout)
				return nil
			}
			if f.version {
				fmt.Fprintf(stdout, "%s version %s\n", name, version())
				return nil
			}
			for _, err := range emptyValues(cmd.Flags()) {
				parser.Fault(err)
			}
			if cmd.Flags().Changed("discard-limit") && f.discardLimit <= 0 {
				parser.Fault(fmt.Errorf("--discard-limit: %v; it is a time, as 30s, and -K discards nothing", f.discardLimit))
			}
			j := job{flagsOf: f, parser: parser, out: stdout, err: stderr, name: name}
			err := j.run(cmd.Context(), args)
			if err != nil && f.json {
				err = errors.Join(err, report.JSON(stdout, report.NewFailure(err, int(statusOf(err)))))
			}
			if err != nil || !f.verify || f.dryRun || parser.Request.MakeConfig.Given {
				return err
			}
			return j.verifyAfter(cmd.Context())
		},
	}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetHelpCommand(&cobra.Command{Hidden: true})
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return newFlagError(err) })
	f.add(cmd.Flags(), parser)
	cmd.SetHelpFunc(func(*cobra.Command, []string) { help(stdout, name, cmd.Flags()) })
	return cmd
}

func (f *flagsOf) add(fs *pflag.FlagSet, parser *options.Parser) {
	fs.SortFlags = false
	// An option that has only a letter goes by that as its long name too.
	for _, s := range options.Sections {
		fs.VarP(suboptions{parser, s.Flag}, string(s.Flag), string(s.Flag), s.Help)
		fs.Lookup(string(s.Flag)).Hidden = true // help lists its suboptions
	}
	fs.VarP(told{func(arg string) { parser.Label(arg); f.labelled = true }, "label"}, "L", "L",
		"label of the filesystem, up to 12 bytes")
	fs.BoolVarP(&f.force, "force", "f", false, "overwrite a filesystem or partition table that is there")
	fs.BoolVarP(&f.force, "C", "C", false, "the same as -f")
	fs.Lookup("C").Hidden = true
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "do not print the geometry")
	fs.BoolVarP(&f.dryRun, "dry-run", "N", false, "print the geometry and write nothing")
	fs.BoolVarP(&f.noDiscard, "no-discard", "K", false, "do not discard the device's old contents")
	fs.DurationVar(&f.discardLimit, "discard-limit", 0,
		"stop discarding after a `TIME`, such as 30s or 5m; the rest keeps its old contents")
	fs.BoolVarP(&f.version, "version", "V", false, "print the version")
	fs.Var(told{parser.ImageSize, "size"}, "size",
		"size of an image file: make it if it is missing, grow it if it is shorter")
	fs.BoolVar(&f.dense, "dense", false,
		"write the log and all else that must be zero as data, for tools that copy no holes; nothing is discarded")
	fs.Var(told{parser.PlanFor, "size"}, "plan-for",
		"choose allocation groups and log for the size that the filesystem will grow to")
	fs.BoolVar(&f.ensure, "ensure", false,
		"keep what is there, with status 0, if it is the XFS asked for; status 4 if it is another")
	fs.Var(names{&f.preset}, "preset",
		"features for a kernel or boot loader, such as lts-5.15 or grub-2.06; 'list' shows them all; explicit options override it")
	fs.StringVar(&f.forKernel, "for-kernel", "",
		"features that are on by default by Linux `VERSION`, such as 5.15; auto for the running one")
	fs.StringVar(&f.forGRUB, "for-grub", "", "features that GRUB `VERSION`, such as 2.06, can read")
	partFlags(fs, &f.part)
	fs.BoolVar(&f.skipUnreadable, "skip-unreadable", false, "leave out what -p finds and cannot read, and list it")
	fs.BoolVar(&f.clampTimes, "clamp-mtime", false, "give no file of -p a later time than the filesystem, as SOURCE_DATE_EPOCH says")
	fs.Var(&f.reproducible, "reproducible",
		"equal options give equal bytes: the UUID follows from them, the time is SOURCE_DATE_EPOCH or 0; another SEED "+
			"gives another UUID; files of a directory are made in the order of their names")
	fs.Lookup("reproducible").NoOptDefVal = "0"
	fs.StringVar(&f.undoFile, "undo", "", "keep what is overwritten in a new `FILE`, for mkfs undo; nothing is discarded")
	fs.StringVar(&f.engine, "engine", "auto", "how to write: `ENGINE` is auto, uring, aio or sync")
	fs.IntVar(&f.depth, "queue-depth", 0, "`NUMBER` of requests in flight; 0 for what suits the target: 100 with direct IO, else 1")
	fs.IntVar(&f.batch, "batch", 0, "`NUMBER` of allocation groups in memory at once; 0: 256, or twice the depth if that is more")
	fs.BoolVar(&f.json, "json", false, "print one JSON object in place of the table, also of errors")
	fs.StringVar(&f.progress, "progress", "auto",
		"how to show progress on stderr: `KIND` is bar, plain, json, none, or auto: a bar on a terminal")
	fs.BoolVar(&f.buffered, "buffered", false, "write by way of the page cache even where direct IO works")
	fs.BoolVar(&f.verify, "verify", false, "read the headers back when done, and check them; with -p all files, too")
	fs.BoolVar(&f.unsupported, "unsupported", false, "allow filesystems that are too small to be supported")
}

// suboptions is an option of one letter as a flag.
type suboptions struct {
	parser *options.Parser
	flag   byte
}

func (s suboptions) Set(arg string) error { s.parser.Option(s.flag, arg); return nil }
func (s suboptions) String() string       { return "" }
func (s suboptions) Type() string         { return "suboptions" }

// names is an option that may be given more than once.
type names struct{ list *[]string }

func (n names) Set(arg string) error {
	*n.list = append(*n.list, strings.Split(arg, ",")...)
	return nil
}
func (n names) String() string { return "" }
func (n names) Type() string   { return "name" }

// told is an option whose value is passed on.
type told struct {
	to   func(arg string)
	kind string // of its value, in the help
}

func (t told) Set(arg string) error { t.to(arg); return nil }
func (t told) String() string       { return "" }
func (t told) Type() string         { return t.kind }

// usageError is one that --help may help with.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func version() string {
	v := formatVersion
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v += " (mkfs " + info.Main.Version + ")"
	}
	return v
}
