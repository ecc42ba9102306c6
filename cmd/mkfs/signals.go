package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// signalError is the cause of a context that a signal ended.
type signalError struct{ syscall.Signal }

func (s signalError) Error() string { return "stopped by signal: " + s.Signal.String() }

// drainTime is how long what is in flight may take after a signal.
const drainTime = 800 * time.Millisecond

// withSignals is a context that SIGINT and SIGTERM end. If the program does not
// end soon after, for what it does cannot be stopped, it is ended: that may
// happen at any moment, see format.
//
// That nobody reads the output is no signal to stop half way: a write to it
// fails, and the filesystem becomes complete. Nor is a limit of file sizes.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	stops := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(sig) { // as for a job in the background of a script
			signal.Notify(stops, sig)
		}
	}
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, syscall.SIGPIPE)
	signal.Ignore(syscall.SIGXFSZ)
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
		case sig := <-stops:
			cause := signalError{sig.(syscall.Signal)}
			cancel(cause)
			select {
			case <-done:
			case <-stops:
				os.Exit(statusOf(cause))
			case <-time.After(drainTime):
				os.Exit(statusOf(cause))
			}
		}
	}()
	return ctx, func() {
		signal.Stop(stops)
		signal.Stop(unread)
		close(done)
	}
}
