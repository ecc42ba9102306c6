package attr

import (
	"fmt"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"testing"
)

// config is a filesystem on which changes are compared.
type config struct {
	name string
	args []string
}

var configs = []config{
	{"4k", nil},
	{"1k", []string{"-b", "size=1k"}},
	{"2k, inodes of 1k", []string{"-b", "size=2k", "-i", "size=1024"}},
	{"64k", []string{"-b", "size=64k"}},
	{"16k, inodes of 2k", []string{"-b", "size=16k", "-i", "size=2048"}},
	{"no parents", []string{"-n", "parent=0"}},
	{"v4", []string{"-m", "crc=0", "-i", "size=256"}},
	{"v4 512", []string{"-m", "crc=0", "-b", "size=512"}},
	{"v4 attr=1", []string{"-m", "crc=0", "-i", "attr=1,size=512"}},
}

// mix tells what random changes are like.
type mix struct {
	names int   // different ones
	sizes []int // of values, at most; percents of a block where negative
	batch int   // changes at a time
}

func (m mix) change(r *rand.Rand, block int, there map[string]bool) change {
	c := change{name: fmt.Sprintf("name%0*d", r.Intn(12), r.Intn(m.names)), space: []Space{User, Root, Secure}[r.Intn(3)]}
	if r.Intn(8) == 0 {
		c.name += fmt.Sprintf("%0*d", r.Intn(200), 1)
	}
	key := fmt.Sprint(c.space, c.name)
	if len(there) > 0 && r.Intn(2) > 0 { // one that is there
		keys := slices.Sorted(maps.Keys(there))
		key = keys[r.Intn(len(keys))]
		fmt.Sscan(key, &c.space, &c.name)
	}
	c.remove = r.Intn(100) < 25 && there[key]
	c.how = How(r.Intn(3))
	n := m.sizes[r.Intn(len(m.sizes))]
	if n < 0 {
		n = block * -n / 100
	}
	if n > 0 {
		n = r.Intn(n + 1)
	}
	c.value = fill(r, min(n, MaxValue))
	switch {
	case c.remove:
		delete(there, key)
	case c.how == Create && there[key], c.how == Replace && !there[key]:
	default:
		there[key] = true
	}
	return c
}

// mixes are of few attributes one by one, which go through all forms, and of many, in batches.
var mixes = []mix{
	{names: 6, sizes: []int{40, 300, -80, -300}},
	{names: 200, sizes: []int{40, 300, -40}, batch: 40},
	{names: 5, sizes: []int{0, 20, 40, 100}},
	{names: 6, sizes: []int{20, 100, 300, -20}},
	{names: 400, sizes: []int{0, -50, -90}, batch: 20},
}

// Whatever is done to attributes, inode and blocks are those of the reference to the byte, and the headers of AGs
// with their btrees. More of it: ATTR_SEED=n ATTR_STEPS=n.
func TestChangesLikeReference(t *testing.T) {
	const few = 7
	seed, steps := setting("ATTR_SEED", 0), setting("ATTR_STEPS", few)
	for i, cfg := range configs {
		for k, m := range mixes {
			if steps == few && k != i%2 && k != 2+i%3 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", cfg.name, k), func(t *testing.T) {
				p := newPair(t, rootDir, cfg.args...)
				r := rand.New(rand.NewSource(int64(k + seed)))
				there := map[string]bool{}
				for range steps {
					changes := make([]change, max(3, m.batch))
					for n := range changes {
						changes[n] = m.change(r, p.f.tree.Bytes, there)
					}
					p.do(changes...)
				}
			})
		}
	}
}

// setting is a number of the environment.
func setting(name string, other int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return other
}
