package inode

import (
	"math"
	"testing"

	"mkfs/internal/ondisk"
)

// A time is the nearest that the inode can have, and what is encoded is decoded again.
func TestTimes(t *testing.T) {
	const last = 16299260424 // of large times
	for _, c := range []struct {
		sec, small, large int64
	}{
		{0, 0, 0}, {-1, -1, -1}, {math.MinInt32, math.MinInt32, math.MinInt32}, {math.MinInt64, math.MinInt32, math.MinInt32},
		{math.MaxInt32, math.MaxInt32, math.MaxInt32}, {1 << 31, math.MaxInt32, 1 << 31}, {last, math.MaxInt32, last},
		{last + 1, math.MaxInt32, last}, {math.MaxInt64, math.MaxInt32, last},
	} {
		ip := New(128)
		for flags, want := range map[ondisk.InodeFlags2]int64{0: c.small, ondisk.Flag2Bigtime: c.large} {
			ip.Core.Flags2 = flags
			sec, nsec := ip.ClampTime(c.sec, 7)
			if sec != want || (nsec != 7) != (want != c.sec) {
				t.Errorf("%d: %d and %d, want %d", c.sec, sec, nsec, want)
			}
			if s, n := ip.DecodeTime(ip.EncodeTime(sec, nsec)); s != sec || n != nsec {
				t.Errorf("%d and %d: decoded as %d and %d", sec, nsec, s, n)
			}
		}
	}
}
