package live

import "testing"

// flushes is an inode that counts how often it is flushed.
type flushes struct{ n int }

func (f *flushes) Flush(*Trans) error { f.n++; return nil }

// An inode counts a change for each transaction that changes it, and for each that ends
// before the last piece of what was put off.
func TestFlushes(t *testing.T) {
	for _, c := range []struct {
		name           string
		pieces         int  // of work put off
		again          bool // the last piece logs the inode
		roll           bool // the transaction is rolled once it is logged
		logged, joined int  // how often the inode that was logged, or only joined, is flushed
	}{
		{"no work", 0, false, false, 1, 0},
		{"one piece", 1, false, false, 1, 0},
		{"one piece that logs", 1, true, false, 1, 0},
		{"two pieces", 2, false, false, 1, 1},
		{"two pieces, of which the last logs", 2, true, false, 2, 1},
		{"four pieces", 4, false, false, 3, 3},
		{"a roll", 0, false, true, 1, 0},
		{"a roll and three pieces", 3, false, true, 1, 0},
	} {
		d := newDeferTest()
		var logged, joined flushes
		left := c.pieces
		work := &Deferral{Most: 1, Finish: func(tr *Trans, _ *Item, _ bool) (bool, error) {
			if left--; left == 0 && c.again {
				tr.Log(&logged)
			}
			return true, nil
		}}
		tr := d.fs.Begin(0)
		tr.Join(&joined)
		tr.Log(&logged)
		tr.Log(&logged)
		if c.roll {
			if err := tr.Roll(); err != nil {
				t.Fatal(err)
			}
		}
		for range c.pieces {
			tr.Defer(work, Item{})
		}
		if err := tr.Commit(); err != nil {
			t.Fatal(err)
		}
		if logged.n != c.logged || joined.n != c.joined {
			t.Errorf("%s: %d and %d flushes, want %d and %d", c.name, logged.n, joined.n, c.logged, c.joined)
		}
	}
}
