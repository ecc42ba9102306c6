// Package source is where a filesystem is read that is there: it finds it on a
// disk, opens it, and finds its log.
package source

import (
	"errors"
	"fmt"

	"mkfs/internal/aio"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/recovery"
	"mkfs/internal/target"
	"mkfs/internal/verify"
)

// InUse tells whether a target may change while it is read. An idle loop device
// made of it changes nothing.
func InUse(info target.Info) bool {
	use := target.CheckUse(info)
	var known *target.InUseError
	return use != nil && !(errors.As(use, &known) && known.Idle)
}

// Source is a target that is read through a ring.
type Source struct {
	*target.Target
	Ring  *aio.Ring
	align int
}

// Open opens a target. Direct IO cannot reach the end of a file that is
// no multiple of its alignment.
func Open(path string, part *target.Window, ring aio.Config) (*Source, error) {
	t, err := target.Open(path, target.Options{Direct: true, Window: part})
	if err != nil {
		return nil, err
	}
	direct, align := t.DirectIO()
	if direct && t.Info().Size%int64(align) != 0 {
		_ = t.Close() // nothing was written
		align = 1
		if t, err = target.Open(path, target.Options{Window: part}); err != nil {
			return nil, err
		}
	}
	t.DropCache()
	return through(t, ring, align)
}

// Device is the source for verify.
func (t *Source) Device() verify.Device {
	return verify.Device{Reader: t.Ring, Size: t.Info().Size, Align: t.align}
}

// Close closes the ring and the target. The first error of the ring has been
// told already.
func (t *Source) Close() error {
	_ = t.Ring.Close()
	return t.Target.Close()
}

// OpenFilesystem opens a target to read what is on it, and to write too if write is
// set. Direct IO is used if the filesystem's sectors meet its alignment.
func OpenFilesystem(path string, part *target.Window, ring aio.Config, write bool) (*Source, error) {
	t, err := target.Open(path, target.Options{Write: write, Direct: true, Window: part})
	if err != nil {
		return nil, err
	}
	direct, align := t.DirectIO()
	if direct && (align > sectorAt(t) || t.Info().Size%int64(align) != 0) {
		t.Buffered()
		align = 1
	}
	return through(t, ring, align)
}

// through makes a source of a target, which is closed if it cannot.
func through(t *target.Target, ring aio.Config, align int) (*Source, error) {
	ring.Base = t.Info().Offset
	r, err := aio.Open(t.Fd(), ring)
	if err != nil {
		_ = t.Close()
		return nil, fmt.Errorf("%s: %w", t.Info().Path, err)
	}
	return &Source{t, r, align}, nil
}

// sectorAt is the smaller of the sector sizes that a superblock says, or what
// goes with all.
func sectorAt(t *target.Target) int {
	b := make([]byte, geometry.BasicBlock)
	_, _ = t.ReadAt(b, 0) // what is wrong will be told by who needs it
	s, ok := ondisk.DecodeSuperblock(b)
	if !ok {
		return geometry.BasicBlock
	}
	return min(int(s.SectorSize), max(geometry.BasicBlock, int(s.LogSectorSize)))
}

// Section is the source for recovery.
func (t *Source) Section() recovery.Device {
	return recovery.Device{Name: t.Info().Path, Ring: t.Ring, Size: t.Info().Size, Align: t.align}
}
