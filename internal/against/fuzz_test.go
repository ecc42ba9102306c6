package against_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"mkfs/internal/against"
	"mkfs/internal/buffer"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
	"mkfs/internal/tree"
)

// spy is a device that notes what is read as blocks of metadata, and may fail.
type spy struct {
	*livetest.Device
	read  map[int64]int // how many bytes at a place
	fail  int           // the read that fails, counted from 1; 0 for none
	count int
	err   error
}

var errBroken = errors.New("broken")

func (s *spy) Read(off int64, vec [][]byte, done func(error)) error {
	if s.count++; s.count == s.fail {
		s.err = errBroken
	}
	if s.err != nil {
		done(s.err)
		return nil
	}
	if s.read != nil {
		s.read[off] = len(vec[0])
	}
	return s.Device.Read(off, vec, done)
}

func (s *spy) Reap(int) error { return s.err }

// through compares a device by way of a spy.
func (s *spy) compare(t testing.TB, src tree.Source, change func(sb *ondisk.Superblock)) (list []against.Difference, n against.Counts, err error) {
	t.Helper()
	fs := livetest.Load(t, s.Device)
	fs.Cache = buffer.New(s, buffer.Config{Device: "test", ReadOnly: true, Stream: true, Limit: 1 << 20})
	sb := superblock(s.Device)
	if change != nil {
		change(&sb)
	}
	n, err = against.Compare(context.Background(), against.Job{
		FS: fs, Super: &sb, Ring: s, Source: src, Tell: func(d against.Difference) { list = append(list, d) },
	})
	return list, n, err
}

func superblock(d *livetest.Device) ondisk.Superblock {
	b := make([]byte, 512)
	_, _ = d.ReadAt(b, 0)
	sb, _ := ondisk.DecodeSuperblock(b)
	return sb
}

var (
	images = flag.Int("images", 150, "how many damaged images of a kind are compared")
	seed   = flag.Uint64("seed", 1, "of the damage")
)

// kinds are images for tests of damage.
var kinds = [][]string{{"-n", "parent=1"}, {"-m", "crc=0", "-b", "size=1024"}, {"-b", "size=1024", "-n", "size=4096,parent=1"}}

// Of an image with random damage there are differences, and nothing worse.
func TestRandomDamage(t *testing.T) {
	for _, args := range kinds {
		path, root := image(t, args...)
		first := &spy{Device: livetest.Open(t, path), read: map[int64]int{}}
		entries := record(t, &host{root: root})
		if list, _, err := first.compare(t, &replay{list: entries}, nil); err != nil || len(list) > 0 {
			t.Fatal(list, err)
		}
		var places []int64
		for off := range first.read {
			places = append(places, off)
		}
		random := rand.New(rand.NewPCG(*seed, uint64(len(args))))
		found := 0
		for range *images {
			s := &spy{Device: first.Device.Clone()}
			for range 1 + random.IntN(3) {
				off := places[random.IntN(len(places))]
				damage(s.Device, off, first.read[off], random)
			}
			_, n, err := s.compare(t, &replay{list: entries}, nil)
			if err != nil {
				t.Error(err)
			}
			if n.Differences > 0 {
				found++
			}
		}
		if found < *images/3 {
			t.Errorf("%v: differences in %d images", args, found)
		}
	}
}

// damage changes a few bytes of a block, or of an inode in it, and mostly makes its checksum right.
func damage(d *livetest.Device, off int64, n int, random *rand.Rand) {
	b, sb := make([]byte, n), superblock(d)
	_, _ = d.ReadAt(b, off)
	part, crc := b, -1
	if _, ok := ondisk.InodeVersion(b); ok {
		size := int(sb.InodeSize)
		part, crc = b[random.IntN(n/size)*size:][:size], ondisk.InodeCRC
	} else if k := ondisk.Describe(b); k != nil {
		crc = k.CRC
	}
	for range 1 + random.IntN(4) {
		at := random.IntN(min(len(part), 16<<random.IntN(10)))
		switch random.IntN(3) {
		case 0:
			part[at] ^= 1 << random.IntN(8)
		case 1:
			part[at] = byte(random.Uint32())
		default:
			part[at] = []byte{0, 0xff, 0x7f, 0x80}[random.IntN(4)]
		}
	}
	if crc >= 0 && sb.IsV5() && random.IntN(10) > 0 {
		ondisk.Seal(part, crc)
	}
	_, _ = d.WriteAt(b, off)
}

