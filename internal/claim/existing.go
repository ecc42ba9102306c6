package claim

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mkfs/internal/aio"
	"mkfs/internal/geometry"
	"mkfs/internal/source"
	"mkfs/internal/super"
	"mkfs/internal/target"
	"mkfs/internal/verify"
)

// Existing is the XFS that the data device holds, or nil if it holds none. Damaged
// ones are an error: nobody knows what they were. So are those that do not
// mount with their log.
func (c *Claims) Existing() (*super.Filesystem, error) {
	p, logdev := &c.Data, c.Log
	if !p.Exists || p.Fresh {
		return nil, nil
	}
	t, err := target.Open(p.Path, target.Options{Window: p.Part})
	if err != nil {
		return nil, err
	}
	defer t.Close() // nothing was written
	b := make([]byte, min(super.ReadSize, t.Info().Size))
	if _, err := t.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: superblock: %w", p.Path, err)
	}
	if len(b) < geometry.BasicBlock || string(b[:4]) != "XFSB" {
		return nil, nil
	}
	var faults []string
	fs := super.Read(b, t.Info().Size, func(message string) { faults = append(faults, message) })
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: --ensure: there is an XFS, and its superblock is damaged: %s", p.Path, faults[0])
	}
	var log string
	var window *target.Window
	if fs.SB.LogStart == 0 && logdev != nil && logdev.Exists && !logdev.Fresh {
		log, window = logdev.Path, logdev.Part
	}
	found, err := source.FindLog(t, fs, log, window)
	if err != nil {
		return nil, err
	}
	if found.State != nil && found.State.Empty && log != "" {
		found.Fault = log + ": there is no record in it"
	}
	if faults := found.Faults(); len(faults) > 0 {
		return nil, fmt.Errorf("%s: --ensure: there is an XFS, and its log does not fit it: %s", p.Path, faults[0])
	}
	return fs, nil
}

// Sound refuses a filesystem on the data device whose headers are damaged: it may not
// mount. One that is mounted changes while it is read, and the kernel knows better.
func (c *Claims) Sound(ctx context.Context, ring aio.Config) (err error) {
	p := &c.Data
	if source.InUse(p.Info) {
		return nil
	}
	data, err := source.Open(p.Path, p.Part, ring)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	opts := verify.Options{Data: data.Device(), Depth: ring.Depth, Memory: aio.NewSlab}
	if c.Log != nil && c.Log.Exists {
		log, err := source.Open(c.Log.Path, c.Log.Part, ring)
		if err != nil {
			return err
		}
		defer log.Close() // it was only read
		d := log.Device()
		opts.Log = &d
	}
	r, err := verify.Run(ctx, opts)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	if r.Status() == verify.Faulty {
		return fmt.Errorf("%s: --ensure: there is an XFS, and it is damaged: %v", p.Path, r.Faults[0])
	}
	return nil
}
