// Package against compares the files of a filesystem with a tree that they are to be.
//
// The tree's source is gone through once. Of each entry it is looked whether its directory has the
// name, and whether that leads to an inode that is what the entry says:
//
//	the inode      type, permissions, owner, device, length, times, number of links (fields.go)
//	contents       data with holes, blocks that are reserved, target of a symbolic link (content.go)
//	attributes     all that the entry has and none more; the parent pointer of the name (attributes.go)
//	links          names of one file lead to one inode, others to others (links.go)
//
// A directory is gone through when all entries in it have come: it is to have no others (folder.go). In the
// end each inode that is in use is to have been seen (inodes.go).
//
// Data goes past the cache of metadata: blocks are read with many requests in flight while the source
// is read, and compared when they come (data.go). Memory is bounded, but for a table of files
// that have several names.
//
// What is damaged is a difference, with structure and place, and the rest goes on.
package against

import (
	"context"
	"errors"
	"io"

	"mkfs/internal/attr"
	"mkfs/internal/dir"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/tree"
)

// Reader reads the data section; aio.Ring is one.
type Reader interface {
	// Read fills vec from a byte on. done is called by a later call.
	Read(off int64, vec [][]byte, done func(error)) error
	// Reap waits for so many requests at least, or all. Its error is the first of any request.
	Reap(least int) error
}

// Job is a comparison.
type Job struct {
	FS     *live.FS // that has a clean log, and that nobody changes
	Super  *ondisk.Superblock
	Ring   Reader // of the data section, the one that the cache of FS is on
	Source tree.Source
	// AccessTimes: times of access count, as far as the source gives them.
	AccessTimes bool
	// Tell is told of differences, MostTold of them at most, 0 for DefaultTold; all are counted. It may be nil.
	Tell     func(Difference)
	MostTold int64
	// Progress is told of each entry that was looked at, and of much data. It may be nil.
	Progress func(*Counts)
	// Memory gives memory that is fit for reading into, and a function to release it; nil for memory
	// of the heap.
	Memory func(size int) (slab []byte, release func() error, err error)
}

// DefaultTold is enough to see a pattern.
const DefaultTold = 20

// Counts are what was compared.
type Counts struct {
	Entries     int64 `json:"entries"` // names of the source, with the root
	Directories int64 `json:"directories"`
	Files       int64 `json:"files"`
	Links       int64 `json:"links"` // further names of files
	Symlinks    int64 `json:"symlinks"`
	Others      int64 `json:"others"` // devices, FIFOs and sockets
	Attributes  int64 `json:"attributes"`
	Bytes       int64 `json:"bytes"`       // of data that were read from the filesystem
	Skipped     int64 `json:"skipped"`     // entries whose directory is not there
	Differences int64 `json:"differences"` // all, whether they were told or not
}

// Difference is something that is not as in the source, or is damaged.
type Difference struct {
	Path  string `json:"path"`            // from the root of the filesystem on; "" for the filesystem
	What  string `json:"what"`            // of the file; "" for the file itself
	Want  string `json:"source"`          // "" for nothing
	Got   string `json:"filesystem"`      // "" for nothing
	Fault string `json:"fault,omitempty"` // what is wrong whatever the source has
}

// String is the difference in a line.
func (d Difference) String() string {
	text, want := legible(d.Path), d.Want+" in the source"
	if text != "" && d.What != "" {
		text += ": "
	}
	text += d.What
	switch {
	case d.Fault != "":
		return text + ": " + d.Fault
	case d.Got == "":
		return text + " is missing, " + want
	case d.Want == "":
		want = "not in the source"
	}
	return text + " is " + d.Got + ", " + want
}

// Compare compares. What differs is told and counted; an error says that something could not be read,
// the source included, or that ctx ended. Nothing is in flight when it returns.
func Compare(ctx context.Context, job Job) (Counts, error) {
	c := &comparer{Job: job, ctx: ctx, dirs: dir.New(job.FS), attrs: attr.New(job.FS, nil), links: newLinks()}
	if c.MostTold == 0 {
		c.MostTold = DefaultTold
	}
	if err := c.data.open(c); err != nil {
		return c.counts, err
	}
	err := c.run()
	return c.counts, errors.Join(err, c.data.close())
}

// comparer is a comparison that runs.
type comparer struct {
	Job
	ctx     context.Context
	t       *live.Trans // of the step that runs
	dirs    *dir.Dirs
	attrs   *attr.FS
	folders []folder // from the root to the directory of the entry
	links   links
	seen    set  // inodes
	blind   bool // some names could not be read: what they lead to was not seen
	data    data
	found   []bool // attributes of an entry
	counts  Counts
}

// run does all of it.
func (c *comparer) run() error {
	if err := c.step(c.metadata); err != nil {
		return err
	}
	for {
		if err := c.stopped(); err != nil {
			return err
		}
		e, err := c.Source.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := c.step(func() error { return c.entry(e) }); err != nil {
			return err
		}
		c.counts.Entries++
		c.progress()
	}
	if c.counts.Entries == 0 {
		return errors.New("the source has no root")
	}
	for len(c.folders) > 0 {
		if err := c.step(c.leave); err != nil {
			return err
		}
	}
	if err := c.data.finish(); err != nil {
		return err
	}
	c.checkLinks()
	return c.checkInodes()
}

// step does something in a transaction, which holds the blocks that it looks at.
func (c *comparer) step(do func() error) error {
	c.t = c.FS.Begin(0)
	err := do()
	return errors.Join(err, c.t.Commit())
}

func (c *comparer) progress() {
	if c.Progress != nil {
		c.Progress(&c.counts)
	}
}

// renew lets go of the blocks that the step holds.
func (c *comparer) renew() error {
	err := c.t.Commit()
	c.t = c.FS.Begin(0)
	return errors.Join(err, c.stopped())
}

// stopped is why ctx has ended, or nil.
func (c *comparer) stopped() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return context.Cause(c.ctx)
}

// tell counts a difference, and tells it if there were not too many.
func (c *comparer) tell(d Difference) {
	if c.counts.Differences++; c.Tell != nil && c.counts.Differences <= c.MostTold {
		c.Tell(d)
	}
}

// alive is an error after which nothing can be read any more, or nil.
func (c *comparer) alive(err error) error {
	if broken := c.Ring.Reap(0); broken != nil {
		return err
	}
	return nil
}

// damaged makes a difference of an error in the filesystem, after which it goes on.
func (c *comparer) damaged(path, what string, err error) error {
	if err := c.alive(err); err != nil {
		return err
	}
	c.tell(Difference{Path: path, What: what, Fault: err.Error()})
	return nil
}
