package target

import (
	"fmt"
	"io"
	"strings"
)

// Held is what a target holds, for somebody who looks for an XFS at its start.
type Held struct {
	// XFS is set if there is one, by its magic number. Then all else is empty.
	XFS bool
	// What says what it is instead: "it is a qcow2 disk image".
	What string
	// Advice says how to get to the filesystem; "" if nothing is known.
	Advice string
	// Partitions are those of a disk that begin with an XFS.
	Partitions []Partition
}

// String is what it is, and what to do.
func (h Held) String() string {
	if h.Advice == "" {
		return h.What
	}
	return h.What + "; " + h.Advice
}

// xfsMagic begins an XFS.
const xfsMagic = "XFSB"

// Holds looks at what the target holds. An error is one of reading.
func (t *Target) Holds() (Held, error) { return holds(t, t.info, t.Blank()) }

// holds is Holds of what in describes; blank says that it is known to be nothing but a hole.
func holds(r io.ReaderAt, in Info, blank bool) (Held, error) {
	v := newView(r, in.Size)
	if v.is(0, xfsMagic) || v.err != nil {
		return Held{XFS: v.err == nil}, v.err
	}
	if what := nothing(v, blank); what != "" {
		return Held{What: what}, nil
	}
	if c := firstOf(contents, v); c != nil {
		return c.held(), nil
	}
	if v.err != nil {
		return Held{}, v.err
	}
	found, err := Signatures(r, in.Size)
	if c := firstOf(texts, v); err == nil && len(found) == 0 && c != nil {
		return c.held(), nil
	}
	if err == nil && len(found) == 0 && in.Size < 512 {
		return Held{What: fmt.Sprintf("it has only %d bytes", in.Size)}, nil
	}
	if err != nil || len(found) == 0 {
		return Held{What: fmt.Sprintf("it begins with %x, which is of no known format", v.at(0, min(16, in.Size)))}, err
	}
	s := found[0]
	if s.PartitionTable {
		return holdsTable(r, in, s.Name)
	}
	return describeSignature(s), nil
}

// nothing says of what kind the nothing is that a target holds; "" if there is something.
func nothing(v *view, blank bool) string {
	const start = 128 * kib // most formats have something there
	n := min(start, v.size)
	switch {
	case v.size == 0:
		return "it is empty: it has 0 bytes"
	case blank:
		return fmt.Sprintf("it is a hole of %d bytes: nothing was ever written to it", v.size)
	case !isZero(v.at(0, n)) || v.err != nil:
		return ""
	}
	if found, err := Signatures(v.r, v.size); err != nil || len(found) > 0 {
		return "" // some formats are at the end
	}
	return fmt.Sprintf("its first %d bytes are zeros, and no other format is found on it", n)
}

// holdsTable describes a disk with a partition table of a kind.
func holdsTable(r io.ReaderAt, in Info, kind string) (Held, error) {
	h := Held{What: "it is a disk with a partition table (" + kind + ")"}
	sector := 0 // an image does not tell that of the disk it goes to
	if in.Kind == BlockDevice {
		sector = in.LogicalSector
	}
	table, err := Partitions(r, in.Size, sector)
	switch {
	case err != nil:
		return h, err
	case table == nil && kind == "PMBR":
		h.What = "it is a disk with a GPT that is damaged or cut short"
		h.Advice = "--offset names the byte at which the filesystem begins"
		return h, nil
	case table == nil:
		h.Advice = "--offset and --length name the part that holds the filesystem, in bytes"
		return h, nil
	}
	h.What = "it is a disk with a " + tableNames[table.Kind]
	var others []string
	for _, p := range table.Partitions {
		what, err := inPartition(r, in.Size, p)
		if err != nil {
			return h, err
		}
		if what == "xfs" {
			h.Partitions = append(h.Partitions, p)
		} else if what != "" {
			others = append(others, fmt.Sprintf("partition %d %s", p.Number, what))
		}
	}
	h.Advice = chooseAdvice(in, h.Partitions, table, others)
	return h, nil
}

// tableNames are the names of Table.Kind.
var tableNames = map[string]string{"gpt": "GPT", "dos": "DOS partition table (MBR)"}

// inPartition names what a partition holds: "xfs" by its magic number, else as
// Signature.Name; "" for nothing known, or one that does not lie on the disk.
func inPartition(disk io.ReaderAt, size int64, p Partition) (string, error) {
	if p.Extended || p.Offset < 0 || p.Length <= 0 || p.Offset > size-p.Length {
		return "", nil
	}
	r := io.NewSectionReader(disk, p.Offset, p.Length)
	if v := newView(r, p.Length); v.is(0, xfsMagic) {
		return "xfs", nil
	}
	found, err := Signatures(r, p.Length)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].Name, nil
}

// chooseAdvice names the option that gives one of the partitions with an XFS.
// Of a part of a disk only bytes can be given.
func chooseAdvice(in Info, xfs []Partition, table *Table, others []string) string {
	if len(xfs) == 0 {
		text := fmt.Sprintf("none of its %d partitions begins with an XFS", len(table.Partitions))
		if len(table.Partitions) == 0 {
			text = "it has no partitions"
		}
		if len(others) > 0 {
			text += " (" + strings.Join(others, ", ") + ")"
		}
		return text
	}
	var numbers, options []string
	for _, p := range xfs {
		numbers = append(numbers, fmt.Sprint(p.Number))
		if in.Part {
			options = append(options, fmt.Sprintf("--offset %d --length %d", in.Offset+p.Offset, p.Length))
		} else {
			options = append(options, fmt.Sprintf("--partition %d", p.Number))
		}
	}
	if len(xfs) == 1 {
		return fmt.Sprintf("partition %s holds an XFS: %s", numbers[0], options[0])
	}
	return fmt.Sprintf("partitions %s hold an XFS each: choose one with %s", oneOf(numbers, " and "), oneOf(options,
		" or "))
}

// oneOf lists words, with another separator before the last one.
func oneOf(words []string, last string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + last + words[n]
}
