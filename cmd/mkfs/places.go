package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/options"
	"mkfs/internal/target"
)

// place is a target before it is opened for writing.
type place struct {
	path   string
	exists bool
	info   target.Info // of what is there, or of the empty file that will be made
	// fresh files are made, or emptied; sized ones may grow to the size asked for.
	fresh, sized bool
	role         role
	part         *target.Window // of it, which info describes; nil for all
}

// role is what a place is for.
type role byte

const (
	forData role = iota
	forLog
	forRealtime
)

// option is the suboption that names a place of a role.
func (r role) option() string { return [...]string{"-d name", "-l logdev", "-r rtdev"}[r] }

func (r role) String() string { return [...]string{"data section", "log", "realtime section"}[r] }

// places are the targets of a filesystem.
type places struct {
	data place
	log  *place // nil for an internal log
	rt   *place // nil for none, or one on the data device
}

// all lists the places, data first.
func (p *places) all() []*place {
	list := []*place{&p.data}
	for _, at := range []*place{p.log, p.rt} {
		if at != nil {
			list = append(list, at)
		}
	}
	return list
}

// findPlaces looks at the targets without changing anything.
func findPlaces(q *options.Request) (*places, error) {
	var p places
	var err error
	if !q.Data.Path.Given {
		return nil, usageError{errors.New("no target given")}
	}
	if p.data, err = findPlace("-d", q.Data, q.Spec.Data.Size.Given, q.Sized); err != nil {
		return nil, err
	}
	if !q.Spec.Log.External && q.Log.Path.Given {
		return nil, usageError{fmt.Errorf("-l internal: the log cannot be both in the data section and on %s", q.Log.Path.Value)}
	}
	if q.Spec.Log.External {
		if !q.Log.Path.Given {
			return nil, usageError{errors.New("-l internal=0: no log device given; -l logdev=DEVICE alone says it all")}
		}
		log, err := findPlace("-l", q.Log, q.Spec.Log.Size.Given, false)
		if err != nil {
			return nil, err
		}
		log.role = forLog
		p.log = &log
	}
	if q.Spec.RT.Device {
		rt, err := findPlace("-r", q.RT, q.Spec.RT.Size.Given, false)
		if err != nil {
			return nil, err
		}
		rt.role = forRealtime
		p.rt = &rt
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
		p.info, err = target.ProbeNew(p.path)
		return p, err
	case errors.Is(err, fs.ErrNotExist) && option == "-d":
		return p, fmt.Errorf("%s: no such file or device; --size makes an image file", p.path)
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

// device tells geometry what the targets are. A stripe of the realtime device
// counts if that is a block device, and so is the data device unless the
// section's size is given (rtSized).
func (p *places) device(rtSized bool) geometry.Device {
	info := &p.data.info
	d := geometry.Device{
		Size:           geometry.Bytes(info.Size),
		LogicalSector:  int64(info.LogicalSector),
		PhysicalSector: int64(info.PhysicalSector),
		File:           slices.ContainsFunc(p.all(), (*place).isFile),
		Grows:          p.data.grows(),
	}
	if info.Misaligned { // its physical sectors lie across ours
		d.PhysicalSector = d.LogicalSector
	}
	if info.Kind == target.BlockDevice {
		d.SolidState = !info.Rotational
		// A device that has no stripes reports its physical sector instead.
		if info.MinIO != info.PhysicalSector && info.OptIO != info.PhysicalSector {
			d.StripeUnit, d.StripeWidth = geometry.Bytes(info.MinIO), geometry.Bytes(info.OptIO)
		}
	}
	if p.log != nil {
		d.Log.Size = geometry.Bytes(p.log.info.Size)
		d.Log.LogicalSector = int64(p.log.info.LogicalSector)
		d.Log.Grows = p.log.grows()
	}
	if p.rt != nil {
		info := &p.rt.info
		d.RT.Size = geometry.Bytes(info.Size)
		d.RT.LogicalSector, d.RT.PhysicalSector = int64(info.LogicalSector), int64(info.PhysicalSector)
		d.RT.Grows = p.rt.fresh
		if info.Kind == target.BlockDevice {
			d.RT.SolidState = !info.Rotational
		}
		if info.Kind == target.BlockDevice && (rtSized || !p.data.isFile()) &&
			info.MinIO != info.PhysicalSector && info.OptIO != info.PhysicalSector {
			d.RT.Width = geometry.Bytes(info.OptIO)
		}
	}
	return d
}

// grows tells whether a place may become as long as is asked for.
func (p *place) grows() bool {
	empty := p.info.Kind == target.File && geometry.Usable(geometry.Bytes(p.info.Size), geometry.BasicBlock) == 0
	return p.part == nil && (p.fresh || p.sized || empty && p.role == forData)
}

func (p *place) isFile() bool { return !p.exists || p.info.Kind == target.File }

func (p *places) logName() string { return p.log.name() }
func (p *places) rtName() string  { return p.rt.name() }

// name is the path of a place, "" for none.
func (p *place) name() string {
	if p == nil {
		return ""
	}
	return p.path
}

// check refuses what must never be overwritten: what is in use, or is one target
// by two names.
func (p *places) check() error {
	for _, at := range p.all() {
		if !at.exists {
			continue
		}
		if err := errors.Join(checkUse(at.info), target.CheckZones(at.info)); err != nil {
			return err
		}
	}
	all := p.all()
	for i, at := range all {
		for _, other := range all[:i] {
			if other.exists && at.exists && target.Overlap(other.info, at.info) || !other.exists && !at.exists && samePath(other.path, at.path) {
				return errOneTarget(other, at)
			}
		}
	}
	return nil
}

// checkUse is target.CheckUse with a first line that scripts know.
func checkUse(info target.Info) error {
	err := target.CheckUse(info)
	if use := (*target.InUseError)(nil); errors.As(err, &use) && use.Mounted() {
		return fmt.Errorf("%s contains a mounted filesystem\n%w", info.Path, err)
	}
	return err
}

// samePath tells whether two names are of one file that is yet to be made.
func samePath(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}

// checkRoom refuses what the hosts of files cannot hold, before anything is
// written: blocks that the metadata takes, with the numbers. Each is looked at
// by itself, since two may be on one host only in part.
func (p *places) checkRoom(g *geometry.Geometry, dense bool) error {
	needs := [...]int64{
		forData:     format.Space(g, dense),
		forLog:      format.LogSpace(g, dense),
		forRealtime: int64(2 * g.BlockSize), // its superblock and its end
	}
	for _, at := range p.all() {
		if !at.isFile() {
			continue
		}
		room, err := target.Room(at.path)
		if err != nil {
			return err
		}
		if need := needs[at.role]; need > room.Free+room.Used {
			takes := what[at.role]
			if dense {
				takes += ", with --dense,"
			}
			return fmt.Errorf("%s: the %s takes %s (%d bytes), and its host has %s (%d bytes) free",
				at.path, takes, humanize.IBytes(uint64(need)), need, humanize.IBytes(uint64(room.Free)), room.Free)
		}
	}
	return nil
}

// what takes room on a place, in messages.
var what = [...]string{forData: "metadata", forLog: "log's content", forRealtime: "realtime section's metadata"}
