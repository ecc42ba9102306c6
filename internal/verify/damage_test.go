package verify

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// Any changed byte of a V5 structure is found where it is.
func TestFlip(t *testing.T) {
	clean := newImage(t, gib, 1, nil)
	rapid.Check(t, func(rt *rapid.T) {
		agno := geometry.AGNumber(rapid.IntRange(0, 3).Draw(rt, "ag"))
		p := place(rapid.SampledFrom([]int{0, 1, 2, 3, 5, 6, 7, 8, 9, 10}).Draw(rt, "place"))
		at := clean.part(agno, p)
		off := at.off + int64(rapid.IntRange(0, at.size-1).Draw(rt, "at"))
		old := clean.bytes(t, off, 1)[0]
		m := clean.with(off, []byte{old ^ byte(rapid.IntRange(1, 255).Draw(rt, "bits"))})
		r := m.verify(t, nil)
		if r.Count == 0 || r.Faults[0].AG != int64(agno) || r.Faults[0].Structure != p.String() || r.Faults[0].Offset != at.off {
			rt.Fatalf("%v", r.Faults)
		}
	})
}

// Headers that are sound but not where they belong.
func TestForeignHeaders(t *testing.T) {
	clean, other := newImage(t, gib, 1, nil), newImage(t, gib, 9, nil)
	size := int(clean.g.Bytes(clean.g.HeaderBlocks()))
	start := func(agno geometry.AGNumber) int64 { return int64(clean.g.Offset(agno, 0)) }

	for agno := range geometry.AGNumber(4) {
		if agno == 0 {
			continue // its superblock would change what the others are judged by
		}
		m := clean.with(start(agno), other.bytes(t, start(agno), size))
		faultsOf(t, m.verify(t, nil), int64(agno), "superblock", "AGF", "AGI", "AGFL")
	}
	m := clean.with(start(1), clean.bytes(t, start(3), size)).with(start(3), clean.bytes(t, start(1), size))
	r := m.verify(t, nil)
	for _, agno := range []int64{1, 3} {
		faultsOf(t, r, agno, "AGF", "AGI", "AGFL", "bnobt root", "refcountbt root")
	}
	// The roots alone.
	bno := clean.part(1, placeRoots+rootBno)
	m = clean.with(bno.off, other.bytes(t, bno.off, bno.size))
	faultsOf(t, m.verify(t, nil), 1, "bnobt root")
}

func faultsOf(t *testing.T, r Report, agno int64, structures ...string) {
	t.Helper()
	for _, s := range structures {
		if !slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.AG == agno && f.Structure == s }) {
			t.Errorf("no fault of AG %d %s: %v", agno, s, r.Faults)
		}
	}
}

// A filesystem whose UUID was changed keeps the old one in its blocks, and one
// with groups of realtime blocks has more to copy.
func TestCopiedFeatures(t *testing.T) {
	clean := newImage(t, gib, 1, nil)
	supers := func(m *image, change func([]byte)) *image {
		for agno := range geometry.AGNumber(4) {
			m = m.changed(t, agno, placeSuperblock, change)
		}
		return m
	}
	incompat := func(bits uint64) func([]byte) { return field(216, 4, 0xeb|bits) }
	m := supers(clean, func(b []byte) {
		copy(b[248:264], b[32:48])
		b[32] = 77
		incompat(4)(b)
	})
	log := int64(clean.g.Offset(clean.g.Log.AG, clean.g.Log.Start))
	m = m.with(log+304, []byte{77})
	if r := m.verify(t, nil); r.Status() != Clean {
		t.Fatalf("another UUID: %v", r.Faults)
	}
	faultsOf(t, m.changed(t, 2, placeAGF, field(64, 1, 77)).verify(t, nil), 2, "AGF")
	for _, c := range []struct {
		bits uint64
		at   int
		want string
	}{
		{4, 248, "metadata UUID"}, {0x100, 272, "realtime groups"}, {0x300, 288, "zoned realtime section"},
	} {
		m := supers(clean, incompat(c.bits)).changed(t, 3, placeSuperblock, field(c.at, 1, 9))
		said := false
		for _, f := range m.verify(t, nil).Faults {
			said = said || f.AG == 3 && f.Structure == "superblock" && strings.HasPrefix(f.Message, c.want)
		}
		if !said {
			t.Errorf("%#x at %d: %v", c.bits, c.at, m.verify(t, nil).Faults)
		}
	}
}

