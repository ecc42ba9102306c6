package main

import (
	"fmt"
	"io"

	"mkfs/internal/target"
)

// located is where a filesystem that is to be read lies.
type located struct {
	part *target.Window // nil for all of the target
	// partition is the number of the one that was chosen, by --partition or
	// as the only one with an XFS; 0 for none.
	partition int
	// instead says what is there and what to do, if it does not begin as an XFS does.
	instead string
}

// locate looks for the filesystem that is meant. If the target is a disk of
// which exactly one partition holds an XFS then sole takes that; it is told
// that it was taken. Without sole, or in any other case, instead is set.
func (w *windowFlags) locate(path string, sole func(note string)) (at located, err error) {
	if at.part, _, err = w.find(path); err != nil {
		return at, err
	}
	at.partition = w.partition.n
	t, err := target.Open(path, target.Options{Window: at.part})
	if err != nil {
		return at, err
	}
	defer t.Close() // nothing was written
	h, err := t.Holds()
	switch {
	case err != nil || h.XFS: // what cannot be read is told by who reads it next
	case len(h.Partitions) == 1 && at.part == nil && sole != nil:
		p := h.Partitions[0]
		at.part, at.partition = &p.Window, p.Number
		sole(fmt.Sprintf("%s, and partition %d is the only one that holds an XFS: it is read (--partition %d)", h.What, p.Number, p.Number))
	default:
		at.instead = h.String()
		if w.partition.given {
			at.instead = fmt.Sprintf("partition %d: %s", w.partition.n, at.instead)
		}
	}
	return at, nil
}

// noteTo prints notes about a target.
func noteTo(w io.Writer, name, path string) func(note string) {
	return func(note string) { fmt.Fprintf(w, "%s: %s: %s\n", name, path, note) }
}
