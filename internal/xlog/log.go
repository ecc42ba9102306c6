// Package xlog reads the log of an XFS filesystem: where it begins and ends,
// and the records between. It knows nothing of what is logged in them.
//
// The log is a circle of basic blocks of 512 bytes. Records are written one
// behind the other, over the oldest, and each time the end of the circle is
// passed the cycle number grows by one:
//
//	block 0                     head            tail              last block
//	| 7 7 7 7 7 7 7 7 7 7 7 7 7 | 6 6 6 6 6 6 6 | 6 6 6 6 6 6 6 6 6 6 |
//	  ... second half of it      free             what wants replaying ...
//
// So that a reader can tell how far a writer came, the first word of every
// block is the number of the cycle it was written in, and the word that
// belongs there is kept in the record's header:
//
//	| header | header extensions | data ...                             |
//	  magic, cycle, length,        the words of blocks 65 to 128, ...
//	  LSN, LSN of the tail,
//	  words of blocks 1 to 64
//
// A log sequence number (LSN) is a cycle and a block. Find follows the rules of
// the kernel's recovery, so that both agree on what is in a log.
package xlog

import (
	"fmt"
	"io"

	"mkfs/internal/ondisk"
)

// Bounds of the log.
const (
	BlockSize = ondisk.LogBlock
	// MaxRecord is how long a record can be, its headers included, in bytes.
	MaxRecord = 256 << 10
	// inFlight is how many records can be being written at once, in any order.
	inFlight = 8
	// smallRecord is the length of records in version 1.
	smallRecord = 32 << 10
)

// Shape says what kind of log it is.
type Shape struct {
	Blocks  int // of 512 bytes
	Version uint32
	Stripe  int // bytes that records are padded to; 0 for none
	UUID    ondisk.UUID
	V5      bool // records are of no use with a wrong checksum
}

// Log is a log that is read from a device.
type Log struct {
	Shape
	src io.ReaderAt
}

// New makes a Log of what src has from its byte 0 on.
func New(src io.ReaderAt, shape Shape) *Log { return &Log{shape, src} }

// Corrupt says that a log makes no sense, and where.
type Corrupt struct {
	Block  int // of the log
	Reason string
}

func (c *Corrupt) Error() string { return fmt.Sprintf("log block %d: %s", c.Block, c.Reason) }

func (l *Log) corrupt(block int, format string, args ...any) error {
	return &Corrupt{l.wrap(block), fmt.Sprintf(format, args...)}
}

// LSN is a log sequence number.
type LSN uint64

// NewLSN makes a number of its parts.
func NewLSN(cycle uint32, block int) LSN { return LSN(cycle)<<32 | LSN(uint32(block)) }

// Cycle is how many times the log has been full, and one.
func (n LSN) Cycle() uint32 { return uint32(n >> 32) }

// Block is a block of the log.
func (n LSN) Block() int { return int(uint32(n)) }

func (n LSN) String() string { return fmt.Sprintf("%d:%d", n.Cycle(), n.Block()) }

// maxRecord is how many blocks a record can have.
func (l *Log) maxRecord() int {
	if l.Version == 1 {
		return smallRecord / BlockSize
	}
	return MaxRecord / BlockSize
}

// wrap is the block at a place that may be before the log's start or behind
// its end.
func (l *Log) wrap(block int) int { return ((block % l.Blocks) + l.Blocks) % l.Blocks }

// read reads n blocks from one on, which may go over the log's end.
func (l *Log) read(block, n int) ([]byte, error) {
	if n > l.Blocks {
		return nil, l.corrupt(block, "%d blocks are asked for, the log has %d", n, l.Blocks)
	}
	b := make([]byte, n*BlockSize)
	at := l.wrap(block)
	head := min(n, l.Blocks-at) * BlockSize
	if err := l.readAt(b[:head], at); err != nil {
		return nil, err
	}
	if head < len(b) {
		if err := l.readAt(b[head:], 0); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (l *Log) readAt(b []byte, block int) error {
	if _, err := l.src.ReadAt(b, int64(block)*BlockSize); err != nil {
		return fmt.Errorf("log block %d: %w", block, err)
	}
	return nil
}

// window is how many blocks are read at once in a search.
const window = 128

// each calls f for the blocks from one to before another, as long as it wants
// more. Blocks before the log's start are those at its end.
func (l *Log) each(from, to int, f func(block int, b []byte) bool) error {
	for from < to {
		b, err := l.read(from, min(to-from, window, l.Blocks))
		if err != nil {
			return err
		}
		for ; len(b) > 0; b = b[BlockSize:] {
			if !f(from, b[:BlockSize]) {
				return nil
			}
			from++
		}
	}
	return nil
}

// lastHeaders finds the last records that begin before a block, count of them
// at most and none before limit, and returns the first of these.
func (l *Log) lastHeaders(before, limit, count int) (at int, rec ondisk.LogRecord, found int, err error) {
	for to := before; to > limit && found < count; {
		from := max(limit, to-window, to-l.Blocks)
		b, err := l.read(from, to-from)
		if err != nil {
			return 0, rec, 0, err
		}
		for to > from && found < count {
			to--
			if r, ok := ondisk.DecodeLogRecord(b[(to-from)*BlockSize:][:BlockSize]); ok {
				at, rec = to, r
				found++
			}
		}
	}
	return at, rec, found, nil
}
