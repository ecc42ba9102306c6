package source

import (
	"fmt"

	"mkfs/internal/target"
)

// Located is where a filesystem that is to be read lies.
type Located struct {
	Part *target.Window // nil for all of the target
	// Partition is the number of the one that was chosen, by --partition or
	// as the only one with an XFS; 0 for none.
	Partition int
	// Instead says what is there and what to do, if it does not begin as an XFS does.
	Instead string
}

// Locate looks for the filesystem that is meant. If the target is a disk of
// which exactly one partition holds an XFS then sole takes that; it is told
// that it was taken. Without sole, or in any other case, Instead is set.
func (p *Part) Locate(path string, sole func(note string)) (at Located, err error) {
	if at.Part, _, err = p.Find(path); err != nil {
		return at, err
	}
	at.Partition = int(p.Partition.N)
	t, err := target.Open(path, target.Options{Window: at.Part})
	if err != nil {
		return at, err
	}
	defer t.Close() // nothing was written
	h, err := t.Holds()
	switch {
	case err != nil || h.XFS: // what cannot be read is told by who reads it next
	case len(h.Partitions) == 1 && at.Part == nil && sole != nil:
		only := h.Partitions[0]
		at.Part, at.Partition = &only.Window, only.Number
		sole(fmt.Sprintf("%s, and partition %d is the only one that holds an XFS: it is read (--partition %d)", h.What,
			only.Number, only.Number))
	default:
		at.Instead = h.String()
		if p.Partition.Given {
			at.Instead = fmt.Sprintf("partition %d: %s", p.Partition.N, at.Instead)
		}
	}
	return at, nil
}
