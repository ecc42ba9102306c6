package format

import (
	"mkfs/internal/aio"
	"mkfs/internal/target"
)

// On makes a Device of an open target; usable is how much of it counts. What
// ring leaves open, engine and depth, is chosen by the target; see choose.
func On(t *target.Target, usable int64, ring aio.Config) Device {
	ring.Base = t.Info().Offset
	return &device{t, usable, ring}
}

type device struct {
	*target.Target
	usable int64
	ring   aio.Config
}

func (d *device) Name() string { return d.Info().Name() }
func (d *device) Size() int64  { return d.usable }
func (d *device) Whole() int64 { return max(d.Info().Size, d.usable) }

func (d *device) Open() (Ring, error) {
	direct, _ := d.DirectIO()
	r, err := aio.Open(d.Fd(), choose(d.ring, direct))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// choose completes what nobody asked for. With direct IO a deep queue keeps
// the device busy. By way of the page cache a write is a copy, and those to one
// file wait for each other on its lock: a queue only moves them to threads that
// do, so they are done one by one. docs/performance.md has the figures.
func choose(cfg aio.Config, direct bool) aio.Config {
	if !direct && cfg.Engine == aio.Auto && cfg.Depth == 0 {
		return aio.Config{Engine: aio.Sync, Depth: 1, Base: cfg.Base}
	}
	return cfg
}
