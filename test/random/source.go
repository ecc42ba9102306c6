package main

import (
	"fmt"
	"io"
)

// source is what a filesystem is filled with: the argument of -p.
type source interface {
	// arg is the argument, as it is given in a folder beside that of the source.
	arg() string
	// ready makes the source in a folder, or puts back what the last reading changed.
	ready(dir string) error
	// parts is how many parts there are that can be left away, and without makes the source without
	// some of them: those whose place in the list is not kept.
	parts() int
	without(keep func(i int) bool) source
	// describe tells what the source is, a line for each file, but for those of large ones.
	describe(w io.Writer)
}

// sourceDir is the folder of the source, beside those that programs run in.
const sourceDir = "source"

// described is how many files are.
const described = 40

// shrinkSource leaves away parts of the source, many at once first, while try finds that the
// difference stays.
func shrinkSource(s source, try func(source) bool) {
	const patience = 200
	tries := 0
	for step := max(1, s.parts()/2); tries < patience; step /= 2 {
		for from := 0; from < s.parts() && tries < patience; tries++ {
			smaller := s.without(func(i int) bool { return i < from || i >= from+step })
			if smaller.parts() < s.parts() && try(smaller) {
				s = smaller
			} else {
				from += step
			}
		}
		if step <= 1 {
			return
		}
	}
}

// option is a suboption of -p that is on or off.
func option(name string, on bool) string {
	if !on {
		return ""
	}
	return fmt.Sprintf(",%s=1", name)
}
