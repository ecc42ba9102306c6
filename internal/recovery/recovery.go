// Package recovery replays the log of an XFS filesystem that was not
// unmounted, without mounting it.
//
//	log ──> records ──> transactions ──> items ──> blocks ──> delayed-write list
//	 xlog     checked     pass 1: cancelled    read ahead        sorted, merged
//	                      pass 2: replayed
//
// # Passes
//
// The log is read three times from its tail to its head. Find checks all
// checksums. The first pass notes which blocks were freed: what was logged of
// them before is void. The second replays, transaction by transaction in the
// order in which they were committed.
//
// # Read-ahead
//
// Replaying is one thing after the other, and each wants a block from disk.
// So the items of committed transactions wait in a queue while the blocks of
// those behind them are being read, as many as the ring keeps in flight. A
// block is read once, and shared by all items that touch it.
//
// # Writing
//
// Blocks that were changed are written when memory is short, and in the end:
// sorted, and neighbours together. At the end of a checkpoint each V5 block it
// has changed is stamped with its number (LSN), and a block with the number of
// a checkpoint or a later one is not replayed again. So whatever has been
// written when a run ends early, the next run, or the kernel, comes to the
// same result: what was written before a checkpoint's end bears the number of
// the one before.
//
// # Afterwards
//
// Some work can only be finished by who can allocate and free: intents without
// their done items, inodes that were unlinked but open, space that was set
// aside for copies on write. If there is any, the log stays as it is, dirty:
// the kernel will replay it again, which changes nothing, and finish. If there
// is none the counters of the superblock are summed up, and a record is put at
// the log's head that says the filesystem was unmounted.
package recovery

import (
	"context"
	"errors"
	"fmt"

	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/super"
	"mkfs/internal/xlog"
)

// Ring is the part of a ring that recovery needs. It reads and writes one
// device.
type Ring interface {
	delwri.Writer
	Read(off int64, vec [][]byte, done func(error)) error
	Sync() error
}

// Device is what a section is read from and written to.
type Device struct {
	Name string
	Ring Ring
	Size int64 // in bytes
	// Align is what offsets and lengths of requests must be multiples of: no
	// more than a sector of the filesystem.
	Align int
}

// Options say what to recover and how.
type Options struct {
	Data Device
	Log  *Device // of an external log
	// DryRun does all but writing. What is changed is kept in memory.
	DryRun bool
	// MayWrite is asked before anything is written, if anything has to be; an
	// error refuses it. It may be nil.
	MayWrite func() error
	// Look is called at the end of a dry run, with what the filesystem would be,
	// also if the log is clean. Nothing is in flight then. It may be nil.
	Look func(*View) error
	// UUID is given to the filesystem once its log is clean; nil for none.
	UUID *ondisk.UUID
	// Depth is how many blocks are being read at once, at least 1.
	Depth int
	// Limit bounds the memory of blocks, in bytes; 0 for DefaultLimit.
	Limit int64
	// Memory gives memory that is fit for IO, and a function to release it.
	Memory func(size int) (slab []byte, release func() error, err error)
	// Progress is told how much of the log has been gone through, in bytes. It
	// may be nil.
	Progress func(done, total int64)
}

// DefaultLimit is enough for the blocks of any checkpoint that a kernel writes
// in usual use.
const DefaultLimit = 512 << 20

// Errors that say why a filesystem cannot be recovered. Others are of IO.
var (
	// ErrRefused is wrapped by what is told of a filesystem that is not to be touched.
	ErrRefused = errors.New("cannot be recovered")
	// ErrTooLarge says that a dry run cannot keep in memory what a real one would write.
	ErrTooLarge = errors.New("too much for a dry run")
)

// corrupt is an error about a place in the log.
func corrupt(block int, format string, args ...any) error {
	return &xlog.Corrupt{Block: block, Reason: fmt.Sprintf(format, args...)}
}

// Stats counts what was done.
type Stats struct {
	Records      int64            `json:"records"`
	Transactions int64            `json:"transactions"`
	Items        map[string]int64 `json:"items"`     // by type
	Skipped      int64            `json:"skipped"`   // of those: on disk already
	Cancelled    int64            `json:"cancelled"` // of those: of blocks that were freed later
	Reads        int64            `json:"reads"`
	Written      int64            `json:"written"` // blocks
}

// Remains is work that only the kernel can finish.
type Remains struct {
	Intents  map[string]int64 `json:"intents"`         // by kind of work
	Unlinked int64            `json:"unlinked_inodes"` // deleted, but not freed
	Staging  int64            `json:"staging_extents"` // set aside for copies on write
}

// None tells whether there is no such work.
func (r *Remains) None() bool { return len(r.Intents) == 0 && r.Unlinked == 0 && r.Staging == 0 }

// Report is what was found and done.
type Report struct {
	Log     xlog.State
	Stats   Stats
	Remains Remains
	// Finished says that the log is clean now, or in a dry run would be.
	Finished bool
	// Renamed says that the filesystem has got Options.UUID.
	Renamed bool
}

// Run recovers a filesystem. Errors other than of IO wrap ErrRefused,
// xlog.ErrForeign or an *xlog.Corrupt; then nothing has been written, or what
// has been is what the kernel would have replayed too. Nothing is in flight
// when it returns.
func Run(ctx context.Context, opts Options) (Report, error) {
	opts.Depth = max(1, opts.Depth)
	if opts.Limit == 0 {
		opts.Limit = DefaultLimit
	}
	if opts.Progress == nil {
		opts.Progress = func(int64, int64) {}
	}
	r := &recoverer{Options: opts, ctx: ctx}
	err := r.run()
	r.report.Stats = r.cache.counts()
	if e := r.release(); err == nil {
		err = e
	}
	return r.report, err
}

