// Command mkfs makes XFS filesystems on devices and in image files.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mkfs/internal/claim"
	"mkfs/internal/geometry"
	"mkfs/internal/progress"
	"mkfs/internal/report"
)

func main() {
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}

// run is the whole program; it returns the exit status: 0, 1, that of an
// exitError, or 128 and the number of the signal that stopped it.
func run(args []string, stdout, stderr io.Writer) int {
	name := filepath.Base(args[0])
	ctx, stop := withSignals(context.Background(), func(err error) { lastWords(stdout, stderr, name, args, err) })
	defer stop()
	if len(args) > 1 && args[1] == completeName && name != xfsName {
		complete(stdout, name, args[2:])
		return 0
	}
	if len(args) == 1 && name == xfsName { // test-suites look there for what it knows
		help(stderr, name, newCommand(name, stdout, stderr).Flags())
		return 1
	}
	cmd, rest := commandFor(name, args[1:], stdout, stderr)
	cmd.InitDefaultHelpFlag()
	if !cmd.DisableFlagParsing {
		rest = getopt(cmd.Flags(), rest)
	}
	cmd.SetArgs(rest)
	err := cmd.ExecuteContext(ctx)
	stop()
	status := statusOf(err)
	if errors.As(err, new(flagError)) && slices.Contains(rest, "--json") {
		err = errors.Join(err, report.JSON(stdout, report.NewFailure(err, int(status))))
	}
	if exit := (exitError{}); errors.As(err, &exit) {
		err = exit.error
	}
	if err != nil {
		tell(stderr, commandName(cmd.Use), err)
	}
	return int(status)
}

// lastWords reports an error that ends the program while it is at work.
func lastWords(stdout, stderr io.Writer, name string, args []string, err error) {
	if progress.Terminal(stderr) {
		fmt.Fprintln(stderr) // behind a bar
	}
	if slices.Contains(args, "--json") {
		err = errors.Join(err, report.JSON(stdout, report.NewFailure(err, int(statusOf(err)))))
	}
	tell(stderr, name, err)
}

// commandName is the name of a command without its usage.
func commandName(use string) string {
	name, _, _ := strings.Cut(use, " [")
	return name
}

// statusOf is the exit status that an error ends the program with.
func statusOf(err error) exitStatus {
	var sig signalError
	var exit exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &sig):
		return exitSignal + exitStatus(sig.Signal)
	case errors.As(err, &exit):
		return exit.status
	}
	return exitRefused
}

// tell prints an error, and where there is help if that may help.
func tell(stderr io.Writer, name string, err error) {
	report.Error(stderr, name, err)
	if errors.As(err, new(usageError)) || errors.As(err, new(claim.UsageError)) || errors.As(err,
		new(*geometry.Refusals)) {
		fmt.Fprintf(stderr, "See '%s --help'.\n", name)
	}
}
