package main

import (
	"fmt"

	"mkfs/internal/aio"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/target"
)

// opened are targets that can be written.
type opened struct {
	data, log, rt format.Device
	direct        bool // the data device is written past the page cache
	list          []*target.Target
	sizes         []int64 // that they had
}

// open opens the targets and gives files their size. Nothing that a target
// held is lost before all of them are known to open and to become as large as
// they must, and before has looked at them and at the sizes they will have.
func (p *places) open(g *geometry.Geometry, direct bool, ring aio.Config, before func(list []*target.Target, sizes []int64) error) (_ *opened, err error) {
	o := &opened{}
	defer func() {
		if err != nil {
			o.undo()
		}
	}()
	all := p.all()
	for _, at := range all {
		if err := o.add(at, sectorFor(g, at.role), direct); err != nil {
			return nil, err
		}
	}
	for i, t := range o.list {
		for j, other := range o.list[:i] {
			if target.Overlap(t.Info(), other.Info()) {
				return nil, errOneTarget(all[j], all[i])
			}
		}
	}
	sizes := make([]int64, len(all))
	for i, at := range all {
		sizes[i] = sizeFor(g, at.role)
	}
	final := p.finalSizes(o.list, sizes)
	for i, t := range o.list {
		if err := t.CheckLength(final[i]); err != nil {
			return nil, err
		}
	}
	if err := before(o.list, final); err != nil {
		return nil, err
	}
	for i, t := range o.list {
		if t.Info().Kind == target.File && t.Info().Size < sizes[i] {
			if err := t.Grow(sizes[i]); err != nil {
				return nil, err
			}
		}
	}
	for i, at := range all {
		if !at.fresh {
			continue
		}
		if err := o.list[i].Truncate(0); err != nil {
			return nil, err
		}
		if err := o.list[i].Grow(sizes[i]); err != nil {
			return nil, err
		}
	}
	o.direct, _ = o.list[0].DirectIO()
	devices := [...]*format.Device{forData: &o.data, forLog: &o.log, forRealtime: &o.rt}
	for i, at := range all {
		t := o.list[i]
		*devices[at.role] = format.On(t, usable(t, sectorFor(g, at.role)), ring)
	}
	return o, nil
}

// finalSizes are the lengths that targets will have. A file is as long as what
// is made on it, or as it was if that is more and it is not emptied.
func (p *places) finalSizes(list []*target.Target, needed []int64) []int64 {
	var final []int64
	for i, at := range p.all() {
		size := list[i].Size()
		switch {
		case at.fresh:
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
func errOneTarget(other, at *place) error {
	return fmt.Errorf("%s: %s and %s are one and the same; the %v needs a device or file of its own",
		at.role.option(), at.path, other.path, at.role)
}

// add opens one target. Direct IO is used where all writes meet its
// alignment: none is smaller than a sector.
func (o *opened) add(p *place, sector geometry.Bytes, direct bool) error {
	t, err := target.Open(p.path, target.Options{Write: true, Create: !p.exists, Direct: direct, Window: p.part})
	if err != nil {
		return err
	}
	if on, align := t.DirectIO(); on && align > int(sector) {
		t.Buffered()
	}
	o.list = append(o.list, t)
	o.sizes = append(o.sizes, t.Info().Size)
	return nil
}

// usable is how much of a target counts: whole sectors, and whole KiB.
func usable(t *target.Target, sector geometry.Bytes) int64 { return usableOf(t.Size(), sector) }

func usableOf(size int64, sector geometry.Bytes) int64 {
	return int64(geometry.Usable(geometry.Bytes(size), sector))
}

func (o *opened) close() (err error) {
	for _, t := range o.list {
		if e := t.Close(); err == nil {
			err = e
		}
	}
	return err
}

// undo gives the targets their old sizes, closes them and removes those that
// were made. Nothing was written.
func (o *opened) undo() {
	for i, t := range o.list {
		if t.Info().Size > o.sizes[i] {
			t.Truncate(o.sizes[i])
		}
	}
	o.close()
	for _, t := range o.list {
		t.RemoveCreated()
	}
}
