package target

import (
	"fmt"
	"math"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// object is a file or a block device.
type object struct{ dev, ino, rdev uint64 }

func (in Info) object() object { return object{in.Dev, in.Ino, in.Rdev} }

// isDevice tells devices, which have no place in a file system here, from files.
func (o object) isDevice() bool { return o.dev == 0 && o.ino == 0 }

// extent is a range of an object. The same bytes may be in extents of several:
// of a partition and its disk, of a loop device and the file it is made of.
type extent struct {
	object
	Window
}

// endless is the length of what has no known end.
const endless = math.MaxInt64

// extent is the range that in describes: all of a file also where it will grow.
func (in Info) extent() extent {
	e := extent{in.object(), Window{in.Offset, in.Size}}
	if !in.Part {
		e.Window = Window{0, endless}
	}
	return e
}

// overlaps reports whether two extents have bytes in common.
func (e extent) overlaps(f extent) bool { return e.object == f.object && e.Overlaps(f.Window) }

// of is the same range of what e is a part of.
func (e extent) of(whole extent) extent {
	n := min(e.Length, max(0, whole.Length-e.Offset))
	return extent{whole.object, Window{whole.Offset + e.Offset, min(n, endless-whole.Offset-e.Offset)}}
}

// within is what e has in common with a part, as a range of the device o that is
// that part.
func (e extent) within(part Window, o object) extent {
	from := max(e.Offset, part.Offset)
	n := min(e.Length-(from-e.Offset), part.Length-(from-part.Offset))
	return extent{o, Window{from - part.Offset, n}}
}

// mostLayers ends loops of loop devices, which a reader of sysfs may see while
// they are being taken apart.
const mostLayers = 32

// chain is an extent, then what that is a range of, and so on.
func chain(e extent, all []device) []extent {
	list := []extent{e}
	for range mostLayers {
		i := indexDevice(all, e.object)
		if i < 0 {
			break
		}
		e = e.of(all[i].made)
		list = append(list, e)
	}
	return list
}

func indexDevice(all []device, o object) int {
	if !o.isDevice() {
		return -1
	}
	for i, d := range all {
		if d.rdev == o.rdev {
			return i
		}
	}
	return -1
}

// Overlap reports whether two targets have bytes in common, also where they are
// two loop devices of one file, or a partition and its disk.
func Overlap(a, b Info) bool {
	return (system{proc: "/proc", sys: "/sys", dev: "/dev"}).overlap(a, b)
}

func (s system) overlap(a, b Info) bool {
	all := s.devices()
	for _, e := range chain(a.extent(), all) {
		for _, f := range chain(b.extent(), all) {
			if e.overlaps(f) {
				return true
			}
		}
	}
	return false
}

// relative is a file or device that has bytes of a target.
type relative struct {
	extent
	which string // it is, for messages: "its partition sdx1 is "
	made  string // the loop device that it is, of the target itself; "" for none
}

// relatives are the target itself and all that have bytes of it: what it is a
// range of, and what is a range of any of these.
func (s system) relatives(info Info) []relative {
	all := s.devices()
	list := []relative{{extent: info.extent()}}
	below := chain(info.extent(), all)
	for i, e := range below[1:] {
		list = append(list, relative{extent: e, which: s.lower(all[indexDevice(all, below[i].object)]) + " is "})
	}
	known := map[object]bool{}
	for _, r := range list {
		known[r.object] = true
	}
	for i := 0; i < len(list); i++ { // the list grows
		e := list[i]
		for _, d := range all {
			if d.made.object != e.object || !d.made.Overlaps(e.Window) || known[d.object()] {
				continue
			}
			known[d.object()] = true
			r := relative{extent: e.within(d.made.Window, d.object())}
			switch {
			case i == 0 && d.loop:
				r.made = "/dev/" + d.name
				r.which = "the loop device " + r.made + ", which is made of it, is "
			case i == 0:
				r.which = "its partition " + d.name + " is "
			default:
				r.which = fmt.Sprintf("/dev/%s, which has bytes of it, is ", d.name)
			}
			list = append(list, r)
		}
	}
	return list
}

// lower names what a device is a range of.
func (s system) lower(d device) string {
	switch o := d.made.object; {
	case !d.loop:
		return "the disk " + s.nameOf(o)
	case o.isDevice():
		return "/dev/" + s.nameOf(o) + ", which it is made of,"
	}
	return "the file that it is made of"
}

// nameOf is the name of a device in sysfs.
func (s system) nameOf(o object) string {
	dir, err := filepath.EvalSymlinks(s.deviceDir(o.rdev))
	if err != nil {
		return fmt.Sprintf("%d:%d", unix.Major(o.rdev), unix.Minor(o.rdev))
	}
	return deviceName(filepath.Base(dir))
}
