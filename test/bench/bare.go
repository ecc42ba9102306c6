package main

import (
	"flag"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bareLoop writes the same bytes at a fixed distance, one after the other, and
// flushes: the least that a program without asynchronous IO can do.
func bareLoop(args []string) error {
	fs := flag.NewFlagSet("bare", flag.ExitOnError)
	content := fs.String("content", "", "file with the bytes")
	count := fs.Int64("count", 0, "how often")
	stride := fs.Int64("stride", 0, "distance in bytes")
	direct := fs.Bool("direct", false, "by way of O_DIRECT")
	fs.Parse(args)
	if fs.NArg() != 1 {
		return fmt.Errorf("one file, please")
	}
	bytes, err := os.ReadFile(*content)
	if err != nil {
		return err
	}
	memory := make([]byte, len(bytes)+4096)
	pad := int(-uintptr(unsafe.Pointer(&memory[0])) % 4096)
	aligned := memory[pad:][:copy(memory[pad:], bytes)]
	flags := unix.O_WRONLY
	if *direct {
		flags |= unix.O_DIRECT
	}
	fd, err := unix.Open(fs.Arg(0), flags, 0)
	if err != nil {
		return err
	}
	for i := range *count {
		if n, err := unix.Pwrite(fd, aligned, i**stride); err != nil || n < len(aligned) {
			return fmt.Errorf("write %d: %d bytes, %v", i, n, err)
		}
	}
	return unix.Fsync(fd)
}
