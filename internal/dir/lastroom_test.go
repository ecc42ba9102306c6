package dir_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"mkfs/internal/da"
	"mkfs/internal/inode"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// uniform are names of one length, of which a block of entries has perBlock.
const perBlock = 84

func uniform(i int) string { return fmt.Sprintf("%030d", i) }

// blockOf tells which block of entries has a name.
func (m *made) blockOf(t *testing.T, dp *inode.Inode, name string) int {
	t.Helper()
	for _, e := range list(t, m.dirs, m.fs, dp, 0, -1) {
		if e.name == name {
			return int(e.cookie) * 8 >> m.fs.G.DirBlockLog
		}
	}
	t.Fatalf("%q is not there", name)
	return 0
}

func (m *made) remove(t *testing.T, dp *inode.Inode, name string) {
	t.Helper()
	tr := m.fs.Begin(100)
	must(t, m.dirs.Remove(tr, dp, name, 100))
	must(t, tr.Commit())
}

// isNode tells whether a directory has a list of free space of its own.
func (m *made) isNode(dp *inode.Inode) bool {
	list := dp.Data.Extents
	return len(list) > 0 && list[len(list)-1].Offset >= uint64(64<<30)>>m.fs.G.BlockLog
}

// full fills blocks of entries of a directory, so many that its index is a btree. Then a name of the second block leaves, and
// one enters in its place, so that no block behind that is known to have room.
func (m *made) full(t *testing.T) (dp *inode.Inode, n int) {
	dp = m.create(t, m.root, ondisk.ModeDirectory|0o755)
	m.dirs.Init(m.fs.Begin(0), dp, m.root.Ino)
	for ; n < 7*perBlock; n++ {
		m.add(t, dp, uniform(n))
	}
	for name := uniform(n - 1); m.blockOf(t, dp, name) < 8; n++ {
		name = uniform(n)
		m.add(t, dp, name)
	}
	n--
	m.remove(t, dp, uniform(n)) // the only one of its block, which goes
	if !m.isNode(dp) {
		t.Fatalf("%d names are too few", n)
	}
	m.refill(t, dp)
	return dp, n
}

// refill removes a name of the second block and enters it again, there as no block behind that has room.
func (m *made) refill(t *testing.T, dp *inode.Inode) {
	t.Helper()
	name := uniform(perBlock + 1)
	m.remove(t, dp, name)
	m.add(t, dp, name)
	if got := m.blockOf(t, dp, name); got != 1 {
		t.Fatalf("block %d had room", got)
	}
}

func (m *made) add(t *testing.T, dp *inode.Inode, name string) {
	t.Helper()
	tr := m.fs.Begin(100)
	ok, err := m.dirs.Add(tr, dp, name, 1000, 1, 100)
	must(t, err)
	if !ok {
		t.Fatal("no room")
	}
	must(t, tr.Commit())
}

// A name enters the last block with room, whatever has been known of another directory, or of this one before it had
// another form.
func TestLastWithRoom(t *testing.T) {
	m := newRoot(t, livetest.Plan(t, size, nil))
	a, _ := m.full(t)
	m.remove(t, a, uniform(5*perBlock+9))
	b, n := m.full(t)
	m.add(t, a, uniform(-1))
	if got := m.blockOf(t, a, uniform(-1)); got != 5 {
		t.Errorf("block %d is the last with room, not 5", got)
	}

	m.refill(t, b)
	var gone []string               // from the first blocks, none of which goes, and from all leaves of the index in turn
	for i := range 5*perBlock - 1 { // the first block has itself and its parent as well
		if i%perBlock != 10 {
			gone = append(gone, uniform(i))
		}
	}
	slices.SortFunc(gone, func(a, b string) int { return cmp.Compare(da.Hash(a), da.Hash(b)) })
	for k := 0; m.isNode(b); k++ {
		i := k / 2
		if k%2 > 0 {
			i = len(gone) - 1 - i
		}
		m.remove(t, b, gone[i])
	}
	m.remove(t, b, uniform(5*perBlock+9))
	for ; !m.isNode(b); n++ {
		m.add(t, b, uniform(n))
	}
	if got := m.blockOf(t, b, uniform(n-1)); got != 5 {
		t.Errorf("block %d is the last with room, not 5", got)
	}
}
