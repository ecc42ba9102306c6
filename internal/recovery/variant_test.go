package recovery

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// variants are filesystems with logs of other kinds.
var variants = []struct {
	name   string
	change func(s *geometry.Spec)
}{
	{"plain", nil},
	{"version 4", func(s *geometry.Spec) { s.Features.CRC = geometry.Given(false) }},
	{"log of version 1", func(s *geometry.Spec) {
		s.Features.CRC = geometry.Given(false)
		s.Features.LogVersion = geometry.Given(int64(1))
	}},
	{"sectors of 4 KiB", func(s *geometry.Spec) { s.SectorSize = geometry.Given(int64(4096)) }},
	{"stripe", func(s *geometry.Spec) { s.Log.StripeUnit512 = geometry.Given(int64(64)) }},
	{"external log", func(s *geometry.Spec) { s.Log.External = true }},
	{"blocks of 1 KiB", func(s *geometry.Spec) { s.BlockSize = geometry.Given(int64(1024)) }},
}

// Logs of all kinds are replayed, one that passes its end too, and are clean
// afterwards.
func TestVariants(t *testing.T) {
	for _, v := range variants {
		for _, wrap := range []bool{false, true} {
			f := newFilesystem(t, v.name, v.change)
			if wrap { // as if it had been full 4 times, and its head were near its end
				unit := max(1, f.log.Stripe/xlog.BlockSize)
				f.log.Start(5, (f.log.Blocks()-100)/unit*unit)
				f.log.Tail = f.log.LSN()
			}
			off := f.free(0)
			size := int(f.fs.Geometry.BlockSize)
			for i := range 60 {
				f.commit(logtest.Buffer(0, 0, daddr(off)+int64(i*size/xlog.BlockSize), bytes.Repeat([]byte{byte(i + 1)}, size), nil))
			}
			if wrap && f.log.Cycle != 6 {
				t.Fatalf("%s: the log does not pass its end", v.name)
			}
			if rep := f.recover(nil); !rep.Finished || rep.Stats.Transactions != 60 {
				t.Errorf("%s: %+v", v.name, rep)
			}
			for i := range 60 {
				if b := f.bytes(off+int64(i*size), size); b[0] != byte(i+1) || b[size-1] != byte(i+1) {
					t.Errorf("%s: block %d is not replayed", v.name, i)
				}
			}
			rep, err := attempt{}.run(t, f.d, f.ext)
			if err != nil || !rep.Log.Clean {
				t.Errorf("%s: afterwards %+v, %v", v.name, rep.Log, err)
			}
		}
	}
}

func TestExternalLogIsWanted(t *testing.T) {
	f := newFilesystem(t, "external log", variants[5].change)
	f.install()
	if _, err := (attempt{}).run(t, f.d, nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--logdev") {
		t.Error(err)
	}
	g := plain(t)
	g.install()
	if _, err := (attempt{}).run(t, g.d, f.ext); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

// Transactions may be mixed, and continued in the next records.
func TestMixedTransactions(t *testing.T) {
	f := plain(t)
	item := func(i int) logtest.Item {
		return logtest.Buffer(0, 0, daddr(f.free(8*i)), bytes.Repeat([]byte{byte(i + 1)}, 32<<10), nil)
	}
	parts := [][]logtest.Op{logtest.Transaction(1, item(0), item(1)), logtest.Transaction(2, item(2), item(3)), logtest.Begin(3)}
	parts[2] = append(parts[2], logtest.Regions(3, item(4))...) // without an end
	var ops []logtest.Op
	for i := range 6 {
		for _, p := range parts {
			if i < len(p) {
				ops = append(ops, p[i])
			}
		}
	}
	for _, p := range parts[:2] {
		ops = append(ops, p[6:]...)
	}
	if len(f.log.AddAll(ops...)) < 5 {
		t.Fatal("it fits too few records")
	}
	f.recover(nil)
	for i := range 5 {
		want := byte(i + 1)
		if i == 4 {
			want = 0
		}
		if b := f.bytes(f.free(8*i), 32<<10); b[0] != want || b[len(b)-1] != want {
			t.Errorf("item %d: %d, %d", i, b[0], b[len(b)-1])
		}
	}
}

// grown is the superblock of one that has grown by an AG that is shorter.
func (f *filesystem) grown(blocks uint64) []byte {
	b := f.bytes(0, 512)
	be.PutUint64(b[8:], f.fs.SB.DataBlocks+blocks)
	be.PutUint32(b[88:], f.fs.SB.AGCount+1)
	return b
}

func TestGrowth(t *testing.T) {
	const more = 2048 // blocks
	for _, order := range []string{"before", "after"} {
		f := plain(t)
		f.d.size += more * 4096
		start := f.d.size - more*4096
		sector := func(n int, off int64, kind ondisk.BufferType, change func(b []byte)) logtest.Item {
			b := f.bytes(int64(n)*512, 512)
			change(b)
			return logtest.Buffer(uint8(kind), 0, daddr(off), b, nil)
		}
		agf := sector(1, start+512, ondisk.BufferAGF, func(b []byte) {
			be.PutUint32(b[8:], f.fs.SB.AGCount)
			be.PutUint32(b[12:], more)
			be.PutUint32(b[52:], 1000)
			be.PutUint32(b[92:], 0) // no refcount btree
		})
		agi := sector(2, start+1024, ondisk.BufferAGI, func(b []byte) {
			be.PutUint32(b[8:], f.fs.SB.AGCount)
			be.PutUint32(b[12:], more)
		})
		f.commit(logtest.Buffer(uint8(ondisk.BufferSuperblock), 0, 0, f.grown(more), nil))
		f.commit(agf, agi)
		if order == "before" { // blocks that are not there yet
			f.newLog()
			f.commit(agf, agi)
			f.commit(logtest.Buffer(uint8(ondisk.BufferSuperblock), 0, 0, f.grown(more), nil))
			var bad *xlog.Corrupt
			if _, err := f.try(nil); !errors.As(err, &bad) {
				t.Error(err)
			}
			continue
		}
		if rep := f.recover(nil); !rep.Finished {
			t.Errorf("%+v", rep)
		}
		s, _ := ondisk.DecodeSuperblock(f.bytes(0, 512))
		if s.AGCount != f.fs.SB.AGCount+1 || s.LSN == 0 {
			t.Errorf("%+v", s)
		}
	}
}

func (f *filesystem) logFeatures(bits uint32) {
	f.changeBlock(0, 512, ondisk.SuperblockCRC, func(b []byte) { be.PutUint32(b[220:], bits) })
}

func TestLogFeatures(t *testing.T) {
	f := plain(t)
	f.logFeatures(6)
	f.commit(logtest.QuotaOff(0))
	if _, err := f.try(nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "log features 0x6, of which 0x6 are unknown") {
		t.Error(err)
	}
	f.checkLog(true)
	f = plain(t)
	f.logFeatures(1)
	f.commit(logtest.QuotaOff(0))
	f.install()
	var log []write
	if _, err := (attempt{ring: func(r *testRing) { r.log = &log }}).run(t, f.d, nil); err != nil {
		t.Fatal(err)
	}
	// The bit is taken back after the last flush of the log, in a write of its own.
	if n := len(log); n < 4 || log[n-3].data != nil || log[n-2].off != 0 || be.Uint32(log[n-2].data[220:]) != 0 || log[n-1].data != nil {
		t.Errorf("%d writes", n)
	}
	for _, w := range log[:len(log)-3] {
		if w.data != nil && w.off == 0 && be.Uint32(w.data[220:]) != 1 {
			t.Error("it is taken back too early")
		}
	}
}
