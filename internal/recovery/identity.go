package recovery

import (
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// rename gives the filesystem another UUID, once its log is clean:
//
//	a record at the log's head that says no UUID, which goes with any; flush
//	the superblocks of all AGs, the primary one last; flush before and after
//	a record with the new UUID; flush
//
// So the log's last record is never another filesystem's, whenever it ends.
// Other blocks keep the old UUID, which the superblock then has as that of
// metadata.
func (r *recoverer) rename() error {
	if err := r.checkCopies(); err != nil {
		return err
	}
	state := r.report.Log
	if !state.Clean {
		state = r.log.After(&state)
	}
	none := r.log.WithUUID(ondisk.UUID{})
	for _, parts := range [][]xlog.Part{r.log.Stale(&state), none.Unmount(&state)} {
		if err := r.writeLog(parts); err != nil {
			return err
		}
		if err := r.flush(); err != nil {
			return err
		}
	}
	g := &r.fs.Geometry
	for agno := g.AGCount; agno > 0; {
		agno--
		if agno == 0 {
			if err := r.flush(); err != nil {
				return err
			}
		}
		b, err := r.superblockOf(agno)
		if err != nil {
			return err
		}
		ondisk.SetUUID(b.Data, *r.UUID)
		r.rewriteSuperblock(b)
	}
	if err := r.flush(); err != nil {
		return err
	}
	state = r.log.After(&state)
	if err := r.writeLog(r.log.WithUUID(*r.UUID).Unmount(&state)); err != nil {
		return err
	}
	if err := r.flush(); err != nil {
		return err
	}
	r.report.Renamed = true
	return nil
}

// checkCopies refuses before anything is written if an AG has no superblock.
func (r *recoverer) checkCopies() error {
	for agno := range r.fs.Geometry.AGCount {
		b, err := r.superblockOf(agno)
		if err != nil {
			return err
		}
		if _, ok := ondisk.DecodeSuperblock(b.Data); !ok {
			return fmt.Errorf("%w: AG %d has no superblock", ErrRefused, agno)
		}
	}
	return nil
}

func (r *recoverer) superblockOf(agno geometry.AGNumber) (*buffer.Buf, error) {
	r.cache.letGo()
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	b, err := r.cache.get(int64(r.fs.Geometry.Offset(agno, 0)), int(r.fs.Geometry.SectorSize))
	if err != nil {
		err = fmt.Errorf("AG %d: superblock: %w", agno, err)
	}
	return b, err
}
