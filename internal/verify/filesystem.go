package verify

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/super"
	"mkfs/internal/xlog"
)

// filesystem is what the superblock and the log say of all AGs.
type filesystem struct {
	super.Filesystem
	sectors  uint32 // blocks that an AG's header sectors take
	listSize uint32 // entries of an AGFL
	heights  geometry.Heights

	// settled says that everything in the log is in its place, so that blocks
	// may be checked against each other.
	settled bool
	// head is the log sequence number that the next record will have: no block
	// can have a later one, whether the log is clean or not. 0 if that is not known.
	head xlog.LSN
	// uncounted says that the counters of some AG were not to be had.
	uncounted bool
}

// superblock reads and checks the primary superblock and takes the filesystem
// from it; ok is false if there is none to be had.
func (v *verifier) superblock() (ok bool, err error) {
	if v.Instead != "" {
		v.fault(0, placeSuperblock, 0, "no XFS: "+v.Instead)
		return false, nil
	}
	b, err := v.read(&v.Data, 0, min(super.ReadSize, v.Data.Size))
	if err != nil {
		return false, fmt.Errorf("superblock: %w", err)
	}
	f := super.Read(b, v.Data.Size, func(message string) { v.fault(0, placeSuperblock, 0, message) })
	if f == nil {
		return false, nil
	}
	if v.UUID != nil && f.SB.UUID != *v.UUID {
		v.fault(0, placeSuperblock, 0, fmt.Sprintf("the UUID is %x, not %x: this is another filesystem", f.SB.UUID, *v.UUID))
	}
	v.fs = filesystem{Filesystem: *f}
	fs := &v.fs
	sector := make([]byte, fs.SB.SectorSize)
	fs.listSize = uint32(len(ondisk.FreeList(sector, fs.V5)) / 4)
	fs.sectors = uint32(fs.Geometry.SectorBlocks())
	fs.heights = fs.Geometry.Heights()
	return true, nil
}

// isLSN checks a log sequence number.
func (f *filesystem) isLSN(lsn uint64) string {
	if f.head == 0 {
		return ""
	}
	return f.Ahead(lsn, f.head)
}
