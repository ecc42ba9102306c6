package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mkfs/internal/geometry"
)

// subcommands are commands of their own, named by the first argument. Where
// this is mkfs.xfs it has none, and a file of such a name is a target like any
// other, as it is behind other options, as ./verify and after --.
var subcommands map[string]subcommand

// subcommand is a command of its own.
type subcommand struct {
	make  func(name string, stdout, stderr io.Writer) *cobra.Command
	usage string
}

func init() { // the help command lists them all
	subcommands = map[string]subcommand{
		"completion": {newCompletionCommand, "completion SHELL"},
		"help":       {newHelpCommand, "help [SECTION]"},
		"info":       {newInfoCommand, "info " + usage},
		"man":        {newManCommand, "man"},
		"recover":    {newRecoverCommand, "recover " + usage},
		"undo":       {newUndoCommand, "undo [options] FILE TARGET"},
		"verify":     {newVerifyCommand, "verify " + usage},
	}
}

// xfsName is the name under which this is a replacement for the reference, and
// has no subcommands.
const xfsName = "mkfs.xfs"

// commandFor picks the command that arguments name, and what is left of them.
func commandFor(name string, args []string, stdout, stderr io.Writer) (*cobra.Command, []string) {
	if len(args) > 0 && name != xfsName {
		if sub, ok := subcommands[args[0]]; ok {
			return sub.make(name, stdout, stderr), args[1:]
		}
	}
	return newCommand(name, stdout, stderr), args
}

// settled is a subcommand with what all have that look at a filesystem: errors
// are main's to print, and what is wrong before it begins ends it with a status of its own.
func settled(cmd *cobra.Command, stdout, stderr io.Writer, wrong exitStatus) *cobra.Command {
	cmd.SilenceErrors, cmd.SilenceUsage, cmd.DisableFlagsInUseLine = true, true, true
	if cmd.Args == nil {
		cmd.Args = cobra.ArbitraryArgs
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolP("help", "h", false, "show this")
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), "Flags:", "Options:"))
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return exitError{wrong, newFlagError(err)}
	})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if faults := emptyValues(cmd.Flags()); len(faults) > 0 {
			return exitError{wrong, &geometry.Refusals{List: faults}}
		}
		if err := checkAddressSpace(); err != nil {
			return exitError{wrong, err}
		}
		return nil
	}
	return cmd
}

// emptyValues are the faults of options that were given nothing, as by a
// variable of a script that is not set: that is not the same as no option.
func emptyValues(fs *pflag.FlagSet) (faults []error) {
	fs.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && f.DefValue == "" {
			faults = append(faults, fmt.Errorf("--%s: needs a value", f.Name))
		}
	})
	return faults
}
