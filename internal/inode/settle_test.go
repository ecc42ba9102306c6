package inode

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// What a flush makes right.
func TestSettle(t *testing.T) {
	fs := &live.FS{G: &geometry.Geometry{RT: geometry.Realtime{Extent: 4}}}
	const inherit = ondisk.FlagRTInherit | ondisk.FlagExtentInherit
	for _, c := range []struct {
		flags, want ondisk.InodeFlags
		size, after uint32
	}{
		{inherit, ondisk.FlagRTInherit, 6, 0},
		{inherit, inherit, 8, 8},
		{ondisk.FlagExtentInherit, ondisk.FlagExtentInherit, 6, 6},
	} {
		ip := New(128)
		ip.Core.Flags, ip.Core.ExtentSize = c.flags, c.size
		ip.Core.BigExtents = 0x1234567890001 // padding of V4, and how often it was flushed
		ip.settle(fs)
		if ip.Core.Flags != c.want || ip.Core.ExtentSize != c.after || ip.Core.BigExtents != 1 {
			t.Errorf("%+v: %#x, %d, %#x", c, ip.Core.Flags, ip.Core.ExtentSize, ip.Core.BigExtents)
		}
	}
}
