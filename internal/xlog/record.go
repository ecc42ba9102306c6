package xlog

import (
	"fmt"
	"iter"

	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
)

// Record is a record of the log.
type Record struct {
	Block  int // of the log
	Header ondisk.LogRecord
	Data   []byte // as on disk, until it is unpacked

	headers []byte // all header blocks
}

// Records reads the records from one to the head; the memory of each is its
// own. One whose header makes no sense ends the sequence with a *Corrupt error
// that names its block. Checksums are the caller's to look at.
func (l *Log) Records(from, head int) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		at, end := l.wrap(from), l.ahead(l.wrap(head), l.wrap(from))
		headers, most, err := l.sizes(at)
		for err == nil && at < end {
			var rec *Record
			if rec, err = l.record(at, headers, most); err != nil {
				break
			}
			if !yield(rec, nil) {
				return
			}
			at += headers + blocksOf(rec.Header.Length)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// sizes takes from the first record how long the headers of all are, in
// blocks, and how many bytes there can be behind them.
func (l *Log) sizes(at int) (headers int, most uint32, err error) {
	if l.Version == 1 {
		return 1, smallRecord, nil
	}
	b, err := l.read(at, 1)
	if err != nil {
		return 0, 0, err
	}
	h, _ := ondisk.DecodeLogRecord(b)
	size := h.Size
	// mkfs.xfs makes the first record as long as the stripe unit, and says
	// that it is shorter.
	if buffer := uint32(max(l.Stripe, smallRecord)); h.Length > size && h.Length <= buffer && h.Operations == 1 {
		size = buffer
	}
	if size > MaxRecord {
		return 0, 0, l.corrupt(at, "records are said to have %d bytes, more than %d", size, MaxRecord)
	}
	return headersFor(size), size, nil
}

func (l *Log) record(at, headers int, most uint32) (*Record, error) {
	b, err := l.read(at, headers)
	if err != nil {
		return nil, err
	}
	h, ok := ondisk.DecodeLogRecord(b)
	switch {
	case !ok:
		return nil, l.corrupt(at, "there is no record, but %#x", ondisk.FirstWord(b))
	case h.Version != l.Version:
		return nil, l.otherVersion(at, &h)
	case h.Length == 0 || h.Length > most:
		return nil, l.corrupt(at, "the record has %d bytes; there can be 1 to %d", h.Length, most)
	case headersFor(h.Length) > headers:
		return nil, l.corrupt(at, "the record has %d bytes, which is too much for its headers", h.Length)
	}
	data, err := l.read(at+headers, blocksOf(h.Length))
	if err != nil {
		return nil, err
	}
	return &Record{l.wrap(at), h, data, b}, nil
}

// otherVersion is what is wrong with a record of a version that the log has not: it
// is whole, so the log is not this filesystem's, or it is damaged.
func (l *Log) otherVersion(at int, h *ondisk.LogRecord) error {
	damaged := l.corrupt(at, "a record of version %d in a log of version %d", h.Version, l.Version)
	n := 1
	if h.Version == 2 {
		n = headersFor(h.Size)
	}
	if h.CRC == 0 || h.Version != 1 && h.Version != 2 || max(h.Size, h.Length) > MaxRecord ||
		headersFor(h.Length) > n && h.Version == 2 {
		return damaged
	}
	headers, err := l.read(at, n)
	if err != nil {
		return err
	}
	data, err := l.read(at+n, blocksOf(h.Length))
	if err != nil {
		return err
	}
	if r := (&Record{l.wrap(at), *h, data, headers}); r.Sealed() {
		return l.foreign(at, h)
	}
	return damaged
}

// own tells whether a record is of this log, or of none in particular: one whose
// UUID is being changed has such at its end.
func (l *Log) own(h *ondisk.LogRecord) bool {
	return h.UUID == (ondisk.UUID{}) || h.UUID == l.UUID && h.Format == ondisk.LogFormatLinux
}

// Blocks is how many blocks the record has.
func (r *Record) Blocks() int { return len(r.headers)/BlockSize + blocksOf(r.Header.Length) }

// Sealed tells whether the record's checksum is right, or it has none.
func (r *Record) Sealed() bool {
	return r.Header.CRC == 0 || ondisk.LogSealed(r.headers, r.Data[:r.Header.Length], r.Header.CRC)
}

// Open checks that a record can be replayed and unpacks it.
func (l *Log) Open(r *Record) error {
	switch {
	case r.Header.Version != l.Version || r.Header.Format != ondisk.LogFormatLinux || r.Header.UUID != l.UUID:
		return l.foreign(r.Block, &r.Header)
	case l.V5 && r.Header.CRC == 0, l.V5 && !r.Sealed():
		return l.corrupt(r.Block, "the checksum of the record is wrong")
	}
	ondisk.UnpackLog(r.headers, r.Data)
	r.Data = r.Data[:r.Header.Length]
	return nil
}

// formats are those that are known, but cannot be read.
var formats = map[uint32]string{
	0: "it was written by IRIX",
	2: "it was written on a big-endian machine",
	3: "it was written by IRIX",
}

func (l *Log) foreign(block int, rec *ondisk.LogRecord) error {
	why := fmt.Sprintf("its UUID is %s", rule.UUID(rec.UUID))
	if rec.UUID == l.UUID || rec.UUID == (ondisk.UUID{}) {
		var known bool
		if why, known = formats[rec.Format]; !known {
			why = fmt.Sprintf("its format is %d", rec.Format)
		}
		if rec.Format == ondisk.LogFormatLinux {
			why = fmt.Sprintf("its record is of version %d, the log of version %d", rec.Version, l.Version)
		}
	}
	return fmt.Errorf("log block %d: %w: %s", l.wrap(block), ErrForeign, why)
}
