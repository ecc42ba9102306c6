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
	if info.Misaligned { // its physical sectors lie across ours
		d.PhysicalSector = d.LogicalSector
	}
	if info.Kind == target.BlockDevice {
		d.SolidState = !info.Rotational
		// A device that has no stripes reports its physical sector instead.
		if info.MinIO != info.PhysicalSector && info.OptIO != info.PhysicalSector {
			d.StripeUnit, d.StripeWidth = geometry.Bytes(info.MinIO), geometry.Bytes(info.OptIO)
		}
	}
	if p.Log != nil {
		d.Log.Size = geometry.Bytes(p.Log.Info.Size)
		d.Log.LogicalSector = int64(p.Log.Info.LogicalSector)
		d.Log.Grows = p.Log.grows()
	}
	if p.RT != nil {
		info := &p.RT.Info
		d.RT.Size = geometry.Bytes(info.Size)
		d.RT.LogicalSector, d.RT.PhysicalSector = int64(info.LogicalSector), int64(info.PhysicalSector)
		d.RT.Grows = p.RT.Fresh
		if info.Kind == target.BlockDevice {
			d.RT.SolidState = !info.Rotational
		}
		if info.Kind == target.BlockDevice && (rtSized || !p.Data.IsFile()) &&
			info.MinIO != info.PhysicalSector && info.OptIO != info.PhysicalSector {
			d.RT.Width = geometry.Bytes(info.OptIO)
		}
	}
	return d
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
