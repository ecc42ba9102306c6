package source

import (
	"errors"
	"fmt"

	"mkfs/internal/aio"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/super"
	"mkfs/internal/target"
)

// Files is a filesystem whose files can be read.
type Files struct {
	*live.FS
	Super *ondisk.Superblock
}

// filesMemory is how many bytes of metadata are in memory.
const filesMemory = 32 << 20

// ErrUnsettled is the error for a filesystem whose blocks may not be what they are to be: it is in
// use, or its log wants replaying.
var ErrUnsettled = errors.New("its files cannot be read")

// Files opens the filesystem of the source to read its files; log is the device of an external log.
// Nothing is ever written.
func (t *Source) Files(log string, part *target.Window) (*Files, error) {
	f, err := t.settled(log, part)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Info().Path, err)
	}
	agBytes := int64(f.Geometry.Bytes(f.Geometry.AGBlocks))
	return &Files{Super: &f.SB, FS: &live.FS{
		G: &f.Geometry, V5: f.V5, UUID: f.MetaUUID,
		Cache: buffer.New(t.Ring, buffer.Config{
			Device: t.Info().Path, Limit: filesMemory, ReadOnly: true, Stream: true, Memory: aio.NewSlab,
			Depth: t.Ring.Stats().Depth, Place: func(off int64) int64 { return off / agBytes },
		}),
		Counts: live.Counts{
			Inodes: f.SB.InodeCount, FreeInodes: f.SB.FreeInodes, FreeBlocks: geometry.Blocks(f.SB.FreeBlocks),
		},
	}}, nil
}

// settled reads the superblock, and makes sure that everything is in its place.
func (t *Source) settled(log string, part *target.Window) (*super.Filesystem, error) {
	if InUse(t.Info()) {
		return nil, fmt.Errorf("%w: %w", ErrUnsettled, target.CheckUse(t.Info()))
	}
	b := make([]byte, min(super.ReadSize, t.Info().Size))
	if _, err := t.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("superblock: %w", err)
	}
	var faults []error
	f := super.Read(b, t.Info().Size, func(message string) {
		faults = append(faults, fmt.Errorf("superblock: %s", message))
	})
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	found, err := FindLog(t.Target, f, log, part)
	switch faults := found.Faults(); {
	case err != nil:
		return nil, err
	case len(faults) > 0:
		return nil, errors.New(faults[0])
	case found.State == nil:
		return nil, fmt.Errorf("%w: its log is not at hand", ErrUnsettled)
	case !found.State.Clean:
		return nil, fmt.Errorf("%w: its log wants replaying", ErrUnsettled)
	}
	return f, nil
}
