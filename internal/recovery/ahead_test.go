package recovery

import "testing"

// idleRing takes reads and completes them when it is asked to.
type idleRing struct{ done []func(error) }

func (r *idleRing) Read(_ int64, _ [][]byte, done func(error)) error {
	r.done = append(r.done, done)
	return nil
}
func (r *idleRing) Write(int64, [][]byte, func(error)) error { return nil }
func (r *idleRing) Sync() error                              { return nil }
func (r *idleRing) Reap(int) error {
	for _, done := range r.done {
		done(nil)
	}
	r.done = nil
	return nil
}

// Reading ahead does not let go of what was read ahead before; reading does.
func TestAheadWithoutRoom(t *testing.T) {
	memory := func(n int) ([]byte, func() error, error) { return make([]byte, n), func() error { return nil }, nil }
	c := newCache(&Device{Ring: &idleRing{}}, nil, 4*512, memory)
	for i := range int64(5) {
		room, err := c.ahead(i*512, 512)
		if err != nil || room != (i < 4) {
			t.Errorf("block %d: room %v, %v", i, room, err)
		}
	}
	if room, err := c.ahead(0, 512); err != nil || !room {
		t.Errorf("a block that is there: room %v, %v", room, err)
	}
	if c.reading != 4 {
		t.Errorf("%d blocks are being read", c.reading)
	}
	if _, err := c.get(4*512, 512); err != nil {
		t.Fatal(err)
	}
	if b, _ := c.lookup(0, 512); b != nil || c.stats.Reads != 5 {
		t.Errorf("the first block is still there, after %d reads", c.stats.Reads)
	}
}
