// Command mkfs makes XFS filesystems on devices and in image files.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}

// run is the whole program; it returns the exit status: 0, 1, that of an
// exitError, or 128 and the number of the signal that stopped it.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	name := filepath.Base(args[0])
	cmd, rest := commandFor(name, args[1:], stdout, stderr)
	cmd.SetArgs(rest)
	err := cmd.ExecuteContext(ctx)
	status := statusOf(err)
	if exit := (exitError{}); errors.As(err, &exit) {
		err = exit.error
	}
	if err != nil {
		report(stderr, name, err)
	}
	return status
}

// statusOf is the exit status that an error ends the program with.
func statusOf(err error) int {
	var sig signalError
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &sig):
		return 128 + int(sig.Signal)
	case errors.As(err, &exit):
		return int(exit.status)
	}
	return 1
}

// signalError is the cause of a context that a signal ended.
type signalError struct{ syscall.Signal }

func (s signalError) Error() string { return "stopped by signal: " + s.Signal.String() }

// withSignals is a context that SIGINT and SIGTERM end.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM)
	signal.Ignore(syscall.SIGXFSZ) // so that a file size limit is an error like others
	go func() {
		if sig, ok := (<-ch).(syscall.Signal); ok {
			cancel(signalError{sig})
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(ch)
	}
}
