package main

import "mkfs/internal/verify"

// exitStatus is what the program ends with. docs/exit-status.md has a table of what
// each means for each command.
type exitStatus int

const (
	exitDone       exitStatus = 0
	exitRefused    exitStatus = 1 // or failed, or faulty
	exitUnreadable exitStatus = 2
	exitDirty      exitStatus = 3
	exitOther      exitStatus = 4 // --ensure: another XFS

	exitSignal exitStatus = 128 // and the number of the signal
)

// exitStatuses are those of what a look at a filesystem can come to.
var exitStatuses = [...]exitStatus{
	verify.Clean: exitDone, verify.Faulty: exitRefused, verify.Unreadable: exitUnreadable, verify.Dirty: exitDirty,
}

// exitError ends the program with a status of its own; what there is to say is
// said already if the error within is nil.
type exitError struct {
	status exitStatus
	error
}

func (e exitError) Unwrap() error { return e.error }

// ended is the end of a command that looked at a filesystem, and printed what it
// found: failed is the error of printing.
func ended(s verify.Status, err, failed error) error {
	switch {
	case err == nil && failed != nil:
		return exitError{exitUnreadable, failed}
	case s != verify.Clean:
		return exitError{exitStatuses[s], err}
	}
	return nil
}
