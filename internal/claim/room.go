package claim

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/target"
)

// CheckRoom refuses what the hosts of files cannot hold, before anything is
// written: blocks that the metadata takes, with the numbers. Each is looked at
// by itself, since two may be on one host only in part. load is what the files of the
// job's tree take.
func (p *Claims) CheckRoom(ctx context.Context, job format.Job, load geometry.Load) error {
	g, dense := job.Geometry, job.Dense
	needs := [...]int64{
		forData:     format.MostSpace(g, load, dense),
		forLog:      format.LogSpace(g, dense),
		forRealtime: int64(2 * g.BlockSize), // its superblock and its end
	}
	for _, at := range p.All() {
		if !at.IsFile() {
			continue
		}
		room, err := target.Room(at.Path)
		if err != nil {
			return err
		}
		need, there := needs[at.role], room.Free+room.Used
		if need > there && at.role == forData {
			if need, err = format.Space(ctx, g, job.Tree, dense); err != nil {
				return err
			}
		}
		if need > there {
			takes := what[at.role]
			if dense {
				takes += ", with --dense,"
			}
			return fmt.Errorf("%s: the %s takes %s (%d bytes), and its host has %s (%d bytes) free",
				at.Path, takes, humanize.IBytes(uint64(need)), need, humanize.IBytes(uint64(room.Free)), room.Free)
		}
	}
	return nil
}

// what takes room on a target, in messages.
var what = [...]string{forData: "metadata", forLog: "log's content", forRealtime: "realtime section's metadata"}
