package xlog

import (
	"errors"
	"fmt"
	"testing"

	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
)

// shapes are kinds of logs.
var shapes = []struct {
	name   string
	change func(w *logtest.Log)
}{
	{"version 1", func(w *logtest.Log) { w.Version, w.Buffer, w.Sum = 1, 32<<10, false }},
	{"version 1 with checksums", func(w *logtest.Log) { w.Version, w.Buffer = 1, 16<<10 }},
	{"version 2", func(*logtest.Log) {}},
	{"without checksums", func(w *logtest.Log) { w.Sum = false }},
	{"64 KiB", func(w *logtest.Log) { w.Buffer = 64 << 10 }},
	{"256 KiB", func(w *logtest.Log) { w.Buffer = 256 << 10 }},
	{"sectors of 4 KiB", func(w *logtest.Log) { w.Stripe = 4096 }},
	{"stripe of 32 KiB", func(w *logtest.Log) { w.Stripe = 32 << 10 }},
	{"stripe of 256 KiB", func(w *logtest.Log) { w.Stripe, w.Buffer = 256<<10, 256<<10 }},
}

// history writes records until the log has been passed a number of times, and
// then some. The tail stays some records behind.
func history(w *logtest.Log, laps uint32, then int) (records []*logtest.Record) {
	const behind = 3
	for then > 0 {
		if w.Cycle > laps {
			then--
		}
		n := len(records)
		if n >= behind {
			w.Tail = records[n-behind].LSN
		}
		r := w.Add(fill(100+(n*7919)%(w.Room()-100), byte(n)))
		records = append(records, r)
	}
	return records
}

func TestShapes(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			for _, blocks := range []int{5000, 8192} {
				for laps := range uint32(3) {
					w := formatted(blocks, s.change)
					records := history(w, laps, 4)
					upTo(w, records).check(t, w)
					records = append(records, w.Unmount())
					upTo(w, records).check(t, w)
				}
			}
		})
	}
}

// A log that ends with a record ends at its start.
func TestFullToTheEnd(t *testing.T) {
	for _, laps := range []uint32{0, 1} {
		w := formatted(4096, nil)
		records := history(w, laps, 4)
		for w.Cycle == laps+1 {
			w.Tail = records[len(records)-3].LSN
			left := (w.Blocks() - w.Head) * BlockSize
			records = append(records, w.Add(fill(min(left, 32<<10)-BlockSize, 1)))
			if left <= 32<<10 {
				break
			}
		}
		want := upTo(w, records)
		if want.head != 0 || want.cycle != laps+2 {
			t.Fatalf("the test's log ends at %d:%d", want.cycle, want.head)
		}
		want.check(t, w)
	}
}

func TestEmptyAndNew(t *testing.T) {
	w := logtest.New(4096, testUUID)
	s, err := reading(w).Find()
	if err != nil || !s.Clean || !s.Empty || s.Cycle != 1 || s.Head != 0 {
		t.Errorf("zeros: %+v, %v", s, err)
	}
	for _, shape := range shapes {
		w := formatted(4096, shape.change)
		s, err := reading(w).Find()
		if err != nil || !s.Clean || s.Empty || s.Cycle != 1 || s.Head != w.Head {
			t.Errorf("%s: %+v, %v", shape.name, s, err)
		}
	}
	if _, err := New(nil, Shape{}).Find(); err == nil {
		t.Error("a log of no blocks")
	}
}

// The record of mkfs.xfs is longer than it says that records are. If nothing
// is in the log but that and one that is replayed from it on, it is read.
func TestRecordOfMkfs(t *testing.T) {
	for _, stripe := range []int{32 << 10, 64 << 10, 256 << 10} {
		w := formatted(8192, func(w *logtest.Log) { w.Stripe, w.Buffer = stripe, max(stripe, 32<<10) })
		first := &logtest.Record{Raw: w.B[:w.Head*BlockSize], LSN: 1 << 32}
		put32(first.Raw[320:], 32<<10)
		w.Tail = 1 << 32
		rec := w.Add(fill(1000, 1))
		l := reading(w)
		s, err := l.Find()
		if err != nil || s.Clean || s.Tail != 0 || s.Head != rec.Block+rec.Blocks() {
			t.Fatalf("stripe %d: %+v, %v", stripe, s, err)
		}
		var blocks []int
		for r, err := range l.Records(s.Tail, s.Head) {
			if err != nil {
				t.Fatal(err)
			}
			blocks = append(blocks, r.Block)
		}
		if len(blocks) != 2 || blocks[0] != 0 || blocks[1] != rec.Block {
			t.Errorf("stripe %d: records at %v", stripe, blocks)
		}
	}
}

func put32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
}

