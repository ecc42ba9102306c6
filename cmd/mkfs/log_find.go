package main

import (
	"errors"
	"fmt"
	"io"

	"mkfs/internal/super"
	"mkfs/internal/target"
	"mkfs/internal/xlog"
)

// foundLog is what was found of a filesystem's log.
type foundLog struct {
	state *xlog.State // nil if it was not read, or makes no sense
	fault string      // why it makes none
	ahead string      // how the superblock is ahead of it
}

// faults are those of the log and of the superblock by what the log says.
func (f *foundLog) faults() (list []string) {
	if f.fault != "" {
		list = append(list, f.fault)
	}
	if f.ahead != "" {
		list = append(list, "superblock: "+f.ahead)
	}
	return list
}

// findLog finds the ends of the log of a filesystem on t, or on the device, or
// the window of it, that is given for an external one; without that it reads none.
func findLog(t *target.Target, fs *super.Filesystem, logdev string, part *target.Window) (found foundLog, err error) {
	from, base, where := t, int64(0), "log"
	if at, ok := fs.InternalLog(); ok {
		base = int64(at)
	} else if fs.SB.LogStart != 0 || logdev == "" {
		return found, nil
	} else {
		log, err := target.Open(logdev, target.Options{Window: part})
		if err != nil {
			return found, err
		}
		defer log.Close() // nothing was written
		from, where = log, logdev
	}
	size := int64(fs.LogSize())
	if base+size > from.Info().Size {
		found.fault = fmt.Sprintf("%s: the log has %d bytes, its device %d", where, size, from.Info().Size)
		return found, nil
	}
	state, err := xlog.New(io.NewSectionReader(from, base, size), fs.Log()).Find()
	switch {
	case errors.As(err, new(*xlog.Corrupt)) || errors.Is(err, xlog.ErrForeign):
		if found.fault = err.Error(); where != "log" {
			found.fault = where + ": " + found.fault
		}
		return found, nil
	case err != nil:
		return found, err
	}
	found.state = &state
	if !inUse(t.Info()) { // otherwise both change while they are read
		found.ahead = fs.AheadOfLog(state.HeadLSN())
	}
	return found, nil
}
