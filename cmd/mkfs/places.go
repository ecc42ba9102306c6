package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dustin/go-humanize"

	"mkfs/internal/aio"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/options"
	"mkfs/internal/target"
)

// place is a target before it is opened for writing.
type place struct {
	path   string
	exists bool
	info   target.Info
	// fresh files are made, or emptied; sized ones may grow to the size asked for.
	fresh, sized bool
}

// places are the targets of a filesystem.
type places struct {
	data place
	log  *place // nil for an internal log
}

// findPlaces looks at the targets without changing anything.
func findPlaces(q *options.Request, sized bool) (*places, error) {
	var p places
	var err error
	if !q.Data.Path.Given {
		return nil, usageError{errors.New("no target given")}
	}
	if p.data, err = findPlace("-d", q.Data, q.Spec.Data.Size.Given, sized); err != nil {
		return nil, err
	}
	if q.Spec.Log.External {
		if !q.Log.Path.Given {
			return nil, usageError{errors.New("-l internal=0: no log device given; add -l logdev=DEVICE")}
		}
		log, err := findPlace("-l", q.Log, q.Spec.Log.Size.Given, false)
		if err != nil {
			return nil, err
		}
		p.log = &log
	}
	return &p, nil
}

func findPlace(option string, at options.Place, hasSize, sized bool) (place, error) {
	p := place{path: at.Path.Value, sized: sized}
	if at.File.Value && !hasSize {
		return p, usageError{fmt.Errorf("%s file: needs %s size too", option, option)}
	}
	info, err := target.Probe(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (at.File.Value || sized):
		p.fresh = true
		return p, nil
	case err != nil:
		return p, err
	case info.Kind == target.BlockDevice && at.File.Value:
		return p, usageError{fmt.Errorf("%s file: %s is a block device", option, p.path)}
	case info.Kind == target.BlockDevice && sized:
		return p, usageError{fmt.Errorf("--size: %s is a block device; -d size limits what is used of it", p.path)}
	}
	p.exists, p.info = true, info
	p.fresh = at.File.Value
	return p, nil
}

// device tells geometry what the targets are.
func (p *places) device() geometry.Device {
	d := geometry.Device{
		Size:           geometry.Bytes(p.data.info.Size),
		LogicalSector:  sectorOf(p.data.info.LogicalSector),
		PhysicalSector: sectorOf(p.data.info.PhysicalSector),
		Grows:          p.data.grows(),
	}
	if p.data.info.Kind == target.BlockDevice {
		d.SolidState = !p.data.info.Rotational
		if p.data.info.OptIO > p.data.info.PhysicalSector {
			d.StripeUnit, d.StripeWidth = geometry.Bytes(p.data.info.MinIO), geometry.Bytes(p.data.info.OptIO)
		}
	}
	if p.log != nil {
		d.Log.Size = geometry.Bytes(p.log.info.Size)
		d.Log.LogicalSector = sectorOf(p.log.info.LogicalSector)
		d.Log.Grows = p.log.grows()
	}
	return d
}

// sectorOf is a sector size, 512 for a file that does not exist yet.
func sectorOf(n int) int64 { return int64(max(n, geometry.BasicBlock)) }

// grows tells whether a place may become as long as is asked for.
func (p *place) grows() bool {
	return p.fresh || p.sized || p.info.Kind == target.File && p.info.Size == 0
}

func (p *place) isFile() bool { return !p.exists || p.info.Kind == target.File }

func (p *places) logName() string {
	if p.log == nil {
		return ""
	}
	return p.log.path
}

// check refuses what must not be overwritten: what is in use always, what
// holds something only without force.
func (p *places) check(force bool) error {
	list := []*place{&p.data}
	if p.log != nil {
		list = append(list, p.log)
	}
	for _, at := range list {
		if !at.exists {
			continue
		}
		if err := target.CheckUse(at.info); err != nil {
			return err
		}
	}
	if force {
		return nil
	}
	for _, at := range list {
		if err := at.checkContents(); err != nil {
			return err
		}
	}
	return nil
}

// checkContents refuses a place that holds something. A file that was asked to
// be emptied may.
func (p *place) checkContents() error {
	if p.fresh {
		return nil
	}
	t, err := target.Open(p.path, target.Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	if t.Blank() {
		return nil
	}
	found, err := target.Signatures(t, p.info.Size)
	if err != nil || len(found) == 0 {
		return err
	}
	what := "a filesystem"
	switch {
	case found[0].PartitionTable:
		what = "a partition table"
	case found[0].Container:
		what = "a disk image of another format"
	}
	return fmt.Errorf("%s holds %s (%s, at byte %d); -f overwrites it", p.path, what, found[0].Name, found[0].Offset)
}

// checkRoom refuses what the image's host cannot hold, before anything is
// written: blocks that the metadata takes, with the numbers.
func (p *places) checkRoom(g *geometry.Geometry) error {
	if !p.data.isFile() {
		return nil
	}
	room, err := target.Room(p.data.path)
	if err != nil {
		return err
	}
	if need := format.Space(g); need > room.Free+room.Used {
		return fmt.Errorf("%s: the metadata takes %s (%d bytes), and its host has %s (%d bytes) free",
			p.data.path, humanize.IBytes(uint64(need)), need, humanize.IBytes(uint64(room.Free)), room.Free)
	}
	return nil
}

// opened are targets that can be written.
type opened struct {
	data, log format.Device
	direct    bool // the data device is written past the page cache
	list      []*target.Target
}

// open opens the targets and gives files their size.
func (p *places) open(g *geometry.Geometry, direct bool, ring aio.Config) (o opened, err error) {
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	data, err := p.data.open(g.Bytes(g.Blocks), int(g.SectorSize), direct)
	if err != nil {
		return o, err
	}
	o.list = append(o.list, data)
	o.direct, _ = data.DirectIO()
	o.data = format.On(data, usable(data, g.SectorSize), ring)
	if p.log == nil {
		return o, nil
	}
	log, err := p.log.open(g.Bytes(g.Log.Blocks), int(g.Log.SectorSize), direct)
	if err != nil {
		return o, err
	}
	o.list = append(o.list, log)
	o.log = format.On(log, usable(log, g.Log.SectorSize), ring)
	return o, nil
}

// usable is how much of a target counts: whole sectors, and whole KiB.
func usable(t *target.Target, sector geometry.Bytes) int64 {
	return int64(geometry.Usable(geometry.Bytes(t.Info().Size), sector))
}

// open opens one target and gives a file its size. Direct IO is used where all
// writes meet its alignment: none is smaller than a sector.
func (p *place) open(size geometry.Bytes, sector int, direct bool) (*target.Target, error) {
	opts := target.Options{Write: true, Create: p.fresh, Truncate: p.fresh, Direct: direct}
	t, err := target.Open(p.path, opts)
	if err != nil {
		return nil, err
	}
	if direct, align := t.DirectIO(); direct && align > sector {
		t.Close()
		opts.Direct, opts.Truncate = false, false
		if t, err = target.Open(p.path, opts); err != nil {
			return nil, err
		}
	}
	if p.grows() && t.Info().Size < int64(size) {
		if err := t.Grow(int64(size)); err != nil {
			t.Close()
			if !p.exists {
				os.Remove(p.path)
			}
			return nil, err
		}
	}
	return t, nil
}

func (o *opened) close() (err error) {
	for _, t := range o.list {
		if e := t.Close(); err == nil {
			err = e
		}
	}
	return err
}
