package verify

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// Bounds of how far behind the head the log may be in disorder: a record has
// up to 256 KiB, and up to eight are in flight.
const (
	maxRecord   = 256 << 10 / ondisk.LogBlock
	disorder    = 8 * maxRecord
	maxHeaders  = 8 // blocks of a record's header
	logReadSize = 64 << 10
)

// logReader reads the log's blocks of 512 bytes.
type logReader struct {
	v    *verifier
	dev  *Device
	base int64
	n    int // blocks
}

// log finds out whether the log is clean: whether the last record before its
// head is the note that the filesystem was unmounted.
//
//	cycle 5 ... cycle 5 | cycle 4 ... cycle 4
//	  unmount record --^ ^-- head
//
// Each block begins with the number of the cycle it was written in, so the
// head is where that number falls.
func (v *verifier) log() error {
	r := logReader{v: v, dev: &v.Data, n: int(v.fs.g.Bytes(geometry.Blocks(min(v.fs.sb.LogBlocks, maxLogBlocks))) / ondisk.LogBlock)}
	ag, off := int64(-1), int64(0)
	if v.fs.sb.LogStart != 0 {
		at, ok := v.fs.logBlock()
		if !ok || int64(at)+int64(r.n)*ondisk.LogBlock > v.Data.Size {
			return nil
		}
		agno, _, _ := v.fs.split(v.fs.sb.LogStart, 1)
		ag, off, r.base = int64(agno), int64(at), int64(at)
	} else {
		if v.Log == nil || r.n == 0 {
			return nil
		}
		r.dev = v.Log
	}
	tell := func(message string) {
		v.report.Log = LogFaulty
		v.report.fault(Fault{AG: ag, Structure: placeLog.String(), Offset: off, Message: message})
	}
	if size := int64(r.n) * ondisk.LogBlock; r.base+size > r.dev.Size {
		tell(fmt.Sprintf("it has %d bytes, its device %d", size, r.dev.Size))
		return nil
	}
	state, wrong, err := r.state()
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	v.report.Log = state
	v.fs.settled = state == LogClean
	if wrong != "" {
		tell(wrong)
	}
	return nil
}

// state judges the log. wrong says what makes it faulty.
func (r *logReader) state() (state LogState, wrong string, err error) {
	head, wrong, err := r.head()
	if err != nil || wrong != "" {
		return LogFaulty, wrong, err
	}
	for torn := false; ; torn = true {
		at, rec, found, err := r.lastRecord(head)
		switch {
		case err != nil:
			return LogFaulty, "", err
		case !found:
			return LogFaulty, "there is no record before its head", nil
		case rec.UUID != r.v.fs.sb.UUID && rec.UUID != (ondisk.UUID{}):
			return LogFaulty, "it is that of another filesystem: its UUID " + isUUID(rec.UUID, r.v.fs.sb.UUID), nil
		}
		headers := 1
		if rec.Version&2 != 0 && rec.Size > ondisk.LogHeaderBytes {
			headers = int((uint64(rec.Size) + ondisk.LogHeaderBytes - 1) / ondisk.LogHeaderBytes)
		}
		length := headers + int((uint64(rec.Length)+ondisk.LogBlock-1)/ondisk.LogBlock)
		if headers > maxHeaders || length > r.n {
			return LogFaulty, fmt.Sprintf("the last record has %d bytes, which is too long", rec.Length), nil
		}
		if at+length != head && !torn { // it was not written to its end, so it does not count
			head = at
			continue
		}
		if at+length != head || rec.Operations != 1 {
			return LogDirty, "", nil
		}
		op, err := r.block(at + headers)
		if err != nil || !ondisk.IsUnmount(op) {
			return LogDirty, "", err
		}
		r.setHead(at, head, rec.Cycle)
		return LogClean, "", nil
	}
}

// setHead notes the sequence number that the next record will have. Behind
// the log's end the next cycle begins.
func (r *logReader) setHead(record, head int, cycle uint32) {
	next, at := r.wrap(head), r.wrap(record)
	if next <= at {
		cycle++
	}
	r.v.fs.head = uint64(cycle)<<32 | uint64(next)
}

// head is the block that the next record goes to. It may be negative, counted
// from the log's end.
func (r *logReader) head() (head int, wrong string, err error) {
	var ends [2]uint32
	for i, block := range []int{0, r.n - 1} {
		b, err := r.block(block)
		if err != nil {
			return 0, "", err
		}
		ends[i] = ondisk.Cycle(b)
	}
	first, last := ends[0], ends[1]
	head = r.n
	stop := last - 1 // a block of this cycle has not been written yet
	switch {
	case first == 0:
		return 0, "there is no record in it", nil
	case last == 0 && first != 1:
		return 0, fmt.Sprintf("it begins with cycle %d, but has not been full once", first), nil
	case first != last:
		stop = last
		if head, err = r.firstOf(last); err != nil {
			return 0, "", err
		}
	}
	head, err = r.firstHole(head, stop)
	return head, "", err
}

// firstOf searches for the first block of the cycle that the last one has.
func (r *logReader) firstOf(cycle uint32) (int, error) {
	before, at := 0, r.n-1
	for at-before > 1 {
		mid := (before + at) / 2
		b, err := r.block(mid)
		if err != nil {
			return 0, err
		}
		if ondisk.Cycle(b) == cycle {
			at = mid
		} else {
			before = mid
		}
	}
	return at, nil
}

// firstHole is the first block before the head that was left out because
// records are not written in order; if there is none it is the head. A hole
// has the cycle stop, or the one before that if it lies at the log's end.
func (r *logReader) firstHole(head int, stop uint32) (int, error) {
	from := head - min(disorder, r.n)
	if stop == 0 { // nothing is written at the end
		from = max(from, 0)
	}
	hole := head
	err := r.each(from, head, func(i int, b []byte) bool {
		want := stop
		if i < 0 {
			want--
		}
		if ondisk.Cycle(b) == want {
			hole = i
			return false
		}
		return true
	})
	return hole, err
}

// lastRecord finds the last record that begins before a block.
func (r *logReader) lastRecord(head int) (at int, rec ondisk.LogRecord, found bool, err error) {
	from := head - min(maxRecord+maxHeaders, r.n)
	err = r.each(from, head, func(i int, b []byte) bool {
		if h, ok := ondisk.DecodeLogRecord(b); ok {
			at, rec, found = i, h, true
		}
		return true
	})
	return at, rec, found, err
}

func (r *logReader) wrap(i int) int { return ((i % r.n) + r.n) % r.n }

// block reads one block.
func (r *logReader) block(i int) ([]byte, error) {
	return r.v.read(r.dev, r.base+int64(r.wrap(i))*ondisk.LogBlock, ondisk.LogBlock)
}

// each calls f for the blocks from one to before another, as long as it wants more.
func (r *logReader) each(from, to int, f func(i int, b []byte) bool) error {
	for from < to {
		at := r.wrap(from)
		n := min(to-from, r.n-at, logReadSize/ondisk.LogBlock)
		b, err := r.v.read(r.dev, r.base+int64(at)*ondisk.LogBlock, int64(n)*ondisk.LogBlock)
		if err != nil {
			return err
		}
		for ; len(b) > 0; b = b[ondisk.LogBlock:] {
			if !f(from, b[:ondisk.LogBlock]) {
				return nil
			}
			from++
		}
	}
	return nil
}
