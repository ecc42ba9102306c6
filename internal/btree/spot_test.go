package btree

import (
	"bytes"
	"testing"

	"mkfs/internal/buffer"
)

// A record is found again without a lookup, in another transaction too, and what is changed
// there is changed in the tree.
func TestSpot(t *testing.T) {
	fs, _ := tiny(Inobt, true)
	tr, trans := start(t, fs, Inobt, 0)
	c := tr.Cursor(trans)
	for i := range 100 {
		insert(t, c, Inobt.sample(10*i, 1))
	}
	want := Inobt.sample(500, 1)
	if ok, err := c.Lookup(EQ, want); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s := c.Spot()
	if err := trans.Commit(); err != nil {
		t.Fatal(err)
	}
	trans = fs.Begin(0)
	got, ok := s.Record(trans)
	if !ok || !bytes.Equal(got, want) {
		t.Fatalf("%x, %v; want %x", got, ok, want)
	}
	s.Change(trans, Inobt.sample(500, 2))
	c = tr.Cursor(trans)
	if ok, err := c.Lookup(EQ, want); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got, _ := c.Record(); !bytes.Equal(got, Inobt.sample(500, 2)) || !s.leaf.buf.Dirty() {
		t.Errorf("%x after it was changed", got)
	}
	again := c.Spot()
	if !s.Is(&again) || s.Is(&Spot{}) {
		t.Error("the same place is another, or another the same")
	}
}

// A place is no good any more once records have come or gone, or its leaf is no longer in memory or
// another's.
func TestSpotEnds(t *testing.T) {
	other := &buffer.Kind{Name: "other"}
	for _, c := range []struct {
		name string
		do   func(c *Cursor, s *Spot) error
	}{
		{"insert", func(c *Cursor, _ *Spot) error {
			r := Inobt.sample(995, 1)
			if _, err := c.Lookup(EQ, r); err != nil {
				return err
			}
			_, err := c.Insert(r)
			return err
		}},
		{"delete", func(c *Cursor, _ *Spot) error { return c.Delete() }},
		{"forgotten", func(c *Cursor, s *Spot) error {
			c.t.Cache.Forget(s.leaf.buf.Off, int64(len(s.leaf.buf.Data)))
			return nil
		}},
		{"claimed", func(c *Cursor, s *Spot) error {
			_, err := c.t.Fresh(s.leaf.buf.Off, len(s.leaf.buf.Data), other)
			return err
		}},
	} {
		fs, _ := tiny(Inobt, true)
		tr, trans := start(t, fs, Inobt, 0)
		cursor := tr.Cursor(trans)
		for i := range 100 {
			insert(t, cursor, Inobt.sample(10*i, 1))
		}
		if ok, err := cursor.Lookup(EQ, Inobt.sample(500, 1)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		s := cursor.Spot()
		if _, ok := s.Record(trans); !ok {
			t.Errorf("%s: it is not good before", c.name)
		}
		if err := c.do(cursor, &s); err != nil {
			t.Fatal(err)
		}
		if r, ok := s.Record(trans); ok {
			t.Errorf("%s: it is %x", c.name, r)
		}
	}
	if _, ok := new(Spot).Record(nil); ok {
		t.Error("there is a record nowhere")
	}
}

// The root in a fork is no place to come back to.
func TestSpotInFork(t *testing.T) {
	fs, _ := tiny(RTRmapbt, true)
	tr, trans := start(t, fs, RTRmapbt, 200)
	c := tr.Cursor(trans)
	insert(t, c, RTRmapbt.sample(1, 1))
	s := c.Spot()
	if _, ok := s.Record(trans); ok {
		t.Error("it is found")
	}
}
