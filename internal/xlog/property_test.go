package xlog

import (
	"fmt"
	"testing"

	"mkfs/internal/logtest"
	"pgregory.net/rapid"
)

// anyLog draws a log with records all around it, at most 8 of which are
// damaged. whole says how many before these are not.
func anyLog(t *rapid.T) (w *logtest.Log, records []*logtest.Record, whole int) {
	version1 := rapid.Bool().Draw(t, "version 1")
	buffer := rapid.SampledFrom([]int{16, 32}).Draw(t, "buffer") << 10
	stripe := 0
	if !version1 {
		buffer = rapid.SampledFrom([]int{16, 32, 64, 128, 256}).Draw(t, "buffer") << 10
		stripe = rapid.SampledFrom([]int{0, 0, 4096, 16 << 10, buffer}).Draw(t, "stripe")
	}
	sum := rapid.Bool().Draw(t, "checksums")
	perRecord := buffer / BlockSize
	// In a shorter log the search for the head can end in a hole, the kernel's too.
	blocks := 17*perRecord + 8*rapid.IntRange(8, 256).Draw(t, "blocks")
	w = formatted(blocks, func(w *logtest.Log) {
		w.Buffer, w.Stripe, w.Sum = buffer, min(stripe, buffer), sum
		if version1 {
			w.Version = 1
		}
	})
	clean := &logtest.Record{LSN: 1 << 32, Raw: w.B[:w.Head*BlockSize], Ops: []logtest.Op{logtest.UnmountOp()}}
	records = append(records, clean)

	// The first of those in flight begins somewhere in the first laps.
	until := rapid.IntRange(0, 2*blocks+blocks/2).Draw(t, "in flight from")
	size := rapid.IntRange(12, w.Room())
	add := func(n int, seed byte) *logtest.Record {
		r := w.Make(fill(n, seed))
		records = append(records, r)
		return r
	}
	for at := w.Head; at < until; {
		setTail(w, records, perRecord)
		r := add(12+(len(records)*7919+until)%(w.Room()-12), byte(len(records)))
		w.Write(r, nil)
		at += r.Blocks()
	}
	whole = len(records)
	if setTail(w, records, perRecord); w.Tail == 0 {
		w.Tail = w.LSN() // which none of these is over, as none is known to be written
	}
	inFlight := rapid.IntRange(0, 8).Draw(t, "in flight")
	for i := range inFlight {
		r := add(size.Draw(t, "size"), byte(100+i))
		if !damage(t, w, r) && whole == len(records)-1 {
			whole++
		}
	}
	return w, records, whole
}

// setTail lets the next record say that the tail is where the log will not be
// overwritten by all that can be in flight.
func setTail(w *logtest.Log, records []*logtest.Record, perRecord int) {
	w.Tail = 0
	room := w.Blocks() - 9*perRecord
	for i := len(records) - 1; i >= 0; i-- {
		if room -= records[i].Blocks(); room < 0 {
			break
		}
		if len(records[i].Ops) == 1 && records[i].Ops[0].Flags == logtest.OpUnmount {
			break // what is before it is of no interest
		}
		w.Tail = records[i].LSN
	}
}

// damage writes a record, or less of it, and tells whether it was less.
func damage(t *rapid.T, w *logtest.Log, r *logtest.Record) bool {
	n := r.Blocks()
	switch rapid.SampledFrom([]string{"none", "none", "missing", "start", "end", "some", "bits"}).Draw(t, "damage") {
	case "missing":
		return true
	case "start":
		k := rapid.IntRange(0, n-1).Draw(t, "blocks")
		w.Write(r, func(i int) bool { return i < k })
		return true
	case "end":
		k := rapid.IntRange(1, n).Draw(t, "blocks")
		w.Write(r, func(i int) bool { return i >= k })
		return true
	case "some":
		seed := rapid.Uint32().Draw(t, "blocks")
		hole := rapid.IntRange(0, n-1).Draw(t, "hole")
		w.Write(r, func(i int) bool { return i != hole && (uint32(i)*2654435761^seed)>>13&3 != 0 })
		return true
	case "bits":
		w.Write(r, nil)
		if !w.Sum {
			return false
		}
		length := int(uint32(be64(r.Raw[8:])))
		at := rapid.IntRange(0, length-1).Draw(t, "byte")
		if at%BlockSize < 4 {
			at += 4 // not the cycle
		}
		at += (n - blocksOf(uint32(length))) * BlockSize
		w.B[(r.Block*BlockSize+at)%len(w.B)] ^= 0x10
		return true
	}
	w.Write(r, nil)
	return false
}

// The head is the start of the first record that is damaged, and all before it
// are read, from the tail on.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, records, whole := anyLog(t)
		want := upTo(w, records[:whole])
		if err := want.differs(reading(w)); err != nil {
			t.Fatal(describe(w, records, whole, err))
		}
	})
}

func describe(w *logtest.Log, records []*logtest.Record, whole int, err error) string {
	text := fmt.Sprintf("%v\n%d blocks, version %d, buffers of %d, stripe %d", err, w.Blocks(), w.Version, w.Buffer, w.Stripe)
	for i := max(0, whole-3); i < len(records); i++ {
		state := "whole"
		if i >= whole {
			state = "behind"
		}
		text += fmt.Sprintf("\n%v, %d blocks: %s", LSN(records[i].LSN), records[i].Blocks(), state)
	}
	return text
}
