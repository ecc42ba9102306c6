// Package filling is what -p names: a directory or a prototype file, which a new filesystem is
// filled with. It is opened and gone through before anything is touched.
package filling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/populate"
	"mkfs/internal/protofile"
	"mkfs/internal/tree"
	"mkfs/internal/walk"
)

// Request is what was asked for.
type Request struct {
	Path   string
	Option string // that named it; "" for -p
	// Slashes: a / in a name of a prototype file stands for a blank.
	Slashes bool
	// AccessTimes: files get the access times of those of a directory.
	AccessTimes bool
	// Sorted: the files of a directory are made in the order of their names.
	Sorted bool
	// SkipUnreadable: what cannot be read is left out.
	SkipUnreadable bool
}

// Filling is a tree that was found.
type Filling struct {
	tree.Tree
	Survey  *populate.Survey // once it was checked
	request Request
	// Unreadable are the first of what cannot be read, and Skipped is how many there are.
	Unreadable []string
	Skipped    int64
}

// Open finds a directory or a prototype file.
func Open(r Request) (*Filling, error) {
	option := cmp.Or(r.Option, "-p")
	if r.Path == "" {
		return nil, fmt.Errorf("%s: the name of a directory or of a prototype file, please", option)
	}
	info, err := os.Stat(r.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	f := &Filling{request: r}
	if info.IsDir() {
		f.Tree = walk.New(r.Path, walk.Options{Accessed: r.AccessTimes, Sorted: r.Sorted})
	} else {
		f.Tree = protofile.New(r.Path, protofile.Options{Slashes: r.Slashes})
	}
	return f, nil
}

// Units says what filesystem it is for: a prototype file may count its sectors and blocks.
func (f *Filling) Units(g *geometry.Geometry) {
	if p, ok := f.Tree.(*protofile.Tree); ok {
		p.Units(int64(g.SectorSize), int64(g.BlockSize))
	}
}

// most is how many unreadable files are told of.
const most = 20

// Check goes through the tree, and refuses what cannot be read or made, or does not fit a
// filesystem of a geometry, which is that of spec and dev.
func (f *Filling) Check(ctx context.Context, spec geometry.Spec, dev geometry.Device, g *geometry.Geometry) (err error) {
	f.Units(g)
	f.Survey, err = populate.Look(ctx, g, f.Tree, func(path string, err error) {
		if f.Skipped++; len(f.Unreadable) < most {
			f.Unreadable = append(f.Unreadable, fmt.Sprintf("%s: %v", path, err))
		}
	})
	if err != nil {
		return fmt.Errorf("-p: %w", err)
	}
	if f.Skipped > 0 && !f.request.SkipUnreadable {
		return fmt.Errorf("-p: %d files cannot be read; --skip-unreadable leaves them out:\n  %s", f.Skipped, f.list())
	}
	err = format.CheckTree(ctx, g, f.Tree, f.Survey)
	if errors.Is(err, populate.ErrNoRoom) {
		return fmt.Errorf("-p: %w", format.NoRoom(ctx, spec, dev, g, f.Tree, f.Survey))
	}
	if err != nil {
		return fmt.Errorf("-p: %w", err)
	}
	return nil
}

// list has a line for each of the first unreadable files.
func (f *Filling) list() string {
	list := f.Unreadable
	if more := f.Skipped - int64(len(list)); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, "\n  ")
}

// Notes are what there is to say of a tree that was checked.
func (f *Filling) Notes() (list []string) {
	if f.Skipped > 0 {
		list = append(list, fmt.Sprintf("--skip-unreadable leaves out %d files:\n  %s", f.Skipped, f.list()))
	}
	if f.Survey != nil && f.Survey.ACLs > 0 {
		list = append(list, fmt.Sprintf("-p: access control lists of %d files become plain attributes, as with mkfs.xfs: "+
			"no kernel follows them", f.Survey.ACLs))
	}
	return list
}

// Load is what it puts into a filesystem, once it was checked; nothing if there is none.
func (f *Filling) Load() (l geometry.Load) {
	if f != nil {
		l = f.Survey.Load
	}
	return l
}

// Seen is what was seen of it; nil if there is none.
func (f *Filling) Seen() *populate.Survey {
	if f == nil {
		return nil
	}
	return f.Survey
}