// recoverer is a run.
type recoverer struct {
	Options
	ctx    context.Context
	fs     *super.Filesystem
	cache  *blocks
	log    *xlog.Log
	reader *logReader
	report Report
}

func (r *recoverer) run() error {
	r.cache = newBlocks(&r.Options, r.agOf)
	if err := r.superblock(); err != nil {
		return err
	}
	if err := r.openLog(); err != nil {
		return err
	}
	state, err := r.log.Find()
	r.report.Log = state
	if err != nil {
		return err
	}
	if state.Empty && r.Log != nil {
		return fmt.Errorf("%w: %s holds no log: nothing was ever written there", ErrRefused, r.Log.Name)
	}
	if text := r.fs.AheadOfLog(state.HeadLSN()); text != "" {
		return fmt.Errorf("%w: superblock: %s", ErrRefused, text)
	}
	if changes := !state.Clean || state.Dropped > 0 || r.UUID != nil; changes && !r.DryRun && r.MayWrite != nil {
		if err := r.MayWrite(); err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	work := r.replayDirty
	if r.report.Finished = state.Clean; state.Clean {
		work = r.clearDropped
	}
	if err := work(); err != nil {
		return err
	}
	if err := r.look(); err != nil {
		return err
	}
	if r.UUID == nil || r.DryRun || !r.report.Finished {
		return nil
	}
	if *r.UUID == r.fs.SB.UUID && r.report.Log.LastUUID == *r.UUID {
		return nil
	}
	return r.rename()
}

// replayDirty replays the log and makes it clean.
func (r *recoverer) replayDirty() error {
	if err := r.checkDirty(); err != nil {
		return err
	}
	if err := r.replay(); err != nil {
		return err
	}
	return r.finish()
}

// clearDropped takes what is left of damaged records away from behind the head of
// a log that is clean up to there. As they are, programs that go by the cycle
// numbers of blocks find another head, and no clean log. The kernel does it when
// it mounts.
func (r *recoverer) clearDropped() error {
	if r.report.Log.Dropped == 0 {
		return nil
	}
	if err := r.checkAGs(); err != nil || r.DryRun {
		return err
	}
	if err := r.writeLog(r.log.Stale(&r.report.Log)); err != nil {
		return err
	}
	return r.flush()
}

// checkAGs looks whether headers of AGs have changes that the log has not: of
// records that are dropped.
func (r *recoverer) checkAGs() error {
	return r.eachAG(func(geometry.AGNumber, *ondisk.AGF, *ondisk.AGI) error { return nil })
}

// release waits for everything in flight and gives memory back.
func (r *recoverer) release() error {
	const all = 1 << 30
	r.Data.Ring.Reap(all) // what it fails with has been said, or is of no interest any more
	if r.Log != nil {
		r.Log.Ring.Reap(all)
	}
	var errs []error
	if r.reader != nil {
		errs = append(errs, r.reader.release())
	}
	return errors.Join(append(errs, r.cache.Release())...)
}

// superblock reads the primary superblock.
func (r *recoverer) superblock() error {
	n := min(super.ReadSize, int(r.Data.Size))
	if n = n &^ (max(1, r.Data.Align) - 1); n == 0 {
		return fmt.Errorf("%w: no XFS: there are only %d bytes", ErrRefused, r.Data.Size)
	}
	b, err := r.cache.get(0, n)
	if err != nil {
		return fmt.Errorf("superblock: %w", err)
	}
	if r.fs, err = readSuperblock(b.Data, r.Data.Size); err != nil {
		return err
	}
	r.cache.letGo()
	r.cache.Forget(0, int64(n)) // its sector is a block of its own
	return nil
}

// agOf is the AG of a byte.
func (r *recoverer) agOf(off int64) int64 {
	if r.fs == nil {
		return -1
	}
	g := &r.fs.Geometry
	return off / int64(g.Bytes(g.AGBlocks))
}

func readSuperblock(b []byte, size int64) (*super.Filesystem, error) {
	var wrong []error
	fs := super.Read(b, size, func(message string) {
		wrong = append(wrong, fmt.Errorf("%w: superblock: %s", ErrRefused, message))
	})
	return fs, errors.Join(wrong...)
}

// openLog finds the log's place.
func (r *recoverer) openLog() error {
	dev, base, size := &r.Data, int64(0), int64(r.fs.LogSize())
	if r.fs.SB.LogStart == 0 {
		if r.Log == nil {
			return fmt.Errorf("%w: its log is on a device of its own; --logdev names it", ErrRefused)
		}
		dev = r.Log
	} else {
		if r.Log != nil {
			return fmt.Errorf("%w: its log is within the filesystem, not on a device of its own", ErrRefused)
		}
		at, _ := r.fs.InternalLog()
		base = int64(at)
	}
	if base+size > dev.Size {
		return fmt.Errorf("%w: the log has %d bytes, its device %d", ErrRefused, size, dev.Size)
	}
	r.reader = newLogReader(dev, base, size, r.Memory)
	r.log = xlog.New(r.reader, r.fs.Log())
	return nil
}

// checkDirty refuses a log with items of a kind that we do not know.
func (r *recoverer) checkDirty() error {
	if unknown := r.fs.SB.LogIncompat &^ knownLogFeatures; r.fs.V5 && unknown != 0 {
		return fmt.Errorf("%w: superblock: log features %#x, of which %#x are unknown", ErrRefused, r.fs.SB.LogIncompat,
			unknown)
	}
	return nil
}

// knownLogFeatures are the bits of features that only the log has: attributes
// that are changed by intents.
const knownLogFeatures = 1