// A superblock with any numbers of inodes is no worse.
func TestDamagedSuperblock(t *testing.T) {
	path, root := image(t)
	s := &spy{Device: livetest.Open(t, path)}
	entries := record(t, &host{root: root})
	random := rand.New(rand.NewPCG(1, 9))
	for range 50 {
		_, n, err := s.compare(t, &replay{list: entries}, func(sb *ondisk.Superblock) {
			any := func() uint64 { return random.Uint64() >> random.IntN(64) }
			sb.BitmapInode, sb.UserQuota = any(), any()
			if random.IntN(2) == 0 {
				sb.RootInode = any()
			}
		})
		if err != nil || n.Differences == 0 {
			t.Errorf("%+v, %v", n, err)
		}
	}
}

// Whichever read fails: the error is told, and says where.
func TestFailedReads(t *testing.T) {
	path, root := image(t, "-n", "parent=1")
	d := livetest.Open(t, path)
	entries := record(t, &host{root: root})
	whole := &spy{Device: d}
	if list, _, err := whole.compare(t, &replay{list: entries}, nil); err != nil || len(list) > 0 {
		t.Fatal(list, err)
	}
	for n := 1; n <= whole.count; n++ {
		s := &spy{Device: d, fail: n}
		list, _, err := s.compare(t, &replay{list: entries}, nil)
		if !errors.Is(err, errBroken) || len(list) > 0 || !strings.Contains(err.Error(), "at byte") {
			t.Errorf("read %d of %d: %v, %v", n, whole.count, list, err)
		}
	}
}

// An error of the source ends the comparison, and so does a signal.
func TestStopped(t *testing.T) {
	path, root := image(t)
	d := livetest.Open(t, path)
	entries := record(t, &host{root: root})
	sb := superblock(d)
	for n := range entries {
		src := &broken{replay: replay{list: entries}, at: n}
		_, err := against.Compare(context.Background(), against.Job{FS: livetest.Load(t, d), Super: &sb, Ring: d, Source: src})
		if !errors.Is(err, errBroken) {
			t.Errorf("entry %d: %v", n, err)
		}
	}
	why := errors.New("a signal")
	for n := range 30 {
		ctx, cancel := context.WithCancelCause(context.Background())
		job := against.Job{FS: livetest.Load(t, d), Super: &sb, Ring: d, Source: &replay{list: entries}}
		job.Progress = func(c *against.Counts) {
			if c.Entries > int64(10*n) {
				cancel(why)
			}
		}
		if c, err := against.Compare(ctx, job); !errors.Is(err, why) && int(c.Entries) < len(entries) {
			t.Errorf("after %d entries: %v", n, err)
		}
		cancel(nil)
	}
}

// broken is a source of which an entry, or its data, cannot be read.
type broken struct {
	replay
	at int
}

func (b *broken) Next() (*tree.Entry, error) {
	e, err := b.replay.Next()
	if err != nil || b.replay.at <= b.at {
		return e, err
	}
	if e.Data != nil && e.Size > 0 && e.Link == (tree.Link{}) {
		c := *e
		c.Data = badData{}
		return &c, nil
	}
	return nil, errBroken
}

type badData struct{}

func (badData) Next(off int64) (int64, int64, error) { return off, off + 1, nil }
func (badData) ReadAt([]byte, int64) error           { return errBroken }
