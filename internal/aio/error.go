package aio

import (
	"errors"
	"fmt"
)

// ErrCanceled is the cause of a request that was taken but never given to the
// engine because another had failed before.
var ErrCanceled = errors.New("not started after an earlier error")

// ErrClosed is returned by calls on a closed Ring.
var ErrClosed = errors.New("IO ring is closed")

// errOverrun is an engine that claims more bytes than it was given.
var errOverrun = errors.New("more bytes transferred than asked for")

// Error is a failed request or flush.
type Error struct {
	Op  string // "read", "write", "fsync", or the system call of an engine that broke
	Off int64  // byte where the transfer stopped, short progress counted in; -1 if it has none
	Err error  // usually a unix.Errno
}

func (e *Error) Error() string {
	if e.Off < 0 {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s at byte %d: %v", e.Op, e.Off, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Offset returns Off.
func (e *Error) Offset() int64 { return e.Off }
