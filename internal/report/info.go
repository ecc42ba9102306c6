package report

import (
	"cmp"
	"fmt"
	"io"

	"github.com/google/uuid"

	"mkfs/internal/super"
	"mkfs/internal/verify"
	"mkfs/internal/xlog"
)

// Info is what mkfs info tells of a filesystem.
type Info struct {
	Target    string          `json:"target"`
	Partition int             `json:"partition,omitempty"`
	Status    string          `json:"status"` // clean, dirty log, faults or unreadable
	UUID      string          `json:"uuid,omitempty"`
	Label     string          `json:"label"`
	Geometry  *Geometry       `json:"geometry,omitempty"`
	Features  *Features       `json:"features,omitempty"`
	Space     *Space          `json:"space,omitempty"` // none unless the log is clean: the counts may be old
	Log       *LogState       `json:"log,omitempty"`   // none if it could not be read
	LogState  verify.LogState `json:"log_state,omitempty"`
	Faults    []string        `json:"faults,omitempty"`
	Error     string          `json:"error,omitempty"`

	FS       *super.Filesystem `json:"-"` // nil if there is none
	Again    *string           `json:"-"` // the file of options that makes it again, in place of the table
	State    *xlog.State       `json:"-"` // of the log; nil if it was not read
	LogFault string            `json:"-"` // what is wrong with the log
}

// PrintJSON prints all of it as an object. logdev is the path of an external log.
func (r *Info) PrintJSON(w io.Writer, logdev string) error {
	if r.FS != nil {
		geo, features := NewGeometry(&r.FS.Geometry, logdev, ""), NewFeatures(&r.FS.Geometry)
		r.Geometry, r.Features = &geo, &features
		r.UUID, r.Label = uuid.UUID(r.FS.SB.UUID).String(), r.FS.Geometry.Label
	}
	if r.State != nil {
		s := NewLogState(r.State)
		r.Log = &s
	}
	return JSON(w, r)
}

// Print prints the table and what belongs to it, or the file of options.
func (r *Info) Print(w io.Writer, logdev string) error {
	if r.Again != nil {
		_, err := io.WriteString(w, *r.Again)
		return err
	}
	if r.FS == nil {
		return nil
	}
	Table(w, &r.FS.Geometry, r.Target, cmp.Or(logdev, "external log"), "external")
	_, err := fmt.Fprintf(w, "uuid     =%v\nlabel    =%q\nlog state=%s\n", uuid.UUID(r.FS.SB.UUID), r.FS.Geometry.Label,
		r.logText())
	return err
}

// logText tells where the log begins and ends, in blocks of 512 bytes, or why
// that is not known.
func (r *Info) logText() string {
	s, blocks := r.State, r.FS.Log().Blocks
	switch {
	case r.LogState == verify.LogFaulty:
		return "faulty; " + r.LogFault
	case s == nil && r.FS.SB.LogStart == 0:
		return "unknown; it was not read: it is on a device of its own, and --logdev names that"
	case s == nil:
		return "unknown; it was not read: the superblock names no place for it"
	case s.Empty:
		return "clean, nothing was ever written"
	case s.Clean:
		return WithDropped(s, fmt.Sprintf("clean, head at block %d of %d, cycle %d", s.Head, blocks, s.Cycle))
	}
	return WithDropped(s, fmt.Sprintf("dirty, tail at block %d and head at block %d of %d, cycle %d", s.Tail, s.Head,
		blocks, s.Cycle))
}
