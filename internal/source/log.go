package source

import (
	"errors"
	"fmt"
	"io"

	"mkfs/internal/super"
	"mkfs/internal/target"
	"mkfs/internal/xlog"
)

// Log is what was found of a filesystem's log.
type Log struct {
	State *xlog.State // nil if it was not read, or makes no sense
	Fault string      // why it makes none
	Ahead string      // how the superblock is ahead of it
}

// Faults are those of the log and of the superblock by what the log says.
func (f *Log) Faults() (list []string) {
	if f.Fault != "" {
		list = append(list, f.Fault)
	}
	if f.Ahead != "" {
		list = append(list, "superblock: "+f.Ahead)
	}
	return list
}

// FindLog finds the ends of the log of a filesystem on t, or on the device, or
// the window of it, that is given for an external one; without that it reads none.
func FindLog(t *target.Target, fs *super.Filesystem, logdev string, part *target.Window) (found Log, err error) {
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
		found.Fault = fmt.Sprintf("%s: the log has %d bytes, its device %d", where, size, from.Info().Size)
		return found, nil
	}
	state, err := xlog.New(io.NewSectionReader(from, base, size), fs.Log()).Find()
	switch {
	case errors.As(err, new(*xlog.Corrupt)) || errors.Is(err, xlog.ErrForeign):
		if found.Fault = err.Error(); where != "log" {
			found.Fault = where + ": " + found.Fault
		}
		return found, nil
	case err != nil:
		return found, err
	}
	found.State = &state
	if !InUse(t.Info()) { // otherwise both change while they are read
		found.Ahead = fs.AheadOfLog(state.HeadLSN())
	}
	return found, nil
}
