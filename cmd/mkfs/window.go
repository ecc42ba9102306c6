package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"mkfs/internal/options"
	"mkfs/internal/target"
)

// windowFlags say which part of a target is meant.
type windowFlags struct {
	offset, length byteCount
	partition      partitionNumber
}

// partitionNumber is the value of an option; given tells 0 from none.
type partitionNumber struct {
	n     int
	given bool
}

func (p *partitionNumber) Set(text string) (err error) {
	p.n, err = strconv.Atoi(text)
	p.given = true
	return err
}
func (p *partitionNumber) String() string { return "" }
func (p *partitionNumber) Type() string   { return "number" }

// byteCount is the value of an option, in bytes; given tells 0 from none.
type byteCount struct {
	n     int64
	given bool
}

func (b *byteCount) Set(text string) (err error) {
	b.n, err = options.ParseBytes(text)
	b.given = true
	return err
}
func (b *byteCount) String() string { return "" }
func (b *byteCount) Type() string   { return "bytes" }

func (w *windowFlags) add(fs *pflag.FlagSet) {
	fs.Var(&w.partition, "partition", "use only this partition of a disk or disk image, as Linux counts")
	fs.Var(&w.offset, "offset", "use only what begins at this byte of the target")
	fs.Var(&w.length, "length", "use only so many bytes from --offset on; without it, all that follow")
}

// given tells whether only a part of the target is meant.
func (w *windowFlags) given() bool { return w.partition.given || w.offset.given || w.length.given }

// fault is what is wrong with the options by themselves.
func (w *windowFlags) fault() error {
	switch {
	case w.partition.given && w.partition.n < 1:
		return fmt.Errorf("--partition: %d; the first one is 1", w.partition.n)
	case w.partition.given && (w.offset.given || w.length.given):
		return errors.New("--partition: does not go together with --offset and --length")
	case w.length.given && !w.offset.given:
		return errors.New("--length: needs --offset")
	case w.length.given && w.length.n == 0:
		return errors.New("--length: 0 bytes are too few for anything")
	}
	return nil
}

// find looks for the part in a target, nil if all of it is meant. table is the
// partition table that the target has, if it has one and a part is meant.
func (w *windowFlags) find(path string) (part *target.Window, table *target.Table, err error) {
	if !w.given() {
		return nil, nil, nil
	}
	if err := w.fault(); err != nil {
		return nil, nil, usageError{err}
	}
	t, err := target.Open(path, target.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer t.Close() // nothing was written
	sector := 0     // an image does not tell that of the disk it goes to
	if t.Info().Kind == target.BlockDevice {
		sector = t.Info().LogicalSector
	}
	table, err = target.Partitions(t, t.Info().Size, sector)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	part = &target.Window{Offset: w.offset.n, Length: w.length.n}
	if w.partition.given {
		if part, err = findPartition(path, table, w.partition.n); err != nil {
			return nil, nil, err
		}
	}
	info, err := t.Info().Within(*part)
	if err != nil {
		return nil, nil, err
	}
	part.Length = info.Size
	return part, table, nil
}

func findPartition(path string, table *target.Table, number int) (*target.Window, error) {
	if table == nil {
		return nil, fmt.Errorf("--partition: %s has no partition table (GPT or DOS)", path)
	}
	p, found := table.Find(number)
	switch {
	case !found && len(table.Partitions) == 0:
		return nil, fmt.Errorf("--partition: %s has no partition %d, nor any other", path, number)
	case !found:
		var have string
		for i, p := range table.Partitions {
			if i > 0 {
				have += ", "
			}
			have += fmt.Sprint(p.Number)
		}
		return nil, fmt.Errorf("--partition: %s has no partition %d; there are %s", path, number, have)
	case p.Extended:
		return nil, fmt.Errorf("--partition: number %d of %s is an extended one, which only holds others", number, path)
	}
	return &p.Window, nil
}

// narrow makes the place a part of what it was. What would damage a partition
// table is refused, and without force also what crosses a partition's border.
func (p *place) narrow(w *windowFlags, force bool) error {
	if !w.given() {
		return nil
	}
	if p.sized || p.fresh {
		return usageError{errors.New("a part of a target cannot be made, emptied or grown: --size and -d file do not go with --partition and --offset")}
	}
	part, table, err := w.find(p.path)
	if err != nil {
		return err
	}
	if table != nil {
		p.info = p.info.AtLeast(table.Sector)
		err = p.checkBorders(*part, table, force)
	} else if !force {
		err = p.checkAround(*part)
	}
	if err != nil {
		return err
	}
	p.part = part
	p.info, err = p.info.Within(*part)
	return err
}

// checkAround refuses a part of what holds a filesystem, or something else, as a
// whole. What the part itself holds is told later.
func (p *place) checkAround(part target.Window) error {
	t, err := target.Open(p.path, target.Options{})
	if err != nil {
		return err
	}
	defer t.Close() // nothing was written
	found, err := target.Signatures(t, t.Info().Size)
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Offset < part.Offset || f.Offset >= part.Offset+part.Length {
			return fmt.Errorf("%s: %v are a part of what holds %s (at byte %d); -f overwrites them all the same", p.path, part, f.Name, f.Offset)
		}
	}
	return nil
}

// checkBorders looks at what a part has in common with a partition table.
func (p *place) checkBorders(part target.Window, table *target.Table, force bool) error {
	if s := int64(table.Sector); part.Offset%s != 0 || part.Length%s != 0 {
		return fmt.Errorf("%s: %v are no whole sectors of %d bytes, which its partition table counts in", p.path, part, s)
	}
	hint := ""
	for _, q := range table.Partitions {
		if q.Offset <= part.Offset && part.Offset < q.Offset+q.Length && !q.Extended {
			hint = fmt.Sprintf("; partition %d is %v", q.Number, q.Window)
		}
	}
	for _, own := range table.Own {
		if part.Overlaps(own) {
			return fmt.Errorf("%s: %v overlap its partition table, or a copy of it, at %v%s", p.path, part, own, hint)
		}
	}
	if force {
		return nil
	}
	for _, q := range table.Partitions {
		if part.Overlaps(q.Window) && !contains(q.Window, part) {
			return fmt.Errorf("%s: %v go over a border of partition %d, which is %v; -f uses them all the same", p.path, part, q.Number, q.Window)
		}
	}
	return nil
}

// contains tells whether b lies in a.
func contains(a, b target.Window) bool {
	return a.Offset <= b.Offset && b.Offset+b.Length <= a.Offset+a.Length
}
