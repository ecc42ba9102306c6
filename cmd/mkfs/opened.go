package main

import (
	"os"

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
	made      []string // files that did not exist before
}

// open opens the targets and gives files their size. Nothing that a target
// held is lost before all of them are known to open and to become as large as
// they must.
func (p *places) open(g *geometry.Geometry, direct bool, ring aio.Config) (_ *opened, err error) {
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
	sizes := []int64{int64(g.Bytes(g.Blocks)), int64(g.Bytes(g.Log.Blocks))}
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

// add opens one target. Direct IO is used where all writes meet its
// alignment: none is smaller than a sector.
func (o *opened) add(p *place, sector geometry.Bytes, direct bool) error {
	t, err := target.Open(p.path, target.Options{Write: true, Create: !p.exists, Direct: direct})
	if err != nil {
		return err
	}
	if !p.exists {
		o.made = append(o.made, p.path)
	}
	if on, align := t.DirectIO(); on && align > int(sector) {
		if err := t.Close(); err != nil {
			return err
		}
		if t, err = target.Open(p.path, target.Options{Write: true}); err != nil {
			return err
		}
	}
	o.list = append(o.list, t)
	return nil
}

// usable is how much of a target counts: whole sectors, and whole KiB.
func usable(t *target.Target, sector geometry.Bytes) int64 {
	return int64(geometry.Usable(geometry.Bytes(t.Info().Size), sector))
}

func (o *opened) close() (err error) {
	for _, t := range o.list {
		if e := t.Close(); err == nil {
			err = e
		}
	}
	return err
}

// undo closes the targets and removes the files that were made.
func (o *opened) undo() {
	o.close() // nothing was written
	for _, path := range o.made {
		os.Remove(path)
	}
}
