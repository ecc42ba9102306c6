package ialloc

import (
	"iter"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Chunk is the inodes of a record of the inobt: as many as Used has bits, from First on. Those in
// use have theirs set.
type Chunk struct {
	First geometry.Inode
	Used  uint64
}

// Used goes over the inodes of an AG, as its inobt has them. An error comes last.
func Used(t *live.Trans, agno geometry.AGNumber) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		g, err := open(t, agno)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		for b, err := range g.ino.Records(t) {
			var r record
			if err == nil {
				r = record{ondisk.DecodeInodeRecord(b, g.sparse)}
				if !g.sparse {
					r.Count = chunk
				}
				err = g.check(&g.ino, &r)
			}
			if err != nil {
				yield(Chunk{}, err)
				return
			}
			if !yield(Chunk{t.G.InodeOf(agno, r.Start), r.there() &^ r.Free}, nil) {
				return
			}
		}
	}
}