func TestTruncated(t *testing.T) {
	clean := newImage(t, gib, 1, nil)
	for _, size := range []int64{0, 100, 511, 512, 4096, 28 << 10, 300 << 20, gib - 1} {
		m := *clean
		m.size = size
		r, err := m.run(nil)
		if err != nil || r.Status() != Faulty || r.AGs > int64(geometry.Bytes(size)/clean.g.Bytes(clean.g.AGBlocks)) {
			t.Errorf("%d bytes: %+v, %v", size, r, err)
		}
	}
	// The device says it is longer than it is.
	m := *clean
	m.size = 600 << 20
	opts := Options{Data: Device{Reader: newReader(&m, 4, 2), Size: gib}}
	if _, err := Run(context.Background(), opts); !errors.Is(err, io.EOF) {
		t.Errorf("reading behind the end: %v", err)
	}
	opts.Data.Reader = newReader(&failing{clean, 512 << 20}, 4, 2)
	if _, err := Run(context.Background(), opts); err == nil || !strings.Contains(err.Error(), "bad block") {
		t.Errorf("unreadable: %v", err)
	}
}

// failing cannot read one place.
type failing struct {
	*image
	off int64
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.off && f.off < off+int64(len(p)) {
		return 0, errors.New("bad block")
	}
	return f.image.ReadAt(p, off)
}

