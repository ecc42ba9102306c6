package claim

import (
	"fmt"

	"mkfs/internal/aio"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/target"
)

// Opened are targets that can be written.
type Opened struct {
	Data, Log, RT format.Device
	Direct        bool             // the data device is written past the page cache
	Targets       []*target.Target // data first
	sizes         []int64          // that they had
}

// Open opens the targets and gives files their size. Nothing that a target
// held is lost before all of them are known to open and to become as large as
// they must, and before has looked at them and at the sizes they will have.
func (p *Claims) Open(g *geometry.Geometry, direct bool, ring aio.Config, before func(list []*target.Target,
	sizes []int64) error) (_ *Opened, err error) {
	o := &Opened{}
	defer func() {
		if err != nil {
			o.undo()
		}
	}()
	all := p.All()
	for _, at := range all {
		if err := o.add(at, sectorFor(g, at.role), direct); err != nil {
			return nil, err
		}
	}
	for i, t := range o.Targets {
		for j, other := range o.Targets[:i] {
			if target.Overlap(t.Info(), other.Info()) {
				return nil, errOneTarget(all[j], all[i])
			}
		}
	}
	sizes := make([]int64, len(all))
	for i, at := range all {
		sizes[i] = sizeFor(g, at.role)
	}
	final := p.finalSizes(o.Targets, sizes)
	for i, t := range o.Targets {
		if err := t.CheckLength(final[i]); err != nil {
			return nil, err
		}
	}
	if err := before(o.Targets, final); err != nil {
		return nil, err
	}
	for i, t := range o.Targets {
		if t.Info().Kind == target.File && t.Info().Size < sizes[i] {
			if err := t.Grow(sizes[i]); err != nil {
				return nil, err
			}
		}
	}
	for i, at := range all {
		if !at.Fresh {
			continue
		}
		if err := o.Targets[i].Truncate(0); err != nil {
			return nil, err
		}
		if err := o.Targets[i].Grow(sizes[i]); err != nil {
			return nil, err
		}
	}
	o.Direct, _ = o.Targets[0].DirectIO()
	devices := [...]*format.Device{forData: &o.Data, forLog: &o.Log, forRealtime: &o.RT}
	for i, at := range all {
		t := o.Targets[i]
		*devices[at.role] = format.On(t, usable(t, sectorFor(g, at.role)), ring)
	}
	return o, nil
}

// finalSizes are the lengths that targets will have. A file is as long as what
// is made on it, or as it was if that is more and it is not emptied.
func (p *Claims) finalSizes(list []*target.Target, needed []int64) []int64 {
	var final []int64
	for i, at := range p.All() {
		size := list[i].Size()
		switch {
		case at.Fresh:
			size = needed[i]
		case list[i].Info().Kind == target.File:
			size = max(size, needed[i])
		}
		final = append(final, size)
	}
	return final
}

// sectorFor is the size of the sectors that a role's target is written in.
func sectorFor(g *geometry.Geometry, r role) geometry.Bytes {
	if r == forLog {
		return g.Log.SectorSize
	}
	return g.SectorSize
}

// sizeFor is how long a target must be for its role.
func sizeFor(g *geometry.Geometry, r role) int64 {
	switch r {
	case forLog:
		return int64(g.Bytes(g.Log.Blocks))
	case forRealtime:
		return int64(g.Bytes(g.RT.Blocks))
	}
	if g.RT.Start > 0 {
		return int64(g.Bytes(g.RT.Start + g.RT.Blocks))
	}
	return int64(g.Bytes(g.Blocks))
}

// errOneTarget refuses a target for two roles.
func errOneTarget(other, at *Claim) error {
	return fmt.Errorf("%s: %s and %s are one and the same; the %v needs a device or file of its own",
		at.role.option(), at.Path, other.Path, at.role)
}

// add opens one target. Direct IO is used where all writes meet its
// alignment: none is smaller than a sector.
func (o *Opened) add(p *Claim, sector geometry.Bytes, direct bool) error {
	t, err := target.Open(p.Path, target.Options{Write: true, Create: !p.Exists, Direct: direct, Window: p.Part})
	if err != nil {
		return err
	}
	if on, align := t.DirectIO(); on && align > int(sector) {
		t.Buffered()
	}
	o.Targets = append(o.Targets, t)
	o.sizes = append(o.sizes, t.Info().Size)
	return nil
}

// usable is how much of a target counts: whole sectors, and whole KiB.
func usable(t *target.Target, sector geometry.Bytes) int64 { return usableOf(t.Size(), sector) }

func usableOf(size int64, sector geometry.Bytes) int64 {
	return int64(geometry.Usable(geometry.Bytes(size), sector))
}

// Close closes all of them.
func (o *Opened) Close() (err error) {
	for _, t := range o.Targets {
		if e := t.Close(); err == nil {
			err = e
		}
	}
	return err
}

// undo gives the targets their old sizes, closes them and removes those that
// were made. Nothing was written.
func (o *Opened) undo() {
	for i, t := range o.Targets {
		if t.Info().Size > o.sizes[i] {
			t.Truncate(o.sizes[i])
		}
	}
	o.Close()
	for _, t := range o.Targets {
		t.RemoveCreated()
	}
}
