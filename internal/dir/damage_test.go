package dir_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"mkfs/internal/buffer"
	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// again is what has been made, read anew from a copy of its device.
func (m *made) again(t testing.TB) *made {
	t.Helper()
	d := m.d.Clone()
	n := &made{d: d, fs: &live.FS{
		G: m.fs.G, V5: m.fs.V5, UUID: m.fs.UUID, Counts: m.fs.Counts, Now: m.fs.Now, Generation: m.fs.Generation,
		Cache: buffer.New(d, buffer.Config{Device: "test"}),
	}}
	n.dirs = dir.New(n.fs)
	n.root = read(t, n.fs, m.root.Ino)
	return n
}

// grown is a directory of some form.
type grown struct {
	*made
	list   []string
	places []int64 // of its blocks, and of the pieces of them
}

// forms are directories of all forms, in all kinds of filesystems.
var forms = sync.OnceValue(func() (all []grown) {
	t := &testing.T{}
	for _, c := range filesystems {
		for _, n := range []int{5, 30, 200, 900, 3000} {
			g := grown{made: newRoot(t, livetest.Plan(t, size, c.ask)), list: mixedNames(n)}
			for _, name := range g.list {
				g.enter(t, name)
			}
			must(t, g.fs.Cache.Flush())
			for _, e := range g.root.Data.Extents {
				for i := geometry.FSBlock(0); i < geometry.FSBlock(e.Blocks); i++ {
					g.places = append(g.places, g.fs.Offset(g.fs.G.BlockAddress(e.Start+i)))
				}
			}
			all = append(all, g)
		}
	}
	return all
})

// reseal puts a checksum into a block of a directory, by what it is.
func reseal(b []byte) {
	switch binary.BigEndian.Uint32(b) {
	case ondisk.DirDataMagic, ondisk.DirBlockMagic, ondisk.DirFreeMagic:
		ondisk.Seal(b, ondisk.DirDataCRC)
	default:
		ondisk.Seal(b, ondisk.DABlockCRC)
	}
}

// damage changes bytes of a directory as edits say, of six bytes each.
func (g grown) damage(t testing.TB, edits []byte) *made {
	m := g.again(t)
	unit := int64(m.fs.G.DirBlockSize)
	for ; len(edits) >= 6; edits = edits[6:] {
		at, value := int(binary.BigEndian.Uint16(edits[2:])), edits[5]
		if len(g.places) == 0 {
			if b := m.root.Data.Local; at < len(b) {
				b[at] = value
			}
			continue
		}
		i := int(binary.BigEndian.Uint16(edits)) % len(g.places)
		i -= i % int(unit>>m.fs.G.BlockLog) // blocks lie in one piece
		b := make([]byte, unit)
		_, _ = m.d.ReadAt(b, g.places[i])
		switch edits[4] % 8 {
		case 0: // the end, where there are indexes and lists
			b[len(b)-1-at%64] = value
		case 1:
			b[len(b)-1-at%len(b)] ^= 1 << (value % 8)
		case 2, 3: // headers
			b[at%80] = value
		case 4:
			b[at%len(b)] ^= 1 << (value % 8)
		case 5:
			binary.BigEndian.PutUint16(b[at%len(b)&^1:], uint16(value)*8)
		case 6:
			b[at%len(b)] = value
		case 7:
			copy(b[at%len(b):], b[int(value)*8:])
		}
		if m.fs.V5 {
			reseal(b)
		}
		_, _ = m.d.WriteAt(b, g.places[i])
	}
	return m
}

