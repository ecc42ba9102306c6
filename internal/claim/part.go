package claim

import (
	"errors"
	"fmt"

	"mkfs/internal/source"
	"mkfs/internal/target"
)

// Narrow makes the target a part of what it was. What would damage a partition
// table is refused, and without force also what crosses a partition's border.
func (p *Claim) Narrow(part *source.Part, force bool) error {
	if !part.Given() {
		return nil
	}
	if p.sized || p.Fresh {
		return UsageError{errors.New("a part of a target cannot be made, emptied or grown: --size and -d file do not " +
			"go with --partition and --offset")}
	}
	window, table, err := part.Find(p.Path)
	if err != nil {
		return err
	}
	if table != nil {
		p.Info = p.Info.AtLeast(table.Sector)
		err = p.checkBorders(*window, table, force)
	} else if !force {
		err = p.checkAround(*window)
	}
	if err != nil {
		return err
	}
	p.Part = window
	p.Info, err = p.Info.Within(*window)
	return err
}

// checkAround refuses a part of what holds a filesystem, or something else, as a
// whole. What the part itself holds is told later.
func (p *Claim) checkAround(part target.Window) error {
	t, err := target.Open(p.Path, target.Options{})
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
			return fmt.Errorf("%s: %v are a part of what holds %s (at byte %d); -f overwrites them all the same", p.Path,
				part, f.Name, f.Offset)
		}
	}
	return nil
}

// checkBorders looks at what a part has in common with a partition table.
func (p *Claim) checkBorders(part target.Window, table *target.Table, force bool) error {
	if s := int64(table.Sector); part.Offset%s != 0 || part.Length%s != 0 {
		return fmt.Errorf("%s: %v are no whole sectors of %d bytes, which its partition table counts in", p.Path, part, s)
	}
	hint := ""
	for _, q := range table.Partitions {
		if q.Offset <= part.Offset && part.Offset < q.Offset+q.Length && !q.Extended {
			hint = fmt.Sprintf("; partition %d is %v", q.Number, q.Window)
		}
	}
	for _, own := range table.Own {
		if part.Overlaps(own) {
			return fmt.Errorf("%s: %v overlap its partition table, or a copy of it, at %v%s", p.Path, part, own, hint)
		}
	}
	if force {
		return nil
	}
	for _, q := range table.Partitions {
		if part.Overlaps(q.Window) && !contains(q.Window, part) {
			return fmt.Errorf("%s: %v go over a border of partition %d, which is %v; -f uses them all the same", p.Path, part,
				q.Number, q.Window)
		}
	}
	return nil
}

// contains tells whether b lies in a.
func contains(a, b target.Window) bool {
	return a.Offset <= b.Offset && b.Offset+b.Length <= a.Offset+a.Length
}
