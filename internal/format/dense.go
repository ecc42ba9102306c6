package format

import (
	"context"

	"mkfs/internal/aginit"
	"mkfs/internal/geometry"
	"mkfs/internal/tree"
)

// dense is a device on which zeros are data.
type dense struct{ Device }

func (d dense) Zero(off, n int64) error { return d.WriteZeros(off, n) }

// densely makes a job's devices dense. It discards nothing: that may make holes
// of what the wipe has written before.
func densely(job Job) Job {
	for _, d := range []*Device{&job.Data, &job.Log, &job.Realtime} {
		if *d != nil {
			*d = dense{*d}
		}
	}
	job.Discard = false
	return job
}

// headerPieces are what is written of each AG's header: its structures, and for a
// dense job also what lies between them, with the structure before it.
func (w *writer) headerPieces() []aginit.Piece {
	list := w.build.Pieces()
	if !w.Dense {
		return list
	}
	end := w.build.HeaderSize()
	for i := len(list) - 1; i >= 0; i-- {
		list[i].Size = end - list[i].At
		end = list[i].At
	}
	return list
}

// MostSpace is how many bytes a filesystem takes at most of the host of a new image:
// the headers of all AGs, inodes, files, those of a tree, and the log's record; of a dense
// one also the whole log, if it is internal, and both ends.
func MostSpace(g *geometry.Geometry, load geometry.Load, dense bool) int64 {
	return space(g, g.FilesBound()+g.Takes(load), dense)
}

// Space is how many it takes, which it makes all files in memory to find out.
func Space(ctx context.Context, g *geometry.Geometry, t tree.Tree, dense bool) (int64, error) {
	_, n, err := Contents(ctx, g, t)
	return space(g, g.FreeBlocks()-n.FreeBlocks, dense), err
}

func space(g *geometry.Geometry, files geometry.Blocks, dense bool) int64 {
	n := int64(g.AGCount)*int64(g.Bytes(g.HeaderBlocks())) + int64(g.Bytes(files+g.Log.StripeUnit))
	if !dense {
		return n
	}
	if !g.Log.External {
		n += int64(g.Bytes(g.Log.Blocks))
	}
	return n + 2*wipeBytes
}

// LogSpace is Space for the file of an external log.
func LogSpace(g *geometry.Geometry, dense bool) int64 {
	if dense {
		return int64(g.Bytes(g.Log.Blocks))
	}
	return int64(max(g.BlockSize, g.Bytes(g.Log.StripeUnit))) // a record
}
