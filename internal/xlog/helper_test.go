package xlog

import (
	"bytes"
	"fmt"
	"testing"

	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
)

var testUUID = ondisk.UUID{1, 2, 3, 4}

// reading is a Log of what a test has written.
func reading(w *logtest.Log) *Log {
	stripe := w.Stripe
	if w.Version == 1 {
		stripe = 0
	}
	return New(bytes.NewReader(w.B), Shape{
		Blocks: w.Blocks(), Version: w.Version, Stripe: stripe, UUID: w.UUID, V5: w.Sum && w.Version == 2,
	})
}

// formatted is a log as mkfs leaves it.
func formatted(blocks int, change func(w *logtest.Log)) *logtest.Log {
	w := logtest.New(blocks, testUUID)
	if change != nil {
		change(w)
	}
	stripe := 0
	if w.Version == 2 {
		stripe = w.Stripe
	}
	size := ondisk.CleanLogSize(stripe)
	ondisk.PutCleanLog(w.B[:size], testUUID, w.Version, stripe)
	w.Last, w.Head = 0, size/BlockSize
	return w
}

// fill is an operation of a number of bytes, its header included.
func fill(n int, seed byte) logtest.Op {
	data := make([]byte, max(0, n-12))
	for i := range data {
		data[i] = byte(i)*3 + seed
	}
	return logtest.Op{Tid: uint32(seed), Client: 0x69, Data: data}
}

// run is what to expect of a log.
type run struct {
	clean   bool
	head    int
	cycle   uint32
	records []*logtest.Record // from the tail on
}

// upTo is what to expect if a number of records were written to their end, of
// which the last says where the tail is.
func upTo(w *logtest.Log, records []*logtest.Record) run {
	last := records[len(records)-1]
	r := run{head: last.Block + last.Blocks(), cycle: uint32(last.LSN >> 32)}
	if r.head >= w.Blocks() {
		r.head -= w.Blocks()
		r.cycle++
	}
	tail := int(uint32(be64(last.Raw[24:])))
	for i, rec := range records {
		if rec.Block == tail {
			r.records = records[i:]
		}
	}
	if len(last.Ops) == 1 && last.Ops[0].Flags == logtest.OpUnmount {
		r.clean, r.records = true, nil
	}
	return r
}

func be64(b []byte) (n uint64) {
	for _, c := range b[:8] {
		n = n<<8 | uint64(c)
	}
	return n
}

// differs tells how what is found in a log is not as expected.
func (want run) differs(l *Log) error {
	s, err := l.Find()
	if err != nil {
		return err
	}
	if s.Clean != want.clean || s.Head != want.head || s.Cycle != want.cycle {
		return fmt.Errorf("clean %v, head %d, cycle %d; want %v, %d, %d", s.Clean, s.Head, s.Cycle, want.clean, want.head, want.cycle)
	}
	if s.Clean {
		if s.Tail != s.Head {
			return fmt.Errorf("the tail of a clean log is %d, its head %d", s.Tail, s.Head)
		}
		return nil
	}
	last := want.records[len(want.records)-1]
	if s.Last != last.Block || s.LastLSN != LSN(last.LSN) || s.Tail != want.records[0].Block {
		return fmt.Errorf("last %d, LSN %v, tail %d; want %d, %v, %d",
			s.Last, s.LastLSN, s.Tail, last.Block, LSN(last.LSN), want.records[0].Block)
	}
	return want.recordsDiffer(l, &s)
}

func (want run) recordsDiffer(l *Log, s *State) error {
	n := 0
	for rec, err := range l.Records(s.Tail, s.Head) {
		if err != nil {
			return err
		}
		if err := l.Open(rec); err != nil {
			return err
		}
		if n == len(want.records) {
			return fmt.Errorf("there is a record too many at block %d", rec.Block)
		}
		w := want.records[n]
		if rec.Block != w.Block || rec.Blocks() != w.Blocks() || !bytes.HasPrefix(rec.Data, w.Data) {
			return fmt.Errorf("record %d is at block %d, with %d blocks; want block %d, %d blocks",
				n, rec.Block, rec.Blocks(), w.Block, w.Blocks())
		}
		n++
	}
	if n != len(want.records) {
		return fmt.Errorf("there are %d records, want %d", n, len(want.records))
	}
	return nil
}

func (want run) check(t *testing.T, w *logtest.Log) {
	t.Helper()
	if err := want.differs(reading(w)); err != nil {
		t.Error(err)
	}
}
