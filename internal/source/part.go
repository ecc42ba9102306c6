package source

import (
	"errors"
	"fmt"

	"mkfs/internal/target"
)

// Number is a number that may not have been given, which is not the same as 0.
type Number struct {
	N     int64
	Given bool
}

// Part says which part of a disk or disk image is meant: a partition as Linux
// counts, or Length bytes from byte Offset on. All of the disk, if none is given.
type Part struct{ Partition, Offset, Length Number }

// Given tells whether only a part of the target is meant.
func (p *Part) Given() bool { return p.Partition.Given || p.Offset.Given || p.Length.Given }

// Fault is what is wrong with the options by themselves.
func (p *Part) Fault() error {
	switch {
	case p.Partition.Given && p.Partition.N < 1:
		return fmt.Errorf("--partition: %d; the first one is 1", p.Partition.N)
	case p.Partition.Given && (p.Offset.Given || p.Length.Given):
		return errors.New("--partition: does not go together with --offset and --length")
	case p.Length.Given && !p.Offset.Given:
		return errors.New("--length: needs --offset")
	case p.Length.Given && p.Length.N == 0:
		return errors.New("--length: 0 bytes are too few for anything")
	}
	return nil
}

// Find looks for the part in a target, nil if all of it is meant. table is the
// partition table that the target has, if it has one and a part is meant.
func (p *Part) Find(path string) (part *target.Window, table *target.Table, err error) {
	if !p.Given() {
		return nil, nil, nil
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
	part = &target.Window{Offset: p.Offset.N, Length: p.Length.N}
	if p.Partition.Given {
		if part, err = findPartition(path, table, int(p.Partition.N)); err != nil {
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
	q, found := table.Find(number)
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
	case q.Extended:
		return nil, fmt.Errorf("--partition: number %d of %s is an extended one, which only holds others", number, path)
	}
	return &q.Window, nil
}
