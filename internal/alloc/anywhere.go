package alloc

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// anywhere allocates from the shortest extent that has all that is wanted, else from the
// one that has most of it. (xfs_alloc_ag_vextent_size in libxfs.)
func (g *group) anywhere(r *Request, _ geometry.AGBlock) (x got, err error) {
	cnt := g.byLength()
	var free geometry.Extent
	ok, err := cnt.lookup(btree.GE, 0, r.Max+r.Align-1)
	switch {
	case err != nil:
		return x, err
	case ok:
		free, err = cnt.extent()
	default:
		free, x, err = g.small(cnt, r)
	}
	if err != nil || x.ok || free.Blocks == 0 {
		return x, err
	}
	part := r.align(free)
	if part.Blocks = min(part.Blocks, r.Max); part.Blocks < r.Max {
		if free, part, err = cnt.shorter(r, free, part); err != nil {
			return x, err
		}
	}
	if part.Blocks < r.Min {
		return x, nil
	}
	part.Blocks = r.fit(part.Blocks)
	bno := g.byPlace()
	if err := bno.find(free); err != nil {
		return x, err
	}
	return got{Extent: part, ok: true}, g.take(cnt, bno, free, part)
}

// shorter looks for a shorter extent that gives more than one does once it is aligned.
// The cursor is at the best of all then.
func (c *cursor) shorter(r *Request, free, part geometry.Extent) (bestFree, best geometry.Extent, err error) {
	bestFree, best = free, part
	for {
		ok, err := c.Prev()
		if err != nil {
			return free, part, err
		}
		if !ok {
			break
		}
		if free, err = c.extent(); err != nil {
			return free, part, err
		}
		if free.Blocks <= best.Blocks {
			break
		}
		part = r.align(free)
		if part.Blocks = min(part.Blocks, r.Max); part.Blocks > best.Blocks {
			bestFree, best = free, part
			if best.Blocks == r.Max {
				break
			}
		}
	}
	return bestFree, best, c.find(bestFree)
}

// small is for where no extent has all that is wanted, and the cursor is behind the last
// of them: it is that one, if it has enough. If none is left a single block comes from
// the free list. (xfs_alloc_ag_vextent_small in libxfs.)
func (g *group) small(cnt *cursor, r *Request) (free geometry.Extent, x got, err error) {
	ok, err := cnt.Prev()
	if err != nil {
		return free, x, err
	}
	if ok {
		if free, err = cnt.extent(); free.Blocks < r.Min {
			free = geometry.Extent{}
		}
		return free, x, err
	}
	if r.Min != 1 || r.Align != 1 || r.Reserve == ReserveAGFL || g.ListLen() <= r.MinLeft {
		return free, x, nil
	}
	at, ok, err := g.TakeListed(false)
	if err != nil || !ok {
		return free, x, err
	}
	x = got{Extent: geometry.Extent{Start: at, Blocks: 1}, ok: true, listed: true}
	return free, x, rmap.Unmap(g.t, g.AG, at, 1, rmap.Owner{Owner: ondisk.OwnAG})
}
