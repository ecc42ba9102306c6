package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signalError is the cause of a context that a signal ended.
type signalError struct{ syscall.Signal }

func (s signalError) Error() string { return "stopped by signal: " + s.Signal.String() }

// drainTime is how long what is in flight may take after a signal.
const drainTime = 800 * time.Millisecond

// withSignals is a context that SIGINT and SIGTERM end. If the program does not
// end soon after, for what it does cannot be stopped, last is called and it is
// ended: that may happen at any moment, see format.
//
// That nobody reads the output is no signal to stop half way: a write to it
// fails, and the filesystem becomes complete. Nor is a limit of file sizes.
func withSignals(parent context.Context, last func(error)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	state := &leftBehind{}
	ctx = context.WithValue(ctx, leftKey{}, state)
	stops := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(sig) { // as for a job in the background of a script
			signal.Notify(stops, sig)
		}
	}
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, syscall.SIGPIPE)
	signal.Ignore(syscall.SIGXFSZ)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-done:
		case sig := <-stops:
			cause := signalError{sig.(syscall.Signal)}
			cancel(cause)
			select {
			case <-done:
				return
			case <-stops:
			case <-time.After(drainTime):
			}
			err := fmt.Errorf("%w, while the system was still busy with a request%s", cause, state.text())
			last(err)
			os.Exit(int(statusOf(err)))
		}
	}()
	var once sync.Once
	return ctx, func() {
		once.Do(func() {
			close(done)
			<-ended // what has been said is not said again
			signal.Stop(stops)
			signal.Stop(unread)
		})
	}
}

// leftBehind is what to say of targets if the program ends at once.
type leftBehind struct {
	mu    sync.Mutex
	words string
}

// leftKey is where a context has it.
type leftKey struct{}

// leaves notes what a target is from now on, should the program end at once; ""
// if nothing has happened to it.
func leaves(ctx context.Context, words string) {
	if l, ok := ctx.Value(leftKey{}).(*leftBehind); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.words = words
	}
}

func (l *leftBehind) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.words == "" {
		return ""
	}
	return "; " + l.words
}
