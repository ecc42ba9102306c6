package live

import (
	"cmp"
	"slices"

	"mkfs/internal/geometry"
)

// Deferral is a kind of work that is put off to the end of a transaction.
type Deferral struct {
	Name string
	// Most is how many items are done as one piece of work; further ones begin another.
	Most int
	// AG is where an item belongs: the items of a piece of work are done in order of AG.
	AG func(item any) geometry.AGNumber
	// Finish does an item. If it returns false something is left to do of it, after
	// what was put off meanwhile.
	Finish func(t *Trans, item any) (done bool, err error)
}

// pending is a piece of work: items of one kind.
type pending struct {
	kind  *Deferral
	items []any
}

// Defer puts work off. Items of a kind that come one after the other are one piece.
func (t *Trans) Defer(k *Deferral, item any) {
	if n := len(t.work); n > 0 {
		if last := &t.work[n-1]; last.kind == k && (k.Most == 0 || len(last.items) < k.Most) {
			last.items = append(last.items, item)
			return
		}
	}
	t.work = append(t.work, pending{k, []any{item}})
}

// finish does what was put off, piece by piece. What a piece puts off in its turn
// is done before those behind it. (xfs_defer_finish_noroll in libxfs.)
func (t *Trans) finish() error {
	var queue []pending
	for {
		for i := range t.work {
			k := t.work[i].kind
			slices.SortStableFunc(t.work[i].items, func(a, b any) int { return cmp.Compare(k.AG(a), k.AG(b)) })
		}
		queue = append(slices.Clone(t.work), queue...)
		clear(t.work)
		t.work = t.work[:0]
		if len(queue) == 0 {
			return nil
		}
		if err := t.Roll(); err != nil {
			return err
		}
		p := &queue[0]
		for len(p.items) > 0 {
			done, err := p.kind.Finish(t, p.items[0])
			if err != nil {
				return err
			}
			if !done {
				break
			}
			p.items = p.items[1:]
		}
		if len(p.items) == 0 {
			queue = queue[1:]
		}
	}
}