// Records that the head passed while the tail was still said to be there are
// no damage.
func TestOverwrittenTail(t *testing.T) {
	w := formatted(8192, nil)
	records := history(w, 1, 60)
	oldest := records[0]
	for _, r := range records { // what is still there
		if r.LSN>>32 == uint64(w.Cycle)-1 && r.Block > w.Head+100 {
			oldest = r
			break
		}
	}
	w.Tail = oldest.LSN
	last := w.Add(fill(100, 1))
	records = append(records, last)
	want := upTo(w, records)
	want.check(t, w)

	w.Head = oldest.Block - 20 // a write that got over the tail, and is torn itself
	torn := w.Make(fill(20<<10, 2))
	for i := range torn.Blocks() {
		if at := torn.Block + i; at >= oldest.Block {
			copy(w.B[at*BlockSize:], make([]byte, BlockSize))
			put32(w.B[at*BlockSize:], w.Cycle-1)
		}
	}
	s, err := reading(w).Find()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range want.records {
		if r.Block >= torn.Block+torn.Blocks() {
			want.records = want.records[i:]
			break
		}
	}
	if s.Tail != want.records[0].Block || s.Head != want.head {
		t.Errorf("tail %d, head %d; want %d, %d", s.Tail, s.Head, want.records[0].Block, want.head)
	}
	if err := want.recordsDiffer(reading(w), &s); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	unsealed := func(format uint32) func(w *logtest.Log) {
		return func(w *logtest.Log) { w.Format, w.Sum = format, false }
	}
	for _, c := range []struct {
		name   string
		change func(w *logtest.Log)
		find   string // what Find says, which trusts only what has a checksum
		open   string // what Open says
	}{
		{"big-endian", func(w *logtest.Log) { w.Format = 2 }, "log block 2: not a log of this filesystem: it was written on a big-endian machine", ""},
		{"big-endian, without checksums", unsealed(2), "", "log block 2: not a log of this filesystem: it was written on a big-endian machine"},
		{"IRIX", unsealed(0), "", "log block 2: not a log of this filesystem: it was written by IRIX"},
		{"IRIX by name", unsealed(3), "", "log block 2: not a log of this filesystem: it was written by IRIX"},
		{"unknown", func(w *logtest.Log) { w.Format = 9 }, "log block 2: not a log of this filesystem: its format is 9", ""},
		{"unknown, without checksums", unsealed(9), "", "log block 2: not a log of this filesystem: its format is 9"},
		{"foreign", func(w *logtest.Log) { w.UUID = ondisk.UUID{9} },
			"log block 2: not a log of this filesystem: its UUID is 09000000-0000-0000-0000-000000000000", ""},
		{"no UUID", func(w *logtest.Log) { w.UUID = ondisk.UUID{}; w.Format = 0 },
			"", "log block 2: not a log of this filesystem: it was written by IRIX"},
	} {
		w := formatted(4096, nil)
		c.change(w)
		w.Add(fill(1000, 1))
		l := reading(w)
		l.UUID = testUUID
		s, err := l.Find()
		if text(err) != c.find || err != nil && !errors.Is(err, ErrForeign) {
			t.Errorf("%s: Find: %v", c.name, err)
		}
		if err != nil {
			continue
		}
		for rec, err := range l.Records(s.Tail, s.Head) {
			if err == nil {
				err = l.Open(rec)
			}
			if text(err) != c.open || !errors.Is(err, ErrForeign) {
				t.Errorf("%s: Open: %v", c.name, err)
			}
		}
	}
}

