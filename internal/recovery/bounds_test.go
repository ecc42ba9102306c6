package recovery

import (
	"errors"
	"testing"

	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// Transactions that only begin are bounded in number, as each needs memory of
// its own, and their regions in length.
func TestPendingIsBounded(t *testing.T) {
	record := func(block int, data []byte, operations int) *xlog.Record {
		return &xlog.Record{Block: block, Header: ondisk.LogRecord{LSN: 1, Operations: uint32(operations)}, Data: data}
	}
	start := logtest.Begin(0)[0]
	w := logtest.New(1024, [16]byte{})
	a := newAssembler(func(*transaction) error { return nil })
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		var ops []logtest.Op
		for i := range 20000 {
			start.Tid = uint32(n*20000 + i)
			ops = append(ops, start)
		}
		err = a.add(record(n, w.Make(ops...).Data, len(ops)))
	}
	var bad *xlog.Corrupt
	if !errors.As(err, &bad) {
		t.Errorf("after %d transactions: %v", len(a.open), err)
	}

	a = newAssembler(func(*transaction) error { return nil })
	ops := logtest.Begin(1)
	long := make([]byte, 200<<10)
	copy(long, logtest.QuotaOff(1)[0])
	region := logtest.Regions(1, logtest.Item{long})[0]
	region.Flags |= logtest.OpContinue
	data := w.Make(append(ops, region)...).Data
	err = a.add(record(0, data, 3))
	region.Flags = logtest.OpContinue | logtest.OpContinued
	data = w.Make(region).Data
	a.bytes += maxPending - 10<<20 // as much as there may be, but for some more
	for n = 1; err == nil && n < 2000; n++ {
		err = a.add(record(n, data, 1))
	}
	if !errors.As(err, &bad) || n < 40 {
		t.Errorf("after %d records: %v", n, err)
	}
}

// With a short log whose head and tail are in one sector, what is written
// behind the head comes to the tail's sector again.
func TestHeadAndTailInOneSector(t *testing.T) {
	f := newFilesystem(t, "sectors of 4 KiB", variants[3].change)
	b := f.bytes(0, 4096)
	be.PutUint32(b[96:], 100)
	ondisk.Seal(b, ondisk.SuperblockCRC)
	f.d.WriteAt(b, 0)
	f.fs.SB.LogBlocks = 100
	f.fs.Geometry.Log.Blocks = 100
	f.log = logtest.New(800, f.fs.SB.UUID)
	f.log.Start(5, 403)
	f.log.Tail = f.log.LSN()
	f.commit(logtest.QuotaOff(0))
	if f.log.Head > 407 {
		t.Fatal("the record is too long")
	}
	if rep := f.recover(nil); !rep.Finished {
		t.Errorf("%+v", rep)
	}
	rep, err := attempt{}.run(t, f.d, nil)
	if err != nil || !rep.Log.Clean {
		t.Errorf("%+v, %v", rep, err)
	}
}
