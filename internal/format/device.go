package format

import (
	"mkfs/internal/aio"
	"mkfs/internal/target"
)

// On makes a Device of an open target; usable is how much of it counts.
func On(t *target.Target, usable int64, ring aio.Config) Device {
	return &device{t, usable, ring}
}

type device struct {
	*target.Target
	usable int64
	ring   aio.Config
}

func (d *device) Name() string { return d.Info().Path }
func (d *device) Size() int64  { return d.usable }

func (d *device) Open() (Ring, error) {
	r, err := aio.Open(d.Fd(), d.ring)
	if err != nil {
		return nil, err
	}
	return r, nil
}
