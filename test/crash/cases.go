package main

import "fmt"

// crash is a case: a filesystem, what happens in it, and how that ends.
type crash struct {
	name   string
	mkfs   string // options
	preset string // a file of options, in the -conf folder
	size   int64  // MiB
	log    int64  // MiB of an external log, if there is one
	sector int    // of the loop devices; 512 if not given
	mount  string // options
	// Names of workloads, see there; "crash" shuts down and mounts again.
	work  string
	flush bool   // the log is flushed when it is shut down
	torn  string // how the log is damaged after that, see damages
	exit  int    // what mkfs recover must say; always is that it depends
	quick bool
	// The kernel's own recovery may fail: it writes the parts of a folder's
	// block that are not side by side as if each was a block.
	fragile bool

	number int // in the table
}

func (c crash) String() string {
	return fmt.Sprintf("%s: mkfs %s %s, %d MiB, work: %s", c.name, c.mkfs, c.preset, c.size, c.work)
}
