package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"mkfs/internal/geometry"
	"mkfs/internal/report"
	"mkfs/internal/source"
	"mkfs/internal/super"
	"mkfs/internal/target"
	"mkfs/internal/verify"
)

// otherFilesystem is the exit status of --ensure where there is an XFS, but not
// the one that was asked for.
const otherFilesystem verify.Status = 4

// existing is the XFS that the target holds, or nil if it holds none. Damaged
// ones are an error: nobody knows what they were. So are those that do not
// mount with the log that is on them, or on logdev, which may be nil.
func (p *place) existing(logdev *place) (*super.Filesystem, error) {
	if !p.exists || p.fresh {
		return nil, nil
	}
	t, err := target.Open(p.path, target.Options{Window: p.part})
	if err != nil {
		return nil, err
	}
	defer t.Close() // nothing was written
	b := make([]byte, min(super.ReadSize, t.Info().Size))
	if _, err := t.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: superblock: %w", p.path, err)
	}
	if len(b) < geometry.BasicBlock || string(b[:4]) != "XFSB" {
		return nil, nil
	}
	var faults []string
	fs := super.Read(b, t.Info().Size, func(message string) { faults = append(faults, message) })
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: --ensure: there is an XFS, and its superblock is damaged: %s", p.path, faults[0])
	}
	var log string
	var window *target.Window
	if fs.SB.LogStart == 0 && logdev != nil && logdev.exists && !logdev.fresh {
		log, window = logdev.path, logdev.part
	}
	found, err := source.FindLog(t, fs, log, window)
	if err != nil {
		return nil, err
	}
	if found.State != nil && found.State.Empty && log != "" {
		found.Fault = log + ": there is no record in it"
	}
	if faults := found.Faults(); len(faults) > 0 {
		return nil, fmt.Errorf("%s: --ensure: there is an XFS, and its log does not fit it: %s", p.path, faults[0])
	}
	return fs, nil
}

// keepExisting tells whether the target holds the XFS asked for, which is to be kept.
// The error, of a status of its own, tells how one that is there differs.
func (j *job) keepExisting(p *places) (kept bool, err error) {
	fs, err := p.data.existing(p.log)
	if fs == nil || err != nil {
		return false, err
	}
	q := &j.parser.Request
	g, _, err := geometry.Plan(q.Spec, p.device(q.Spec.RT.Size.Given))
	if err != nil {
		return false, err
	}
	differ := j.parser.Differences(g, &fs.Geometry)
	// An image may come from a disk of smaller sectors; a file itself has none.
	if least := p.data.info.LogicalSector; int(fs.Geometry.SectorSize) < least && !(p.data.isFile() && p.data.part == nil) {
		differ = append(differ, fmt.Sprintf("its sectors have %d bytes, those of the device %d", fs.Geometry.SectorSize, least))
	}
	if id := uuid.UUID(fs.SB.UUID); q.UUID.Given && id != uuid.UUID(q.UUID.Value) {
		differ = append(differ, fmt.Sprintf("-m uuid is %v there, not %v", id, uuid.UUID(q.UUID.Value)))
	}
	if j.labelled && fs.Geometry.Label != q.Spec.Label {
		differ = append(differ, fmt.Sprintf("-L is %q there, not %q", fs.Geometry.Label, q.Spec.Label))
	}
	if len(differ) > 0 {
		return false, exitError{otherFilesystem, fmt.Errorf("%s holds another XFS: %s", p.data.path, strings.Join(differ, "; "))}
	}
	j.made = fs.SB.UUID // as good as made
	if j.json {
		r := j.newReport(&fs.Geometry, p, nil, geometry.Notes{})
		r.Kept, r.UUID = true, uuid.UUID(fs.SB.UUID).String()
		return true, report.JSON(j.out, r)
	}
	if !j.quiet {
		fmt.Fprintf(j.out, "%s: kept; it holds the filesystem asked for, %v\n", p.data.path, uuid.UUID(fs.SB.UUID))
	}
	return true, nil
}
