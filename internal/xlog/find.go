package xlog

import (
	"errors"

	"mkfs/internal/ondisk"
)

// State is where a log begins and ends.
type State struct {
	Clean bool // nothing wants replaying
	Empty bool // nothing has ever been written

	// Head is where the next record goes, and Cycle the cycle it will be of.
	Head  int
	Cycle uint32
	// Tail is the record that replaying begins with; the head if there is
	// nothing to replay. TailLSN is what the last record says of it.
	Tail     int
	TailLSN  LSN
	Last     int // the last record
	LastLSN  LSN
	LastUUID ondisk.UUID // that it says; none goes with any filesystem

	// Dropped is how many blocks behind the head were written and do not count: records
	// there were being written when all ended, or are damaged. Their cycle is that of
	// the head, so that they look as if they belonged before it; see Stale.
	Dropped int

	recordSize uint32 // of the buffers that records were written from
}

// HeadLSN is the sequence number that the next record will have. What is on
// disk has none later than it.
func (s *State) HeadLSN() LSN { return NewLSN(s.Cycle, s.Head) }

// ErrForeign says that a log is not this filesystem's, or of a format that
// cannot be read.
var ErrForeign = errors.New("not a log of this filesystem")

// Find finds the head and the tail of the log. A log that makes no sense is a
// *Corrupt error.
func (l *Log) Find() (State, error) {
	if l.Blocks < 1 {
		return State{}, l.corruptEmpty()
	}
	head, written, err := l.head()
	if err != nil {
		return State{}, err
	}
	if written == 0 {
		return State{Clean: true, Empty: true, Cycle: 1}, nil
	}
	s, err := l.endsBefore(head)
	if err != nil || l.wrap(written) == s.Head {
		return s, err
	}
	note, err := l.isNote(s.Head)
	if !note {
		s.Dropped = l.wrap(written - s.Head)
	}
	return s, err
}

// isNote tells whether at the head there is, whole, the note that the filesystem was
// unmounted. xfs_repair -L leaves one with blocks of no cycle behind it, so that
// the head is before it: nothing is damaged or lost there.
func (l *Log) isNote(head int) (bool, error) {
	b, err := l.read(head, 1)
	if err != nil {
		return false, err
	}
	rec, ok := ondisk.DecodeLogRecord(b)
	if !ok || !l.own(&rec) {
		return false, nil
	}
	return l.isUnmount(head, head+l.length(&rec), &rec)
}

// endsBefore is the state of a log whose last record ends at a block, or is damaged.
func (l *Log) endsBefore(head int) (State, error) {
	s, err := l.before(head, head-l.Blocks)
	if err != nil || s.Clean {
		return s, err
	}
	if s, err = l.withoutTorn(s); err != nil || s.Clean {
		return s, err
	}
	if s.Tail >= l.Blocks {
		return s, l.corrupt(s.Last, "the record says that the tail is at block %d, the log has %d", s.Tail, l.Blocks)
	}
	if s.TailLSN.Cycle() != s.Cycle-s.lap() {
		return s, l.corrupt(s.Last, "the record says that the tail is at %v, the head is at %v", s.TailLSN, s.HeadLSN())
	}
	err = l.verifyTail(&s)
	return s, err
}

// lap is how many cycles the tail must be behind the head.
func (s *State) lap() uint32 {
	if s.TailLSN.Block() > s.Head {
		return 1
	}
	return 0
}

func (l *Log) corruptEmpty() error { return &Corrupt{0, "the log has no blocks"} }

// before is the state of a log with its head at a block.
func (l *Log) before(head, limit int) (s State, err error) {
	at, rec, found, err := l.lastHeaders(head, limit, 1)
	if err != nil {
		return s, err
	}
	if found == 0 {
		return s, l.corrupt(head, "there is no record before the log's head")
	}
	s = State{
		Head: l.wrap(head), Cycle: rec.Cycle, TailLSN: LSN(rec.TailLSN), Tail: LSN(rec.TailLSN).Block(),
		Last: l.wrap(at), LastLSN: LSN(rec.LSN), LastUUID: rec.UUID, recordSize: rec.Size,
	}
	if s.Head <= s.Last { // behind the log's end the next cycle begins
		s.Cycle++
	}
	unmounted, err := l.isUnmount(at, head, &rec)
	if unmounted {
		s.Clean = true
		s.Tail, s.TailLSN = s.Head, s.HeadLSN()
	}
	return s, err
}

