package inode

import (
	"math"

	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Times says which times of an inode are set.
type Times uint

// The times.
const (
	Access Times = 1 << iota
	Modified
	Changed
	Created // of V5
)

// Stamp sets times to now (xfs_trans_ichgtime).
func (ip *Inode) Stamp(fs *live.FS, which Times) {
	now := ip.EncodeTime(fs.Now())
	for _, row := range [...]struct {
		which Times
		at    *uint64
	}{
		{Access, &ip.Core.Atime}, {Modified, &ip.Core.Mtime}, {Changed, &ip.Core.Ctime}, {Created, &ip.Core.Crtime},
	} {
		if which&row.which != 0 {
			*row.at = now
		}
	}
}

// EncodeTime is a time as the inode has it on disk.
func (ip *Inode) EncodeTime(sec int64, nsec uint32) uint64 {
	if ip.Core.Flags2&ondisk.Flag2Bigtime != 0 {
		return ondisk.TimeBig(sec, nsec)
	}
	return ondisk.TimeClassic(sec, nsec)
}

// DecodeTime is what EncodeTime encodes.
func (ip *Inode) DecodeTime(t uint64) (sec int64, nsec uint32) {
	if ip.Core.Flags2&ondisk.Flag2Bigtime != 0 {
		return ondisk.BigTime(t)
	}
	return ondisk.ClassicTime(t)
}

// widenTimes gives an inode of a filesystem that has larger times such (bigtime), as
// each transaction that changes an inode does (xfs_inode_item_precommit).
func (ip *Inode) widenTimes() {
	ip.Core.Flags2 |= ondisk.Flag2Bigtime
	for _, at := range [...]*uint64{&ip.Core.Atime, &ip.Core.Mtime, &ip.Core.Ctime, &ip.Core.Crtime} {
		*at = ondisk.TimeBig(int64(int32(*at>>32)), uint32(*at))
	}
}

// ClampTime is the time nearest to one that the inode can have: 1901 to 2038, or to 2486 with
// large times (bigtime).
func (ip *Inode) ClampTime(sec int64, nsec uint32) (int64, uint32) {
	const low = math.MinInt32
	high := int64(math.MaxInt32)
	if ip.Core.Flags2&ondisk.Flag2Bigtime != 0 {
		high = math.MaxUint64/1_000_000_000&^3 + low // XFS_BIGTIME_TIME_MAX
	}
	switch {
	case sec < low:
		return low, 0
	case sec > high:
		return high, 0
	}
	return sec, nsec
}
