// Package claim takes the devices and files that a filesystem is to be made on. It
// finds them, refuses those that are in use or hold something, tells geometry what they
// are, gives files their size, keeps what will be overwritten, and opens them.
//
//	Find -> Narrow -> Check, CheckContents -> Device (geometry.Plan) -> CheckRoom -> Open (Save)
//
// Up to Open nothing is changed.
package claim

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"mkfs/internal/options"
	"mkfs/internal/target"
)

// Claim is one target before it is opened for writing.
type Claim struct {
	Path   string
	Exists bool
	Info   target.Info // of what is there, or of the empty file that will be made
	// Fresh files are made, or emptied; sized ones may grow to the size asked for.
	Fresh, sized bool
	Part         *target.Window // of it, which Info describes; nil for all
	role         role
}

// role is what a target is for.
type role byte

const (
	forData role = iota
	forLog
	forRealtime
)

// option is the suboption that names a target of a role.
func (r role) option() string { return [...]string{"-d name", "-l logdev", "-r rtdev"}[r] }

func (r role) String() string { return [...]string{"data section", "log", "realtime section"}[r] }

// String says what the target is for.
func (p *Claim) String() string { return p.role.String() }

// Claims are the targets of a filesystem.
type Claims struct {
	Data Claim
	Log  *Claim // nil for an internal log
	RT   *Claim // nil for none, or one on the data device
}

// UsageError is a fault in how targets are named, rather than in what they are.
type UsageError struct{ error }

func (u UsageError) Unwrap() error { return u.error }

// All lists the targets, data first.
func (p *Claims) All() []*Claim {
	list := []*Claim{&p.Data}
	for _, at := range []*Claim{p.Log, p.RT} {
		if at != nil {
			list = append(list, at)
		}
	}
	return list
}

// Find looks at the targets that are asked for, without changing anything.
func Find(q *options.Request) (*Claims, error) {
	var p Claims
	var err error
	if !q.Data.Path.Given {
		return nil, UsageError{errors.New("no target given")}
	}
	if p.Data, err = find("-d", q.Data, q.Spec.Data.Size.Given, q.Sized); err != nil {
		return nil, err
	}
	if !q.Spec.Log.External && q.Log.Path.Given {
		return nil, UsageError{fmt.Errorf("-l internal: the log cannot be both in the data section and on %s",
			q.Log.Path.Value)}
	}
	if q.Spec.Log.External {
		if !q.Log.Path.Given {
			return nil, UsageError{errors.New("-l internal=0: no log device given; -l logdev=DEVICE alone says it all")}
		}
		log, err := find("-l", q.Log, q.Spec.Log.Size.Given, false)
		if err != nil {
			return nil, err
		}
		log.role = forLog
		p.Log = &log
	}
	if q.Spec.RT.Device {
		rt, err := find("-r", q.RT, q.Spec.RT.Size.Given, false)
		if err != nil {
			return nil, err
		}
		rt.role = forRealtime
		p.RT = &rt
	}
	return &p, nil
}

func find(option string, at options.TargetName, hasSize, sized bool) (Claim, error) {
	p := Claim{Path: at.Path.Value, sized: sized}
	if at.File.Value && !hasSize {
		return p, UsageError{fmt.Errorf("%s file: needs %s size too", option, option)}
	}
	info, err := target.Probe(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (at.File.Value || sized):
		p.Fresh = true
		p.Info, err = target.ProbeNew(p.Path)
		return p, err
	case errors.Is(err, fs.ErrNotExist) && option == "-d":
		if strings.HasPrefix(p.Path, "/dev/") {
			return p, fmt.Errorf("%s: no such device; lsblk lists those there are", p.Path)
		}
		return p, fmt.Errorf("%s: no such file or device; --size makes an image file", p.Path)
	case err != nil:
		return p, err
	case info.Kind == target.BlockDevice && at.File.Value:
		return p, UsageError{fmt.Errorf("%s file: %s is a block device", option, p.Path)}
	case info.Kind == target.BlockDevice && sized:
		return p, UsageError{fmt.Errorf("--size: %s is a block device; -d size limits what is used of it", p.Path)}
	}
	p.Exists, p.Info = true, info
	p.Fresh = at.File.Value
	return p, nil
}
