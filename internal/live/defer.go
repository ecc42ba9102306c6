package live

import (
	"cmp"
	"slices"

	"mkfs/internal/geometry"
)

// Deferral is a kind of work that is put off to the end of a transaction. Items of a
// kind that are put off one after the other are one piece of work, and are done in
// order of AG.
type Deferral struct {
	Name string
	// Most is how many items one piece of work has; further ones begin another.
	// 0 is any number.
	Most int
	// Finish does an item. first tells that it is the first of its AG within its piece
	// of work. If Finish returns false something is left to do of the item, which it
	// has changed to that, after what was put off meanwhile.
	Finish func(t *Trans, i *Item, first bool) (done bool, err error)
}

// Item is something that is put off: what a Deferral is to do (Op, Flags), to
// which blocks, and whose they are. Start tells the AG.
type Item struct {
	Op, Flags uint8
	Start     geometry.FSBlock
	Blocks    geometry.Blocks
	Owner     uint64
	Offset    uint64
	More      any // what a Deferral needs besides
}

// deferred is an item with the piece of work that it belongs to.
type deferred struct {
	kind  *Deferral
	piece int
	Item
}

// Defer puts work off.
func (t *Trans) Defer(k *Deferral, i Item) {
	if n := len(t.work); n == 0 || t.work[n-1].kind != k || k.Most > 0 && t.last >= k.Most {
		t.pieces++
		t.last = 0
	}
	t.last++
	t.work = append(t.work, deferred{k, t.pieces, i})
}

// finish does what was put off, piece by piece, each but the first in a transaction
// of its own. What a piece puts off in its turn is done before those behind it.
// (xfs_defer_finish_noroll in libxfs, which logs no intents.)
func (t *Trans) finish() error {
	for rolled := false; ; rolled = true {
		t.collect()
		if len(t.queue) == 0 {
			return nil
		}
		if rolled {
			if err := t.renew(true); err != nil {
				return err
			}
		}
		if err := t.finishPiece(); err != nil {
			return err
		}
	}
}

// collect puts the new pieces of work before those that wait. The queue has what is
// done next at its end.
func (t *Trans) collect() {
	slices.SortStableFunc(t.work, func(a, b deferred) int {
		return cmp.Or(cmp.Compare(a.piece, b.piece), cmp.Compare(t.agOf(&a.Item), t.agOf(&b.Item)))
	})
	slices.Reverse(t.work)
	t.queue = append(t.queue, t.work...)
	clear(t.work)
	t.work = t.work[:0]
}

func (t *Trans) agOf(i *Item) geometry.AGNumber {
	agno, _ := t.G.BlockAddress(i.Start)
	return agno
}

// Turn is the number of the present turn: that of a piece of work which is at work without an end of the transaction
// between. What a Deferral counts for such an end begins anew with the next.
func (t *Trans) Turn() int { return t.turns }

// finishPiece does the items of the next piece of work, as far as they go.
func (t *Trans) finishPiece() error {
	t.turns++
	piece, agno, first := 0, geometry.AGNumber(0), true
	for last := len(t.queue) - 1; last >= 0; last-- {
		d := &t.queue[last]
		if !first && d.piece != piece {
			break
		}
		ag := t.agOf(&d.Item)
		done, err := d.kind.Finish(t, &d.Item, first || ag != agno)
		if err != nil || !done {
			return err
		}
		piece, agno, first = d.piece, ag, false
		*d = deferred{}
		t.queue = t.queue[:last]
	}
	return nil
}
