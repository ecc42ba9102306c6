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
	data, log format.Device
	direct    bool // the data device is written past the page cache
	list      []*target.Target
	sizes     []int64 // that they had
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
	sectors := []geometry.Bytes{g.SectorSize, g.Log.SectorSize}
	for i, at := range p.all() {
		if err := o.add(at, sectors[i], direct); err != nil {
			return nil, err
		}
	}
	if len(o.list) > 1 && o.list[0].Info().Same(o.list[1].Info()) {
		return nil, errOneTarget(&p.data, p.log)
	}
	sizes := []int64{int64(g.Bytes(g.Blocks)), int64(g.Bytes(g.Log.Blocks))}
	if err := before(o.list, p.finalSizes(o.list, sizes)); err != nil {
		return nil, err
	}
	for i, t := range o.list {
		if t.Info().Kind == target.File && t.Info().Size < sizes[i] {
			if err := t.Grow(sizes[i]); err != nil {
				return nil, err
			}
		}
	}
	for i, at := range p.all() {
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
	o.data = format.On(o.list[0], usable(o.list[0], g.SectorSize), ring)
	if p.log != nil {
		o.log = format.On(o.list[1], usable(o.list[1], g.Log.SectorSize), ring)
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

// errOneTarget refuses a target for two roles.
func errOneTarget(data, log *place) error {
	return fmt.Errorf("-l logdev: %s and %s are one and the same; the log needs a device or file of its own", log.path, data.path)
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