// isUnmount tells whether a record that ends at the head is the note that the
// filesystem was unmounted.
func (l *Log) isUnmount(at, head int, rec *ondisk.LogRecord) (bool, error) {
	if rec.Operations != 1 || l.wrap(at+l.length(rec)) != l.wrap(head) {
		return false, nil
	}
	op, err := l.read(at+l.headers(rec), 1)
	return err == nil && ondisk.IsUnmount(op), err
}

// withoutTorn goes back from the head over records that were being written
// when all ended, which a checksum tells.
func (l *Log) withoutTorn(s State) (State, error) {
	limit := s.Tail
	switch {
	case limit >= l.Blocks: // the record is damaged, or makes no sense
		limit = s.Head - l.Blocks
	case limit >= s.Head:
		limit -= l.Blocks
	}
	from, _, found, err := l.lastHeaders(s.Head, limit, inFlight)
	if err != nil || found == 0 {
		return s, err
	}
	bad, err := l.firstBad(from, s.Head)
	if err != nil || bad < 0 {
		return s, err
	}
	if bad >= s.Head {
		bad -= l.Blocks
	}
	if bad == limit { // the record that says where the tail is says that of itself
		limit -= l.Blocks
	}
	t, err := l.before(bad, limit)
	if err == nil && !t.Clean && t.Head == t.Tail {
		err = l.corrupt(t.Head, "there is nothing but damage from the tail to the head")
	}
	return t, err
}

// verifyTail moves the tail over records that are damaged because the head had
// been about to pass them: then they were not needed any more.
func (l *Log) verifyTail(s *State) error {
	if s.Tail == s.Head {
		return l.corrupt(s.Head, "the log is full to its tail")
	}
	var err error
	if s.Tail, err = l.header(1, s.Tail, l.ahead(s.Head, s.Tail)); err != nil {
		return err
	}
	for {
		bad, err := l.firstBad(s.Tail, s.Head)
		if err != nil || bad < 0 {
			return err
		}
		if l.wrap(bad-s.Head) > inFlight*blocksOf(s.recordSize) {
			return l.corrupt(bad, "the record is damaged, and too far from the head to be one that was being overwritten")
		}
		if s.Tail, err = l.header(2, bad, l.ahead(s.Head, bad)); err != nil {
			return err
		}
	}
}

// ahead is the head as a place behind a block.
func (l *Log) ahead(head, block int) int {
	if head <= block {
		return head + l.Blocks
	}
	return head
}

// header finds the n-th header of a record between two blocks.
func (l *Log) header(n, from, to int) (at int, err error) {
	err = l.each(from, to, func(i int, b []byte) bool {
		if _, ok := ondisk.DecodeLogRecord(b); ok {
			at = l.wrap(i)
			n--
		}
		return n > 0
	})
	if err == nil && n > 0 {
		err = l.corrupt(from, "there is no record between the log's tail and its head")
	}
	return at, err
}

// firstBad is the first record from one to the head that is damaged, or -1. One
// that is whole and does not belong here is an error.
func (l *Log) firstBad(from, head int) (int, error) {
	for rec, err := range l.Records(from, head) {
		var bad *Corrupt
		if errors.As(err, &bad) {
			return bad.Block, nil
		}
		if err != nil {
			return 0, err
		}
		if !rec.Sealed() {
			return rec.Block, nil
		}
		if rec.Header.CRC != 0 && !l.own(&rec.Header) {
			return 0, l.foreign(rec.Block, &rec.Header)
		}
	}
	return -1, nil
}