// A whole record among others, of another version or filesystem, is refused: it
// is no damage, and what is behind it is not to be dropped.
func TestForeignAmongOthers(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *logtest.Log)
		want   string
	}{
		{"version 1", func(w *logtest.Log) { w.Version, w.Buffer = 1, 32<<10 }, "its record is of version 1, the log of version 2"},
		{"UUID", func(w *logtest.Log) { w.UUID = ondisk.UUID{9} }, "its UUID is 09000000-0000-0000-0000-000000000000"},
		{"format", func(w *logtest.Log) { w.Format = 2 }, "it was written on a big-endian machine"},
	} {
		for _, flip := range []bool{false, true} {
			w := formatted(4096, nil)
			w.Tail = w.LSN()
			for range 3 {
				w.Add(fill(1000, 1))
			}
			usual := *w
			c.change(w)
			other := w.Add(fill(2000, 2))
			w.Version, w.Buffer, w.UUID, w.Format = usual.Version, usual.Buffer, usual.UUID, usual.Format
			w.Add(fill(1000, 3))
			if flip { // then it is damage like any other
				w.B[(other.Block+1)*BlockSize+100] ^= 1
			}
			l := reading(w)
			l.UUID = testUUID
			s, err := l.Find()
			switch {
			case flip && (err != nil || s.Head != other.Block || s.Dropped != w.Head-other.Block):
				t.Errorf("%s, damaged: %+v, %v", c.name, s, err)
			case !flip && (!errors.Is(err, ErrForeign) || text(err) != fmt.Sprintf("log block %d: not a log of this filesystem: %s", other.Block, c.want)):
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A clean log without a UUID is IRIX's, and that is all right.
func TestCleanWithoutUUID(t *testing.T) {
	w := formatted(4096, nil)
	w.UUID, w.Format = ondisk.UUID{}, 0
	r := w.Unmount()
	l := reading(w)
	l.UUID = testUUID
	if err := upTo(w, []*logtest.Record{r}).differs(l); err != nil {
		t.Error(err)
	}
}

// Damage that is older than what can have been in flight is an error.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(w *logtest.Log, r []*logtest.Record) // 30 records, the tail at the first
	}{
		{"a record", func(w *logtest.Log, r []*logtest.Record) { w.B[(r[3].Block+2)*BlockSize+9] ^= 1 }},
		{"a header", func(w *logtest.Log, r []*logtest.Record) { w.B[r[3].Block*BlockSize] = 0 }},
		{"its version", func(w *logtest.Log, r []*logtest.Record) { put32(w.B[r[3].Block*BlockSize+8:], 1) }},
		{"its length", func(w *logtest.Log, r []*logtest.Record) { put32(w.B[r[3].Block*BlockSize+12:], 1<<30) }},
		{"no length", func(w *logtest.Log, r []*logtest.Record) { put32(w.B[r[3].Block*BlockSize+12:], 0) }},
		{"the tail", func(w *logtest.Log, r []*logtest.Record) {
			put32(r[29].Raw[28:], 1<<20)
			w.Seal(r[29])
			w.Write(r[29], nil)
		}},
		{"the size of buffers", func(w *logtest.Log, r []*logtest.Record) {
			put32(r[0].Raw[320:], 1<<30)
			w.Seal(r[0])
			w.Write(r[0], nil)
		}},
	} {
		w := formatted(8192, nil)
		w.Tail = w.LSN()
		var records []*logtest.Record
		for i := range 30 {
			records = append(records, w.Add(fill(20<<10, byte(i))))
		}
		w.Head = 0
		c.damage(w, records)
		_, err := reading(w).Find()
		var bad *Corrupt
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The last record may be damaged anywhere, also where it says where the tail is.
func TestDamageOfTheLast(t *testing.T) {
	for at := range 64 {
		w := formatted(8192, nil)
		w.Tail = w.LSN()
		var records []*logtest.Record
		for i := range 30 {
			records = append(records, w.Add(fill(20<<10, byte(i))))
		}
		last := records[29]
		w.B[last.Block*BlockSize+at] ^= 0x40
		s, err := reading(w).Find()
		if foreign := at < 4 || at >= 4 && at < 8 || at >= 8 && at < 12; foreign {
			continue // then it is no record, or of another cycle or version: see the other tests
		}
		if err != nil || s.Head != last.Block || s.Dropped != last.Blocks() {
			t.Errorf("byte %d: head %d, %d dropped, %v; the record begins at %d", at, s.Head, s.Dropped, err, last.Block)
		}
	}
}

func TestSealed(t *testing.T) {
	for _, s := range shapes {
		w := formatted(4096, s.change)
		for i := range 5 {
			rec := w.Add(fill(w.Room()-i*100, byte(i)))
			for r, err := range reading(w).Records(rec.Block, w.Head) {
				if err != nil || !r.Sealed() || (r.Header.CRC != 0) != w.Sum {
					t.Fatalf("%s: %v, sealed %v, %#x", s.name, err, r.Sealed(), r.Header.CRC)
				}
				r.Data[len(rec.Data)/2] ^= 1
				if r.Sealed() == w.Sum {
					t.Errorf("%s: a changed record passes", s.name)
				}
			}
		}
	}
}

// The tail is behind the head by less than the log.
func TestTailOfAnotherCycle(t *testing.T) {
	for _, c := range []struct {
		name  string
		cycle uint32
		block int
		ok    bool
	}{
		{"its own", 5, 4000, true},
		{"the lap before", 4, 5000, true},
		{"ahead, in the same cycle", 5, 5000, false},
		{"behind, in the cycle before", 4, 4000, false},
		{"two cycles before", 3, 5000, false},
		{"a cycle to come", 6, 5000, false},
	} {
		w := formatted(8192, nil)
		w.Start(4, 5000)
		for w.Cycle < 5 || w.Head < 4000 {
			w.Tail = w.LSN()
			n := min(20, w.Blocks()-w.Head) // so that records are at 4000 and 5000
			w.Add(fill((n-1)*BlockSize, 1))
		}
		w.Tail = uint64(c.cycle)<<32 | uint64(c.block)
		w.Add(fill(1000, 1))
		_, err := reading(w).Find()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
