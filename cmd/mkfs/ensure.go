package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"mkfs/internal/geometry"
	"mkfs/internal/report"
)

// keepExisting tells whether the target holds the XFS asked for, which is to be kept.
// The error, of a status of its own, tells how one that is there differs.
func (j *job) keepExisting(ctx context.Context) (kept bool, err error) {
	p := j.claims
	fs, err := p.Existing()
	if fs == nil || err != nil {
		return false, err
	}
	q := &j.parser.Request
	g, _, err := geometry.Plan(q.Spec, p.Device(q.Spec.RT.Size.Given))
	if err != nil {
		return false, err
	}
	differ := j.parser.Differences(g, &fs.Geometry)
	// An image may come from a disk of smaller sectors; a file itself has none.
	if least := p.Data.Info.LogicalSector; int(fs.Geometry.SectorSize) < least && !(p.Data.IsFile() &&
		p.Data.Part == nil) {
		differ = append(differ, fmt.Sprintf("its sectors have %d bytes, those of the device %d", fs.Geometry.SectorSize,
			least))
	}
	if id := uuid.UUID(fs.SB.UUID); q.UUID.Given && id != uuid.UUID(q.UUID.Value) {
		differ = append(differ, fmt.Sprintf("-m uuid is %v there, not %v", id, uuid.UUID(q.UUID.Value)))
	}
	if j.labelled && fs.Geometry.Label != q.Spec.Label {
		differ = append(differ, fmt.Sprintf("-L is %q there, not %q", fs.Geometry.Label, q.Spec.Label))
	}
	if len(differ) > 0 {
		return false, exitError{exitOther, fmt.Errorf("%s holds another XFS: %s", p.Data.Path, strings.Join(differ, "; "))}
	}
	if err := p.Sound(ctx, j.ring); err != nil {
		return false, err
	}
	j.who.UUID = fs.SB.UUID // as good as made
	if j.json {
		r := j.newReport(&fs.Geometry)
		r.Kept, r.UUID = true, uuid.UUID(fs.SB.UUID).String()
		return true, report.JSON(j.out, r)
	}
	if !j.quiet {
		fmt.Fprintf(j.out, "%s: kept; it holds the filesystem asked for, %v\n", p.Data.Path, uuid.UUID(fs.SB.UUID))
	}
	return true, nil
}
