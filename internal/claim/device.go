package claim

import (
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/target"
)

// Device tells geometry what the targets are. A stripe of the realtime device
// counts if that is a block device, and so is the data device unless the
// section's size is given (rtSized).
func (p *Claims) Device(rtSized bool) geometry.Device {
	info := &p.Data.Info
	d := geometry.Device{
		Size:           geometry.Bytes(info.Size),
		LogicalSector:  int64(info.LogicalSector),
		PhysicalSector: int64(info.PhysicalSector),
		File:           slices.ContainsFunc(p.All(), (*Claim).IsFile),
		Grows:          p.Data.grows(),
	}
	d.Misaligned, d.IO = info.Misaligned, ioSizes(info)
	d.SolidState = info.Kind == target.BlockDevice && !info.Rotational
	if p.Log != nil {
		d.Log.Size = geometry.Bytes(p.Log.Info.Size)
		d.Log.LogicalSector = int64(p.Log.Info.LogicalSector)
		d.Log.Grows = p.Log.grows()
		d.Log.File = p.Log.IsFile() && p.Log.Exists && !p.Log.Fresh
	}
	if p.RT != nil {
		info := &p.RT.Info
		d.RT.Size = geometry.Bytes(info.Size)
		d.RT.LogicalSector, d.RT.PhysicalSector = int64(info.LogicalSector), int64(info.PhysicalSector)
		d.RT.Grows = p.RT.Fresh
		d.RT.Misaligned = info.Misaligned
		d.RT.SolidState = info.Kind == target.BlockDevice && !info.Rotational
		if rtSized || !p.Data.IsFile() {
			d.RT.IO = ioSizes(info)
		}
	}
	return d
}

// ioSizes are none for a file.
func ioSizes(info *target.Info) geometry.IOSizes {
	return geometry.IOSizes{Min: geometry.Bytes(info.MinIO), Opt: geometry.Bytes(info.OptIO)}
}

// grows tells whether a target may become as long as is asked for.
func (p *Claim) grows() bool {
	empty := p.Info.Kind == target.File && geometry.Usable(geometry.Bytes(p.Info.Size), geometry.BasicBlock) == 0
	return p.Part == nil && (p.Fresh || p.sized || empty && p.role == forData)
}

// IsFile tells whether the target is a file, or will be one.
func (p *Claim) IsFile() bool { return !p.Exists || p.Info.Kind == target.File }

// LogName and RTName are the paths of log and realtime device, "" for none.
func (p *Claims) LogName() string { return p.Log.name() }
func (p *Claims) RTName() string  { return p.RT.name() }

// name is the path of a target, "" for none.
func (p *Claim) name() string {
	if p == nil {
		return ""
	}
	return p.Path
}