// use does something with a directory, whatever is wrong with it, until there is an error. It may empty it.
func (m *made) use(t testing.TB, list []string, random *rand.Rand) error {
	const most = 100
	steps, verbs := 40, 7
	order := random.Perm(len(list))
	if random.IntN(4) == 0 {
		steps, verbs = len(list), 1000
	}
	for step := range steps {
		tr := m.fs.Begin(most)
		name, other := list[order[step%len(list)]], fmt.Sprint("other", step)
		var err error
		switch random.IntN(verbs) {
		case 0:
			_, _, err = m.dirs.Lookup(tr, m.root, name)
		case 1:
			_, err = m.dirs.Add(tr, m.root, other, 77, 1, most)
		case 2:
			_, err = m.dirs.Add(tr, m.root, name, 1<<40, 1, most)
		case 5:
			_, err = m.dirs.Replace(tr, m.root, name, 1<<33, 1, most)
		case 6:
			n := 0
			for _, err = range m.dirs.Entries(tr, m.root, dir.Cookie(random.IntN(2)*random.IntN(1000))) {
				n++
			}
			if most := int(m.root.Core.Size)/16 + 4096; n > most {
				t.Fatalf("%d entries", n)
			}
		default:
			err = m.dirs.Remove(tr, m.root, name, most)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := tr.Commit(); err != nil {
			return err
		}
	}
	return m.fs.Cache.Flush()
}

// Whatever is wrong with a directory, operations end with an error or as if nothing was.
func FuzzDamage(f *testing.F) {
	random := rand.New(rand.NewPCG(4, 5))
	for i := range 40 * len(forms()) {
		edits := make([]byte, 6*random.IntN(4))
		for i := range edits {
			edits[i] = byte(random.Uint32())
			if i%6 == 1 && random.IntN(2) == 0 || i%6 == 5 && random.IntN(4) == 0 {
				edits[i] = 0
			}
		}
		f.Add(uint8(i), uint64(i), edits)
	}
	f.Fuzz(func(t *testing.T, form uint8, seed uint64, edits []byte) {
		g := forms()[int(form)%len(forms())]
		m := g.damage(t, edits[:min(len(edits), 60)])
		_ = m.use(t, g.list, rand.New(rand.NewPCG(seed, 0)))
	})
}

// An index that says less of blocks of entries than there are is told of when it gets another one.
func TestShortList(t *testing.T) {
	for name, change := range map[string]func(b []byte, count int){
		"count": func(b []byte, _ int) { binary.BigEndian.PutUint32(b[len(b)-4:], 0) },
		"missing": func(b []byte, count int) {
			for i := range count {
				binary.BigEndian.PutUint16(b[len(b)-4-2*(i+1):], 0)
			}
			binary.BigEndian.PutUint16(b[len(b)-4-2:], 0xffff)
		},
	} {
		g := forms()[2]
		m, at := g.again(t), g.places[len(g.places)-1]
		b := make([]byte, m.fs.G.DirBlockSize)
		_, _ = m.d.ReadAt(b, at)
		change(b, int(binary.BigEndian.Uint32(b[len(b)-4:])))
		reseal(b)
		_, _ = m.d.WriteAt(b, at)
		var err error
		for i := 0; i < 100 && err == nil; i++ {
			_, err = m.dirs.Add(m.fs.Begin(100), m.root, fmt.Sprintf("%0100d", i), 77, 1, 100)
		}
		if err == nil || !strings.Contains(err.Error(), "is new, and the index lists") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Damage that checksums show is an error wherever it is, unless the block is of no interest.
func TestChecksums(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	for i, g := range forms() {
		if !g.fs.V5 || len(g.places) == 0 {
			continue
		}
		for range 10 {
			m := g.again(t)
			b := []byte{0}
			at := g.places[random.IntN(len(g.places))] + random.Int64N(int64(g.fs.G.BlockSize))
			_, _ = m.d.ReadAt(b, at)
			b[0] ^= 1 << random.IntN(8)
			_, _ = m.d.WriteAt(b, at)
			tr := m.fs.Begin(0)
			n, wrong := 0, 0
			for range m.dirs.Entries(tr, m.root, 0) {
				n++
			}
			for range 20 {
				name := g.list[random.IntN(len(g.list))]
				if _, found, err := m.dirs.Lookup(tr, m.root, name); err != nil {
					wrong++
				} else if !found {
					t.Errorf("directory %d: %q is not found, with byte %d changed", i, name, at)
				}
			}
			if len(g.places) == 1 && wrong != 20 {
				t.Errorf("directory %d: %d of 20 lookups fail, with byte %d changed", i, wrong, at)
			}
		}
	}
}

// failing is a device whose reads fail from the n-th on, or only that.
type failing struct {
	*livetest.Device
	n     int
	after bool
}

var errRead = errors.New("no such luck")

func (f *failing) Read(off int64, vec [][]byte, done func(error)) error {
	f.n--
	if f.n == 0 || f.after && f.n < 0 {
		done(errRead)
		return nil
	}
	return f.Device.Read(off, vec, done)
}

// Whichever read fails, an operation ends with that error, or needs it not; nothing is written.
func TestReadsFail(t *testing.T) {
	t.Parallel()
	ops := map[string]func(m *made, tr *live.Trans, name string) error{
		"lookup": func(m *made, tr *live.Trans, name string) error {
			_, found, err := m.dirs.Lookup(tr, m.root, name)
			if err == nil && !found {
				err = errors.New("it is not found")
			}
			return err
		},
		"add": func(m *made, tr *live.Trans, name string) error {
			_, err := m.dirs.Add(tr, m.root, "new", 77, 1, 100)
			return err
		},
		"remove": func(m *made, tr *live.Trans, name string) error {
			return m.dirs.Remove(tr, m.root, name, 100)
		},
		"replace": func(m *made, tr *live.Trans, name string) error {
			_, err := m.dirs.Replace(tr, m.root, name, 77, 1, 100)
			return err
		},
		"list": func(m *made, tr *live.Trans, name string) (err error) {
			for _, err = range m.dirs.Entries(tr, m.root, 0) {
			}
			return err
		},
	}
	for i, g := range forms() {
		if len(g.places) == 0 {
			continue
		}
		for verb, op := range ops {
			for n := 1; ; n++ {
				m := g.again(t)
				ring := &failing{Device: m.d, n: n, after: n%2 == 0}
				m.fs.Cache = buffer.New(ring, buffer.Config{Device: "test"})
				before := m.d.Clone()
				err := op(m, m.fs.Begin(100), g.list[n%len(g.list)])
				if err != nil && !errors.Is(err, errRead) {
					t.Fatalf("directory %d: %s, read %d: %v", i, verb, n, err)
				}
				if err == nil && ring.n <= 0 {
					t.Errorf("directory %d: %s, read %d fails, which nobody sees", i, verb, n)
				}
				for _, at := range g.places {
					if diff := livetest.Differ(before, m.d, at, int64(g.fs.G.BlockSize)); diff != "" {
						t.Fatalf("directory %d: %s, read %d: %s", i, verb, n, diff)
					}
				}
				if ring.n > 0 || n > 40 {
					break
				}
			}
		}
	}
}
