package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"
)

// addressSpace is how many bytes of address space every command can do with, as docs/limits.md
// says. The runtime of Go reserves most of it and uses little.
const addressSpace = 1 << 30

// checkAddressSpace refuses to begin where a limit might end the work half-way, which
// the runtime does with a trace and not with a message.
func checkAddressSpace() error {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || l.Cur >= addressSpace { // unlimited is the largest number
		return nil
	}
	return fmt.Errorf("the address space of this process is limited to %s (RLIMIT_AS; ulimit -v shows it), and %s are needed, most of it only reserved",
		humanize.IBytes(l.Cur), humanize.IBytes(addressSpace))
}
