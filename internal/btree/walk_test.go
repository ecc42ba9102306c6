package btree

import (
	"bytes"
	"errors"
	"testing"
)

// Walks find all records and blocks of a tree, and end where they are told to.
func TestWalks(t *testing.T) {
	for _, k := range allKinds {
		t.Run(k.Name, func(t *testing.T) {
			fs, _ := small(true, 9)
			tr, trans := start(t, fs, k, rootHeader+3*(k.Key+8))
			fill(t, tr, trans, 2000)
			want := sound(t, tr, trans)
			n := 0
			for r, err := range tr.Records(trans) {
				if err != nil || !bytes.Equal(r, want[n]) {
					t.Fatalf("record %d is %x, %v, want %x", n, r, err, want[n])
				}
				n++
			}
			if n != len(want) {
				t.Errorf("%d records, want %d", n, len(want))
			}
			for range tr.Records(trans) {
				break
			}
			used := len(tr.Root.(*pool).used)
			if n, err := tr.Blocks(trans); err != nil || int(n) != used {
				t.Errorf("%d blocks, %v, want %d", n, err, used)
			}
			seen := map[uint64]bool{}
			top := MaxLevels
			err := tr.Visit(trans, func(level int, ptr uint64, data []byte) error {
				if level > top || len(data) != tr.size {
					t.Errorf("block %d of level %d has %d bytes", ptr, level, len(data))
				}
				top, seen[ptr] = level, true
				return nil
			})
			if err != nil || len(seen) != used || top != 0 {
				t.Errorf("%d blocks were visited, %v, want %d", len(seen), err, used)
			}
			enough := errors.New("enough")
			if err := tr.Visit(trans, func(int, uint64, []byte) error { return enough }); err != enough {
				t.Error(err)
			}
		})
	}
}
