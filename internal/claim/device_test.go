package claim

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/target"
)

// What devices say of themselves comes to geometry as they say it; what a realtime
// device says counts only where its section can be told from a data file's.
func TestDevice(t *testing.T) {
	disk := target.Info{Kind: target.BlockDevice, Size: 1 << 30, LogicalSector: 512, PhysicalSector: 4096, MinIO: 4096, OptIO: 1<<32 - 512, Misaligned: true}
	raid := target.Info{Kind: target.BlockDevice, Size: 1 << 31, LogicalSector: 512, PhysicalSector: 512, MinIO: 65536, OptIO: 131072, Rotational: true}
	p := Claims{Data: Claim{Exists: true, Info: disk}, RT: &Claim{Exists: true, Info: raid, role: forRealtime}}
	d := p.Device(false)
	if (d.IO != geometry.IOSizes{Min: 4096, Opt: 1<<32 - 512}) || !d.Misaligned || d.PhysicalSector != 4096 || !d.SolidState || d.File {
		t.Errorf("the data device: %+v", d)
	}
	stripes := geometry.IOSizes{Min: 65536, Opt: 131072}
	if d.RT.IO != stripes || d.RT.Misaligned || d.RT.SolidState {
		t.Errorf("the realtime device: %+v", d.RT)
	}
	p.Data.Info = target.Info{Kind: target.File, Size: 1 << 30, LogicalSector: 512, PhysicalSector: 512, Rotational: true}
	if d = p.Device(false); d.IO != (geometry.IOSizes{}) || d.RT.IO != (geometry.IOSizes{}) || d.SolidState || !d.File {
		t.Errorf("a data file, and a realtime section of no given size: %+v", d)
	}
	if d = p.Device(true); d.RT.IO != stripes {
		t.Errorf("a data file, and a realtime section of a given size: %+v", d.RT)
	}
}
