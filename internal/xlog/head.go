package xlog

import (
	"fmt"

	"mkfs/internal/ondisk"
)

// head is the block that the next record goes to. written is the end of what the
// cycle numbers alone say was written: behind the head if that went back over
// blocks that are missing, 0 if nothing was ever written. The log's end
// stands for its start.
func (l *Log) head() (head, written int, err error) {
	var ends [2]uint32
	for i, block := range []int{0, l.Blocks - 1} {
		b, err := l.read(block, 1)
		if err != nil {
			return 0, 0, err
		}
		ends[i] = ondisk.Cycle(b)
	}
	first, last := ends[0], ends[1]
	head = l.Blocks
	stop := last - 1 // a block of this cycle has not been written yet
	switch {
	case first == 0:
		return 0, 0, nil
	case first == ondisk.SuperblockMagic: // no cycle in the life of a disk is so high
		return 0, 0, fmt.Errorf("log block 0: %w: it begins with a superblock of XFS", ErrForeign)
	case last == 0 && first > 2: // it may be 2: what is written at the end may come after what is behind it
		return 0, 0, l.corrupt(0, "the log begins with cycle %d, but has not been full once", first)
	case first != last:
		stop = last
		if head, err = l.firstOf(last); err != nil {
			return 0, 0, err
		}
	}
	written = head
	if head, err = l.firstHole(head, stop); err != nil {
		return 0, 0, err
	}
	head, err = l.behindWhole(head, stop == 0)
	return head, written, err
}

// firstOf searches for the first block of the cycle that the last one has.
func (l *Log) firstOf(cycle uint32) (int, error) {
	before, at := 0, l.Blocks-1
	for at-before > 1 {
		mid := (before + at) / 2
		b, err := l.read(mid, 1)
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
func (l *Log) firstHole(head int, stop uint32) (int, error) {
	from := head - min(inFlight*l.maxRecord(), l.Blocks)
	if stop == 0 { // nothing is written at the end
		from = max(from, 0)
	}
	hole := head
	err := l.each(from, head, func(i int, b []byte) bool {
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
	if hole < 0 {
		hole += l.Blocks
	}
	return hole, err
}

// behindWhole goes back from the head over a record that was not written to
// its end. fresh says that there is nothing behind the log's end.
func (l *Log) behindWhole(head int, fresh bool) (int, error) {
	limit := head - min(l.maxRecord(), l.Blocks)
	if fresh {
		limit = max(limit, 0)
	}
	at, rec, found, err := l.lastHeaders(head, limit, 1)
	switch {
	case err != nil:
		return 0, err
	case found == 0:
		return 0, l.corrupt(head, "there is no record before the log's head")
	case rec.UUID != l.UUID && rec.UUID != (ondisk.UUID{}):
		return 0, l.foreign(at, &rec)
	}
	if head-at != l.length(&rec) {
		head = at
	}
	if head < 0 {
		head += l.Blocks
	}
	return head, nil
}

// headers is how many blocks of headers a record has.
func (l *Log) headers(rec *ondisk.LogRecord) int {
	if l.Version == 2 && rec.Version&2 != 0 {
		return headersFor(rec.Size)
	}
	return 1
}

func headersFor(size uint32) int {
	return max(1, int((uint64(size)+ondisk.LogHeaderBytes-1)/ondisk.LogHeaderBytes))
}

// length is how many blocks a record has.
func (l *Log) length(rec *ondisk.LogRecord) int { return l.headers(rec) + blocksOf(rec.Length) }

// blocksOf is how many blocks n bytes take.
func blocksOf(n uint32) int { return int((uint64(n) + BlockSize - 1) / BlockSize) }
