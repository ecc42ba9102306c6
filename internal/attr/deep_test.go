package attr

import (
	"fmt"
	"math/rand"
	"testing"

	"mkfs/internal/ondisk"
)

// A tree of three levels, grown and shrunk, is that of the reference to the byte: nodes split
// and join in it. More of it: ATTR_SEED=n.
func TestDeepTreeLikeReference(t *testing.T) {
	for _, c := range []struct {
		name  string
		count int
		args  []string
	}{
		{"v4 512", 700, []string{"-m", "crc=0", "-b", "size=512"}},
		{"1k", 1800, []string{"-b", "size=1k", "-n", "parent=0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, rootDir, c.args...)
			r := rand.New(rand.NewSource(int64(setting("ATTR_SEED", 0))))
			changes := make([]change, c.count)
			for i, k := range r.Perm(c.count) {
				changes[i] = change{space: User, name: fmt.Sprintf("%d%0*d", k, 20+r.Intn(40), k)}
			}
			p.inBatches(changes, c.count)
			root, err := p.f.tree.Read(p.fs.Begin(0), p.read(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if d := (ondisk.DABlock{B: root.Data, V5: p.fs.V5}); d.Level() < 2 {
				t.Errorf("the root is of level %d, with %d entries", d.Level(), d.Count())
			}
			for i, k := range r.Perm(c.count) {
				changes[i], changes[k] = changes[k], changes[i]
			}
			for i := range changes {
				changes[i].remove = true
			}
			p.inBatches(changes, c.count/10)
			if ip := p.read(); len(ip.Attr.Extents) != 0 {
				t.Errorf("the fork has %d extents in the end", len(ip.Attr.Extents))
			}
		})
	}
}

// inBatches makes changes, so many at a time.
func (p *pair) inBatches(changes []change, n int) {
	p.t.Helper()
	for ; len(changes) > 0; changes = changes[min(n, len(changes)):] {
		p.do(changes[:min(n, len(changes))]...)
	}
}
