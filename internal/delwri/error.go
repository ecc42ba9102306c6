package delwri

import (
	"errors"
	"fmt"
)

// Place says what a buffer is, for error messages: "AG 3 bnobt".
type Place struct {
	AG   int64 // allocation group number; negative for none
	Name string
}

func (p Place) String() string {
	switch {
	case p.AG < 0:
		return p.Name
	case p.Name == "":
		return fmt.Sprintf("AG %d", p.AG)
	}
	return fmt.Sprintf("AG %d %s", p.AG, p.Name)
}

// WriteError is the first error of a batch.
type WriteError struct {
	Device string // Config.Device
	Place  Place  // of the buffer that holds Off; no AG and no name if the list has none there
	Off    int64  // byte at which the write stopped; negative if the error has no place
	Err    error  // the cause, usually an errno
}

func (e *WriteError) Error() string {
	s := "write"
	if e.Device != "" {
		s += " " + e.Device
	}
	s += ":"
	if p := e.Place.String(); p != "" {
		s += " " + p
	}
	if e.Off >= 0 {
		s += fmt.Sprintf(" at byte %d", e.Off)
	}
	if s[len(s)-1] != ':' {
		s += ":"
	}
	return s + " " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// fail records err, of the request at byte off, unless there is one already.
// An error that knows better where it happened, by a method Offset, is
// believed: in a merged request the failing byte tells the buffer.
func (l *List) fail(off int64, err error) {
	if l.err != nil {
		return
	}
	cause := err
	var at interface{ Offset() int64 }
	if errors.As(err, &at) {
		off = at.Offset()
		// It has said where. What is left to say is why.
		if u, ok := at.(interface{ Unwrap() error }); ok && u.Unwrap() != nil {
			cause = u.Unwrap()
		}
	}
	l.err = &WriteError{Device: l.cfg.Device, Place: l.place(off), Off: off, Err: cause}
}

// place tells what is written at byte off.
func (l *List) place(off int64) Place {
	if off >= 0 {
		for _, t := range l.batches {
			if s := t.covers(off, off+1); s != nil {
				return s.place
			}
		}
	}
	return Place{AG: -1}
}
