package format

import (
	"context"
	"fmt"

	"mkfs/internal/target"
)

// leftover is what a prober would still find on a device beside the new
// filesystem: labels of ZFS, VMFS, metadata of RAID at the end. All of it is in
// space that will be free, or is written or zeroed later on.
//
// mkfs.xfs leaves it. Then blkid(8) finds two formats, and says neither.
type leftover struct {
	Device
	target.Leftover
}

// leftovers looks for them on all devices, as they are before anything is
// changed, with what probers will find at the start of each laid over it, and
// what is zeroed in any case.
func (w *writer) leftovers() (list []leftover) {
	g := w.Geometry
	end := w.dataSize() - wipeBytes
	list = w.leftoversOf(w.Data, w.build.Primary(w.made), target.Window{Length: wipeBytes}, target.Window{Offset: end,
		Length: wipeBytes})
	if w.Log != nil {
		list = append(list, w.leftoversOf(w.Log, w.build.LogRecord(), target.Window{Length: int64(g.Bytes(g.Log.Blocks))})...)
	}
	if w.Realtime != nil {
		list = append(list, w.leftoversOf(w.Realtime, w.realtimeSuper())...)
	}
	return list
}

func (w *writer) leftoversOf(d Device, start []byte, zeros ...target.Window) (list []leftover) {
	var over []target.Laid
	for _, z := range zeros {
		over = append(over, target.Laid{Window: z})
	}
	over = append(over, target.Laid{Window: target.Window{Length: int64(len(start))}, Data: start})
	own := func(s target.Signature) bool { return s.Of(w.Identity.UUID) }
	for _, f := range target.Leftovers(d, d.Whole(), over, own) {
		list = append(list, leftover{d, f})
	}
	return list
}

// wipeLeftovers zeroes them, durably.
func (w *writer) wipeLeftovers(ctx context.Context, list []leftover) error {
	for i, f := range list {
		for _, e := range f.Extents {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f.Zero(e.Offset, e.Length); err != nil {
				return fmt.Errorf("%s: zeroing what is left of %s, %d bytes at byte %d: %w",
					f.Device.Name(), f.Leftover.Name, e.Length, e.Offset, err)
			}
		}
		if i+1 < len(list) && list[i+1].Device == f.Device {
			continue
		}
		if err := f.Sync(); err != nil {
			return fmt.Errorf("%s: flushing: %w", f.Device.Name(), err)
		}
	}
	return nil
}
