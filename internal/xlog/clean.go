package xlog

import "mkfs/internal/ondisk"

// Part is a part of the log to be written.
type Part struct {
	Block int
	Data  []byte
}

// Stale returns what makes blocks behind the head of a log look old. Records
// that were being written when all ended may be there, and once the head moves
// on they would look as if they belonged to it. They are replaced by empty
// records of the cycle before, as far as any can be and as far as any were found, but
// not over the tail, or of a clean log over its last record, which says so.
//
// Source: xlog_clear_stale_blocks of the kernel, which looks at no more than 8
// records of 256 KiB.
func (l *Log) Stale(s *State) []Part {
	tail := s.TailLSN
	if s.Clean {
		tail = s.LastLSN
	}
	distance := tail.Block() - s.Head
	if tail.Cycle() == s.Cycle {
		distance += l.Blocks
	}
	n := min(distance, max(inFlight*l.maxRecord(), s.Dropped), l.Blocks)
	if n <= 0 {
		return nil
	}
	data := make([]byte, n*BlockSize)
	for i := range n {
		cycle, block := s.Cycle-1, s.Head+i
		if block >= l.Blocks {
			cycle, block = s.Cycle, block-l.Blocks
		}
		rec := ondisk.LogRecord{
			Cycle: cycle, Version: l.Version, LSN: uint64(NewLSN(cycle, block)), TailLSN: uint64(tail),
			Format: ondisk.LogFormatLinux, UUID: l.UUID,
		}
		rec.Put(data[i*BlockSize:])
	}
	return l.split(s.Head, data)
}

// Unmount returns the record that makes a log clean: the note that the
// filesystem was unmounted, at the log's head.
func (l *Log) Unmount(s *State) []Part {
	stripe := l.padding()
	data := make([]byte, ondisk.CleanLogSize(stripe))
	ondisk.PutUnmount(data, ondisk.Unmount{
		UUID: l.UUID, Version: l.Version, Stripe: stripe,
		LSN: uint64(s.HeadLSN()), Previous: uint32(s.Last), Sealed: l.V5, Left: l.Blocks - s.Head,
	})
	return l.split(s.Head, data)
}

// After is the state of a log once its head has got an unmount record.
func (l *Log) After(s *State) State {
	n := ondisk.CleanLogSize(l.padding()) / BlockSize
	t := State{
		Clean: true, Last: s.Head, LastLSN: s.HeadLSN(), LastUUID: l.UUID, recordSize: s.recordSize,
		Head: l.wrap(s.Head + n), Cycle: s.Cycle,
	}
	if t.Head <= s.Head {
		t.Cycle++
	}
	t.Tail, t.TailLSN = t.Head, t.HeadLSN()
	return t
}

// WithUUID is the log for one whose records bear another UUID.
func (l *Log) WithUUID(id ondisk.UUID) *Log {
	other := *l
	other.UUID = id
	return &other
}

// padding is what records are padded to.
func (l *Log) padding() int {
	if l.Version == 2 {
		return l.Stripe
	}
	return 0
}

// split cuts data for a block in two where the log ends.
func (l *Log) split(block int, data []byte) []Part {
	if n := (l.Blocks - block) * BlockSize; n < len(data) {
		return []Part{{block, data[:n]}, {0, data[n:]}}
	}
	return []Part{{block, data}}
}
