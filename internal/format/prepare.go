package format

import (
	"bytes"
	"context"
	"fmt"

	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// wipeBytes is how much of both ends of a device is zeroed: other filesystems
// and RAID keep their superblocks there, up to 64 KiB from either.
const wipeBytes = 128 << 10

// wipe removes what would make a prober, or a checker in search of lost
// superblocks, see something else than the new filesystem. The start goes first,
// and durably: without it nothing mounts, and nothing else may be missing of a
// filesystem that a power failure brings back.
func (w *writer) wipe(ctx context.Context) error {
	old, hasOld := w.oldSuperblock() // read it before it goes
	left := w.leftovers()
	used := w.startUsed()
	if err := w.zero(0, wipeBytes); err != nil {
		return err
	}
	if used {
		if err := w.Data.Sync(); err != nil {
			return fmt.Errorf("%s: flushing: %w", w.Data.Name(), err)
		}
	}
	if hasOld {
		if err := w.wipeSecondaries(ctx, old); err != nil {
			return err
		}
	}
	if err := w.zero(w.dataSize()-wipeBytes, wipeBytes); err != nil {
		return err
	}
	return w.wipeLeftovers(ctx, left)
}

// dataSize is how much of the data device is not the realtime section's.
func (w *writer) dataSize() int64 {
	g := w.Geometry
	if g.RT.Start > 0 {
		return int64(g.Bytes(g.RT.Start))
	}
	return max(w.Data.Size(), int64(g.Bytes(g.Blocks)))
}

// startUsed tells whether there is anything to wipe at the start.
func (w *writer) startUsed() bool {
	start := make([]byte, wipeBytes)
	n, _ := w.Data.ReadAt(start, 0) // what cannot be read cannot be mounted
	return len(bytes.TrimLeft(start[:n], "\x00")) > 0
}

func (w *writer) zero(off, n int64) error {
	if err := w.Data.Zero(off, n); err != nil {
		return fmt.Errorf("%s: zeroing %d bytes at byte %d: %w", w.Data.Name(), n, off, err)
	}
	return nil
}

// oldSuperblock reads the superblock of an XFS that is on the device, if its
// geometry makes sense. The checksum does not count.
func (w *writer) oldSuperblock() (s ondisk.Superblock, ok bool) {
	sector := make([]byte, max(512, w.Geometry.SectorSize))
	if n, err := w.Data.ReadAt(sector, 0); err != nil && n < len(sector) {
		return s, false // nothing readable there, so nothing to confuse anyone
	}
	s, ok = ondisk.DecodeSuperblock(sector)
	const leastAG = 64 // blocks
	return s, ok && s.BlockLog >= 9 && s.BlockLog <= 16 && s.BlockSize == 1<<s.BlockLog &&
		s.AGCount > 0 && s.AGBlocks >= leastAG &&
		s.DataBlocks <= uint64(s.AGCount)*uint64(s.AGBlocks) &&
		s.DataBlocks >= uint64(s.AGCount-1)*uint64(s.AGBlocks)+leastAG
}

// wipeSecondaries zeroes an older XFS's secondary superblocks, but for those
// that the new filesystem's are written over.
func (w *writer) wipeSecondaries(ctx context.Context, old ondisk.Superblock) error {
	g := w.Geometry
	agSize, size := int64(g.Bytes(g.AGBlocks)), w.Data.Size()
	defer w.step(PhaseWipe, int64(old.AGCount), int64(old.AGCount))
	for agno := uint64(1); agno < uint64(old.AGCount); agno++ {
		off := int64(agno * uint64(old.AGBlocks) << old.BlockLog)
		if err := ctx.Err(); err != nil {
			return err
		}
		if off < 0 || off >= size {
			return nil // the device has been shrunk, or the numbers are nonsense
		}
		if off%agSize == 0 && off/agSize < int64(g.AGCount) {
			continue
		}
		if err := w.zero(off, int64(g.SectorSize)); err != nil {
			return err
		}
		w.step(PhaseWipe, int64(agno), int64(old.AGCount))
	}
	return nil
}

// externalLog makes a log on a device of its own clean and durable.
func (w *writer) externalLog(ring Ring) error {
	if w.Log == nil {
		return nil
	}
	l := delwri.NewList(ring, delwri.Config{Device: w.Log.Name()})
	l.Add(w.logRecord(0))
	if err := l.Submit(); err != nil {
		return err
	}
	w.count(l.Stats())
	if err := ring.Sync(); err != nil {
		return fmt.Errorf("%s: flushing: %w", w.Log.Name(), err)
	}
	return nil
}

func (w *writer) logRecord(off geometry.Bytes) *delwri.Buffer {
	return &delwri.Buffer{Off: int64(off), Data: w.build.LogRecord(), Place: delwri.Place{AG: -1, Name: "log record"}}
}