// A report does not depend on depth, alignment or the order of completion.
func TestSameReport(t *testing.T) {
	m := newImage(t, 64*gib, 1, func(s *geometry.Spec) { s.Data.AGCount = geometry.Given(int64(60)) })
	for agno := range geometry.AGNumber(60) {
		if agno%3 == 1 {
			m = m.changed(t, agno, placeAGI, field(16, 4, 5)).changed(t, agno, placeAGF, field(56, 4, 1))
		}
	}
	told := func(o *Options) { o.MaxFaults = 0 }
	want := m.verify(t, told)
	if want.Count != 41 || len(want.Faults) != DefaultMaxFaults {
		t.Fatalf("%d faults, %d told", want.Count, len(want.Faults))
	}
	for seed := range uint64(20) {
		depth := 1 + int(seed)*3
		got := m.verify(t, func(o *Options) {
			o.MaxFaults, o.Depth, o.Data.Align = 0, depth, 512<<(seed%4)
			o.Data.Reader = newReader(m, depth, seed)
		})
		if got.Count != want.Count || !slices.Equal(got.Faults, want.Faults) || got.Sums != want.Sums {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}

func TestCanceled(t *testing.T) {
	m := newImage(t, gib, 1, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	opts := Options{Data: Device{Reader: newReader(m, 4, 1), Size: m.size}}
	if _, err := Run(ctx, opts); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Whatever was asked of mkfs verifies as clean.
func TestFormatted(t *testing.T) {
	on, off := geometry.Given(true), geometry.Given(false)
	for name, change := range map[string]func(*geometry.Spec){
		"default":  nil,
		"v4":       func(s *geometry.Spec) { s.Features.CRC = off },
		"v4 512":   func(s *geometry.Spec) { s.Features.CRC = off; s.BlockSize = geometry.Given(int64(512)) },
		"not lazy": func(s *geometry.Spec) { s.Features.CRC, s.Features.LazyCount = off, off },
		"old log":  func(s *geometry.Spec) { s.Features.CRC = off; s.Features.LogVersion = geometry.Given(int64(1)) },
		"no align": func(s *geometry.Spec) { s.Features.CRC, s.Features.Align = off, off },
		"1k":       sized(1024),
		"64k":      sized(65536),
		"4k sectors": func(s *geometry.Spec) {
			s.SectorSize, s.Log.SectorSize = geometry.Given(int64(4096)), geometry.Given(int64(4096))
		},
		"no rmapbt": func(s *geometry.Spec) { s.Features.Rmapbt = off },
		"plain": func(s *geometry.Spec) {
			s.Features.Rmapbt, s.Features.Reflink, s.Features.Finobt, s.Features.Sparse = off, off, off, off
		},
		"striped": func(s *geometry.Spec) {
			s.Data.StripeUnit512, s.Data.StripeWidth512 = geometry.Given(int64(128)), geometry.Given(int64(512))
		},
		"log in 0":  func(s *geometry.Spec) { s.Log.AG = geometry.Given(int64(0)) },
		"case fold": func(s *geometry.Spec) { s.Features.CaseFold = on },
	} {
		t.Run(name, func(t *testing.T) {
			r := newImage(t, gib, 1, change).verify(t, func(o *Options) { o.Data.Align = 4096 })
			if r.Status() != Clean || r.Log != LogClean || r.Compared == (name == "not lazy") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A log without the note of an unmount is dirty, and that is no fault; but a
// fault counts for more.
func TestLog(t *testing.T) {
	clean := newImage(t, gib, 1, nil)
	log := int64(clean.g.Offset(clean.g.Log.AG, clean.g.Log.Start))
	end := log + int64(clean.g.Bytes(clean.g.Log.Blocks))
	record := func(change func([]byte)) *image {
		b := clean.bytes(t, log, 2*ondisk.LogBlock)
		change(b)
		return clean.with(log, b)
	}
	dirty := record(field(512+9, 1, 0))
	for _, c := range []struct {
		name   string
		m      *image
		status Status
		log    LogState
	}{
		{"no unmount operation", dirty, Dirty, LogDirty},
		{"more operations", record(field(40, 4, 2)), Dirty, LogDirty},
		{"too short", record(field(12, 4, 0)), Faulty, LogFaulty}, // and nothing before it
		{"dirty, with a fault", dirty.changed(t, 2, placeAGF, field(8, 4, 5)), Faulty, LogDirty},
		// Blocks may be older than one another.
		{"dirty, with counters", dirty.changed(t, 2, placeAGF, field(52, 4, 50000)), Dirty, LogDirty},
		{"dirty, with another root", dirty.changed(t, 2, placeAGF, field(16, 4, 500)), Dirty, LogDirty},
		// Nothing can be ahead of the head.
		{"dirty, at the head", dirty.changed(t, 2, placeAGF, field(208, 8, 1<<32|2)), Dirty, LogDirty},
		{"dirty, and an AGF ahead", dirty.changed(t, 2, placeAGF, field(208, 8, 1<<32|3)), Faulty, LogDirty},
		{"dirty, and a root ahead", dirty.changed(t, 3, placeRoots+rootCnt, field(24, 8, 2<<32)), Faulty, LogDirty},
		{"dirty, and the superblock ahead", dirty.changed(t, 0, placeSuperblock, field(240, 8, 2<<32)), Faulty, LogDirty},
		{"the superblock at the head", clean.changed(t, 0, placeSuperblock, field(240, 8, 1<<32|2)), Clean, LogClean},
		{"the superblock null", clean.changed(t, 0, placeSuperblock, field(240, 8, ondisk.NullLSN)), Clean, LogClean},
		// Only the primary one is compared, by the kernel too.
		{"another superblock ahead", clean.changed(t, 1, placeSuperblock, field(240, 8, 9<<32)), Clean, LogClean},
		{"zero", record(func(b []byte) { clear(b) }), Faulty, LogFaulty},
		{"UUID", record(field(304, 4, 1)), Faulty, LogFaulty},
		{"no record", record(field(0, 4, 1)), Faulty, LogFaulty},
		{"cycle", record(field(4, 4, 8)), Faulty, LogFaulty},
		{"end written", clean.with(end-512, []byte{0, 0, 0, 9}), Faulty, LogFaulty},
	} {
		r := c.m.verify(t, nil)
		if r.Status() != c.status || r.Log != c.log || r.Compared && c.log != LogClean {
			t.Errorf("%s: %+v", c.name, r)
		}
		live := c.m.verify(t, func(o *Options) { o.Live = true })
		if strings.Contains(c.name, "ahead") && live.Count > 0 {
			t.Errorf("%s, while it may be written to: %v", c.name, live.Faults)
		}
	}
}

// An external log that is not given is not judged, and its filesystem as if it
// were dirty.
func TestExternalLog(t *testing.T) {
	clean := newImage(t, gib, 1, nil)
	m := clean.changed(t, 0, placeSuperblock, field(48, 8, 0))
	for agno := range geometry.AGNumber(3) {
		m = m.changed(t, agno+1, placeSuperblock, field(48, 8, 0))
	}
	if r := m.verify(t, nil); r.Status() != Clean || r.Log != LogUnknown || r.Compared {
		t.Errorf("not given: %+v", r)
	}
	n := int64(clean.g.Bytes(clean.g.Log.Blocks))
	section := io.NewSectionReader(clean, int64(clean.g.Offset(clean.g.Log.AG, clean.g.Log.Start)), n)
	log := func(size int64) func(*Options) {
		return func(o *Options) { o.Log = &Device{Reader: newReader(section, 1, 1), Size: size} }
	}
	if r := m.verify(t, log(n)); r.Log != LogClean || !r.Compared || r.Count != 0 {
		t.Errorf("given: %+v", r)
	}
	if r := m.verify(t, log(n-512)); r.Log != LogFaulty || r.Faults[0].AG != -1 {
		t.Errorf("too short: %+v", r)
	}
}

// FuzzVerify: nothing on a device makes it panic, or take long.
func FuzzVerify(f *testing.F) {
	clean := newImage(f, 300<<20, 1, func(s *geometry.Spec) { s.SmallAllowed = true })
	v4 := newImage(f, 300<<20, 1, func(s *geometry.Spec) { s.SmallAllowed = true; s.Features.CRC = geometry.Given(false) })
	f.Add(uint8(0), uint16(124), []byte{60}, uint8(1), uint16(16), []byte{0, 0, 0, 9}, true)
	f.Add(uint8(5), uint16(4), []byte{0, 1, 0, 200}, uint8(11), uint16(44), []byte{255, 255, 255, 255}, false)
	f.Add(uint8(0), uint16(84), []byte{0, 0, 0, 0, 0, 0, 0, 0}, uint8(0), uint16(8), []byte{255}, true)
	f.Fuzz(func(t *testing.T, place1 uint8, at1 uint16, data1 []byte, place2 uint8, at2 uint16, data2 []byte, v5 bool) {
		m := v4
		if v5 {
			m = clean
		}
		for _, e := range []struct {
			p    uint8
			at   uint16
			data []byte
		}{{place1, at1, data1}, {place2, at2, data2}} {
			change := func(b []byte) { copy(b[int(e.at)%len(b):], e.data) }
			switch p := place(e.p % 12); {
			case p == placeLog:
				off := int64(m.g.Offset(m.g.Log.AG, m.g.Log.Start))
				b := m.bytes(t, off, 4096)
				change(b)
				m = m.with(off, b)
			case p > placeLog+3 && !v5 || p == 11:
				m = m.changed(t, 1, placeAGF, change)
			default:
				m = m.changed(t, 0, p, change)
			}
		}
		r, err := m.run(nil)
		if err == nil && int64(len(r.Faults)) > r.Count {
			t.Error("more faults told than counted")
		}
	})
}

// A sound filesystem that is not the one asked for is a fault.
func TestOtherFilesystem(t *testing.T) {
	old := newImage(t, gib, 1, nil)
	for _, same := range []bool{true, false} {
		id := ondisk.UUID(old.bytes(t, 32, 16))
		if !same {
			id[3] ^= 1
		}
		r := old.verify(t, func(o *Options) { o.UUID = &id })
		if found := r.Count == 1 && strings.Contains(r.Faults[0].Message, "another filesystem"); found == same || same && r.Count > 0 {
			t.Errorf("same %v: %v", same, r.Faults)
		}
	}
}
