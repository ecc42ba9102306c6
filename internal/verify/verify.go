// Package verify reads the headers of all allocation groups of an XFS
// filesystem back, with their btree roots, and checks them: each structure by
// itself, those of one AG against each other, and the sums of all AGs against
// the superblock. It takes any filesystem of format V4 or V5, new or used,
// whoever made it.
//
//	superblock ──> geometry ──> log ──> AG 0, 1, 2, ... ──> sums
//	  tables        methods     head      slots, tables
//
// It reads ahead: the headers of many AGs are in flight, through the same ring
// that writes them, but the AGs are checked in order, so that a report does
// not depend on the order in which reads complete. Memory does not grow with
// the filesystem.
//
// # What is checked when
//
// No block can be ahead of the log's head, or log and blocks are of different
// times. A clean log says that everything is in its place on disk. With a dirty one
// any block may be older than its neighbours, so that only checks of one block
// by itself mean something; those of one block against another are left out.
// The same goes for a filesystem whose external log was not given.
//
// Of a btree of several levels only the root is read, so that what takes all
// of its records (counters, coverage) is left out too.
//
// The checksum of log records, blocks below btree roots, inodes and the
// realtime section are not looked at.
package verify

import (
	"context"
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
)

// Reader is the part of a ring that verifying needs. Read takes a request, and
// runs done once in a later call, never in the same one; Reap waits for at
// least min of the requests in flight, or for all there are.
type Reader interface {
	Read(off int64, vec [][]byte, done func(error)) error
	Reap(min int) error
}

// Device is what a section is read from.
type Device struct {
	Reader Reader
	Size   int64 // in bytes
	// Align is what offsets and lengths of reads must be multiples of, a power
	// of two; 0 or 1 for none. Size must be one of its multiples.
	Align int
}

// Options say what to verify and how.
type Options struct {
	Data Device
	Log  *Device // of an external log; nil if there is none, or if it is not at hand
	// UUID is what the filesystem's must be; nil for any. A device that stores
	// nothing still has the one before.
	UUID *ondisk.UUID
	// Instead says what the data device holds, if that is known to be no XFS.
	// It is the one fault then, and nothing is read.
	Instead string
	// Live says that somebody may be writing to the filesystem, so that blocks
	// can be later than the log's head was when it was looked for.
	Live bool
	// Depth is how many requests the reader keeps in flight, at least 1.
	Depth int
	// MaxFaults is how many faults are told; all are counted. 0 for DefaultMaxFaults.
	MaxFaults int
	// Memory gives memory that is fit for reading into, and a function to
	// release it. nil for Go memory.
	Memory func(size int) (slab []byte, release func() error, err error)
	// Progress is called from time to time. It may be nil.
	Progress func(done, total int64)
}

// DefaultMaxFaults is enough to see a pattern.
const DefaultMaxFaults = 20

// Status is the outcome, and the exit status of the command.
type Status int

// The outcomes. A fault outweighs a dirty log.
const (
	Clean      Status = 0 // nothing wrong
	Faulty     Status = 1 // faults found; no XFS at all is one too
	Unreadable Status = 2 // an error of reading: Run returns it
	Dirty      Status = 3 // a log that wants replaying, and otherwise no faults
)

// String names the outcome.
func (s Status) String() string {
	return [...]string{"clean", "faults", "unreadable", "dirty log"}[s]
}

// LogState is what the log was found to be.
type LogState string

// The states of a log.
const (
	LogUnknown LogState = "not read" // external and not given, or nothing says where it is
	LogClean   LogState = "clean"
	LogDirty   LogState = "dirty"
	LogFaulty  LogState = "faulty"
)

// Fault is something that is wrong.
type Fault struct {
	AG        int64  `json:"ag"` // -1 for a log on its own device
	Structure string `json:"structure"`
	Offset    int64  `json:"offset"` // of the structure on its device, in bytes
	Message   string `json:"message"`
}

// String is the fault in a line.
func (f Fault) String() string {
	if f.AG < 0 {
		return fmt.Sprintf("%s: %s", f.Structure, f.Message)
	}
	return fmt.Sprintf("AG %d %s: %s", f.AG, f.Structure, f.Message)
}

// Sums are counted over all AGs.
type Sums struct {
	FreeBlocks uint64 `json:"free_blocks"` // in free extents, free lists and btrees that hold them
	Inodes     uint64 `json:"inodes"`
	FreeInodes uint64 `json:"free_inodes"`
}

// Report is what was found.
type Report struct {
	AGs      int64 // verified
	Log      LogState
	Sums     Sums
	Compared bool    // the sums, with the superblock
	Faults   []Fault // the first ones
	Count    int64   // of all faults
	max      int
}

// Status is the outcome of a run that could read everything.
func (r *Report) Status() Status {
	switch {
	case r.Count > 0:
		return Faulty
	case r.Log == LogDirty:
		return Dirty
	}
	return Clean
}

// Add adds a fault that something else has found.
func (r *Report) Add(f Fault) {
	r.Count++
	if len(r.Faults) < r.max {
		r.Faults = append(r.Faults, f)
	}
}

// Run verifies a filesystem. What is wrong with it is in the report; an error
// says that something could not be read, or that ctx ended, and then the
// report covers what came before. Nothing is in flight when it returns.
func Run(ctx context.Context, opts Options) (Report, error) {
	v := &verifier{Options: opts, report: Report{Log: LogUnknown, max: opts.MaxFaults}}
	if v.Depth < 1 {
		v.Depth = 1
	}
	if v.report.max == 0 {
		v.report.max = DefaultMaxFaults
	}
	if v.Memory == nil {
		v.Memory = goMemory
	}
	if v.Progress == nil {
		v.Progress = func(int64, int64) {}
	}
	err := v.run(ctx)
	return v.report, err
}

// goMemory is page-aligned, as all large Go memory is.
func goMemory(size int) ([]byte, func() error, error) {
	return make([]byte, max(size, 64<<10)), func() error { return nil }, nil
}

// verifier is a run.
type verifier struct {
	Options
	report Report
	fs     filesystem
}

func (v *verifier) run(ctx context.Context) error {
	ok, err := v.superblock()
	if err != nil || !ok {
		return err
	}
	if err := v.log(); err != nil {
		return err
	}
	ags, err := v.scan(ctx)
	v.report.AGs = int64(ags)
	if err != nil {
		return err
	}
	v.sums()
	return nil
}

// sums compares the sums over all AGs with the superblock. Without lazy
// counters it counts blocks of btrees differently.
func (v *verifier) sums() {
	fs, sums := &v.fs, &v.report.Sums
	if !fs.settled || !fs.Lazy || fs.uncounted || v.report.AGs != int64(fs.Geometry.AGCount) {
		return
	}
	v.report.Compared = true
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"free blocks", fs.SB.FreeBlocks, sums.FreeBlocks},
		{"inodes", fs.SB.InodeCount, sums.Inodes},
		{"free inodes", fs.SB.FreeInodes, sums.FreeInodes},
	} {
		if text := rule.Against(c.got, c.want, "the AGs have"); text != "" {
			v.fault(0, placeSuperblock, 0, c.name+" "+text)
		}
	}
}

func (v *verifier) fault(agno geometry.AGNumber, p place, off geometry.Bytes, message string) {
	v.report.Add(Fault{AG: int64(agno), Structure: p.String(), Offset: int64(off), Message: message})
}
