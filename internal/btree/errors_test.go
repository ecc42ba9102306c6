package btree

import (
	"errors"
	"strings"
	"testing"

	"mkfs/internal/buffer"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// What is wrong with a block, on disk or in memory, is told with the tree and the block.
func TestErrors(t *testing.T) {
	form := &ondisk.ShortBtreeV5
	for _, c := range []struct {
		name   string
		damage func(leaf []byte)
		sealed bool
		want   string
	}{
		{"checksum", func(b []byte) { b[100]++ }, false, "the checksum is wrong"},
		{"magic", func(b []byte) { b[0]++ }, true, "it is no block of this tree: the magic number is wrong"},
		{"address", func(b []byte) { b[ondisk.BtreeBlkno+7]++ }, true, "it is another block: its address is wrong"},
		{"levels", func(b []byte) { ondisk.SetBtreeLevel(b, MaxLevels) }, true, "level 12 is more than any tree has"},
		{"level", func(b []byte) {
			ondisk.SetBtreeLevel(b, 1)
			ondisk.SetBtreeRecords(b, 5)
		}, true, "its level is 1, and not 0"},
		{"count", func(b []byte) { ondisk.SetBtreeRecords(b, 26) }, true, "it has 26 entries, and room for 25"},
		{"empty", func(b []byte) { ondisk.SetBtreeRecords(b, 0) }, true, "it is empty"},
		{"owner", func(b []byte) { b[ondisk.BtreeOwner+3]++ }, true, "its owner is 2, and not 1"},
		{"UUID", func(b []byte) { form.ID(b)[3]++ }, true, "it is of another filesystem: the UUID is wrong"},
		{"left", func(b []byte) { form.SetLeft(b, 0) }, true, "it has block 0x0 beside it"},
		{"itself", func(b []byte) { form.SetRight(b, 100) }, true, "it has block 0x64 beside it"},
		{"right", func(b []byte) { form.SetRight(b, 1<<20) }, true, "it has block 0x100000 beside it"},
		{"sound", func([]byte) {}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs, d := small(true, 8)
			tr, trans := start(t, fs, Bnobt, 0)
			fill(t, tr, trans, 60)
			if err := trans.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			off, _ := tr.offset(100)
			leaf := make([]byte, tr.size)
			_, _ = d.ReadAt(leaf, off)
			if c.damage(leaf); c.sealed {
				ondisk.Seal(leaf, ondisk.BtreeCRC)
			}
			_, _ = d.WriteAt(leaf, off)
			again := &live.FS{G: fs.G, V5: true, UUID: fs.UUID, Cache: buffer.New(d, buffer.Config{
				Device: "test", Limit: 1 << 20, Place: func(int64) int64 { return 1 },
			})}
			tr = &Tree{Kind: Bnobt, AG: 1, Root: tr.Root}
			_, err := tr.Cursor(again.Begin(0)).Lookup(EQ, Bnobt.sample(0, 1))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			const where = "bnobt of AG 1: block 100: "
			if err == nil || !strings.HasPrefix(err.Error(), where) || !strings.HasSuffix(err.Error(), ": "+c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// So is what is wrong with a root.
func TestErrorsOfRoots(t *testing.T) {
	for want, p := range map[string]*pool{
		"bnobt of AG 1: it cannot have 13 levels":              {ptr: 100, levels: 13},
		"bnobt of AG 1: it cannot have 0 levels":               {ptr: 100},
		"bnobt of AG 1: level 0: there is no block 0x3":        {ptr: 3, levels: 1},
		"bnobt of AG 1: level 1: there is no block 0xffffffff": {ptr: 1<<32 - 1, levels: 2},
	} {
		fs, _ := small(true, 8)
		tr := &Tree{Kind: Bnobt, AG: 1, Root: p}
		trans := fs.Begin(0)
		if _, err := tr.Cursor(trans).Lookup(GE, Bnobt.sample(0, 0)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := tr.Blocks(trans); p.levels != 1 && (err == nil || err.Error() != want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A damaged filesystem gives a block that is in use to another structure: the cursor that was
// there is at no record any more.
func TestBlockIsGivenAway(t *testing.T) {
	for name, do := range map[string]func(c *Cursor) error{
		"update": func(c *Cursor) error { return c.Update(Bnobt.sample(5, 1)) },
		"delete": func(c *Cursor) error { return c.Delete() },
		"insert": func(c *Cursor) error { _, err := c.Insert(Bnobt.sample(5, 1)); return err },
	} {
		fs, _ := small(true, 8)
		tr, trans := start(t, fs, Bnobt, 0)
		fill(t, tr, trans, 10)
		c := tr.Cursor(trans)
		if ok, err := c.Lookup(EQ, Bnobt.sample(5, 1)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		other := &Tree{Kind: Rmapbt, AG: 1, Root: tr.Root}
		if err := other.Start(trans, 100); err != nil {
			t.Fatal(err)
		}
		if err := do(c); !errors.Is(err, errNoPlace) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
