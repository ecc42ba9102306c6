package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"mkfs/internal/ondisk"
	"mkfs/internal/super"
	"mkfs/internal/xlog"
)

// ErrChanged says that a target is not what formatting has left.
var ErrChanged = errors.New("it is not as formatting has left it")

// errMounted is what any mount does, also one to read, unless its device is read-only.
var errMounted = fmt.Errorf("%w: it has been mounted, or changed in another way", ErrChanged)

// Check tells whether the targets, in the order of the header's devices, are
// those that the file belongs to, and hold what formatting has left on them or
// an earlier Restore that did not end.
func (u *File) Check(targets []Target) error {
	if len(targets) != len(u.Devices) {
		return fmt.Errorf("%d devices were formatted, %d are given", len(u.Devices), len(targets))
	}
	if u.State == Undone {
		return fmt.Errorf("%s was put back already", u.Devices[0].Path)
	}
	for i, t := range targets {
		if err := u.checkSize(&u.Devices[i], t.Size()); err != nil {
			return err
		}
	}
	b := make([]byte, min(super.ReadSize, targets[0].Size()))
	if n, err := targets[0].ReadAt(b, 0); n < len(b) {
		return fmt.Errorf("superblock: %w", bare(err))
	}
	sector := b[:min(u.SectorSize, len(b))]
	if Sum(sector) == u.Superblock {
		if u.State == Undoing {
			return nil // of the log, some may be back
		}
		if err := u.checkRealtime(b, targets); err != nil {
			return err
		}
		return u.checkLog(b, targets)
	}
	s, there := ondisk.DecodeSuperblock(sector)
	ours := there && fmt.Sprintf("%x", s.UUID) == plainUUID(u.UUID)
	switch {
	case ours && s.InProgress == 0:
		return errMounted
	case u.State == Made:
		return fmt.Errorf("%w: its superblock is another", ErrChanged)
	}
	if !ours && !u.onTheWay(b) {
		return fmt.Errorf("%w: it begins neither as before nor as the new filesystem", ErrChanged)
	}
	return nil
}

// onTheWay tells whether a target's start is what it was before, or wiped, each
// sector by itself: that is how it looks before the new superblock is there.
// The first sector alone would not do, as most filesystems have none there.
func (u *File) onTheWay(b []byte) bool {
	old := make([]byte, max(firstBytes, u.SectorSize))
	copy(old, u.first) // and zeros where the file has grown
	for at := 0; at < min(len(old), len(b)); at += 512 {
		end := min(at+512, len(old), len(b))
		if is := b[at:end]; !allZero(is) && !slices.Equal(is, old[at:end]) {
			return false
		}
	}
	return true
}

// Sum is how a header keeps a superblock.
func Sum(sector []byte) string {
	sum := sha256.Sum256(sector)
	return hex.EncodeToString(sum[:])
}

// plainUUID leaves out the dashes.
func plainUUID(id string) string {
	var b []byte
	for i := range len(id) {
		if id[i] != '-' {
			b = append(b, id[i])
		}
	}
	return string(b)
}

// checkSize takes the size that formatting gave a target. On the way there, and
// on the way back, there are others: that before, and for a file none.
func (u *File) checkSize(d *Device, size int64) error {
	sizes := []int64{d.After}
	if u.State != Made {
		sizes = append(sizes, d.Before)
		if d.File && !d.Part {
			sizes = append(sizes, 0)
		}
	}
	if !slices.Contains(sizes, size) {
		return fmt.Errorf("%w: the %s device has %d bytes, it had %d", ErrChanged, d.Role, size, d.After)
	}
	return nil
}

// checkLog wants the log that mkfs writes: one record at its start.
func (u *File) checkLog(b []byte, targets []Target) error {
	fs := super.Read(b, targets[0].Size(), func(string) {})
	if fs == nil {
		return fmt.Errorf("%w: its superblock makes no sense", ErrChanged)
	}
	var src io.ReaderAt = targets[0]
	base, ok := fs.InternalLog()
	if !ok {
		i := slices.IndexFunc(u.Devices, func(d Device) bool { return d.Role == RoleLog })
		if i < 0 {
			return fmt.Errorf("%w: it has no log", ErrChanged)
		}
		src, base = targets[i], 0
	}
	state, err := xlog.New(io.NewSectionReader(src, int64(base), int64(fs.LogSize())), fs.Log()).Find()
	switch {
	case err != nil:
		return fmt.Errorf("%w: its log: %w", ErrChanged, err)
	case !state.Clean || state.Empty || state.Cycle != 1 || state.Last != 0:
		return errMounted
	}
	return nil
}

// checkRealtime wants what mkfs leaves on a realtime device: the section's
// superblock, if it has one, and zeros in the last block.
func (u *File) checkRealtime(b []byte, targets []Target) error {
	i := slices.IndexFunc(u.Devices, func(d Device) bool { return d.Role == RoleRealtime })
	fs := super.Read(b, targets[0].Size(), func(string) {})
	if i < 0 || fs == nil || fs.Geometry.Features.Zoned { // where it leaves nothing
		return nil
	}
	block := make([]byte, fs.Geometry.BlockSize)
	if fs.Geometry.HasRealtimeSuper() {
		if _, err := targets[i].ReadAt(block, 0); err != nil {
			return fmt.Errorf("superblock of the realtime section: %w", bare(err))
		}
		if s, ok := ondisk.DecodeRTSuper(block); !ok || s.UUID != fs.SB.UUID {
			return fmt.Errorf("%w: the realtime device is another", ErrChanged)
		}
	}
	end := int64(fs.Geometry.Bytes(fs.Geometry.RT.Blocks))
	if _, err := targets[i].ReadAt(block, end-int64(len(block))); err != nil || !allZero(block) {
		return fmt.Errorf("%w: the realtime device is another, or in use", ErrChanged)
	}
	return nil
}

// The roles of devices.
const (
	RoleData     = "data"
	RoleLog      = "log"
	RoleRealtime = "realtime"
)
