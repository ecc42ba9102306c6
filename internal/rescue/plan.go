package rescue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mkfs/internal/ondisk"
	"mkfs/internal/recovery"
)

// Plan is what must be copied.
type Plan struct {
	Data []recovery.Span // of the data device, in order
	Log  []recovery.Span // of an external log's
	// Notes say what is copied as a whole though it may be free, and why.
	Notes []string
}

// Bytes is the length of spans.
func Bytes(spans []recovery.Span) (n int64) {
	for _, s := range spans {
		n += s.Len
	}
	return n
}

const (
	// least is the shortest run of free space that is left out. To read over a
	// shorter one takes less time than a request more.
	least = 64 << 10
	// Unit is what spans are multiples of, but at the end of a device.
	Unit = 4096
)

// MakePlan replays the log of a filesystem in memory, as opts say, and finds out
// what must be copied. What recovery refuses, it refuses. Nothing is written.
func MakePlan(ctx context.Context, opts recovery.Options) (*Plan, error) {
	p := &Plan{Data: whole(&opts.Data)}
	if opts.Log != nil {
		p.Log = whole(opts.Log)
	}
	opts.DryRun = true
	opts.Look = func(v *recovery.View) error {
		m, err := freeSpace(ctx, &opts, v)
		if err != nil {
			return err
		}
		free, logFree := m.free, []recovery.Span(nil)
		unused, err := unusedLog(&opts, v)
		if err != nil {
			return err
		}
		if opts.Log == nil {
			free = append(free, unused...)
		} else {
			logFree = unused
		}
		p.Notes = m.notes
		p.Data = without(opts.Data.Size, free, v.Touched())
		if opts.Log != nil {
			p.Log = without(opts.Log.Size, logFree, nil)
		}
		return nil
	}
	_, err := recovery.Run(ctx, opts)
	if errors.Is(err, recovery.ErrTooLarge) {
		p.Notes = append(p.Notes, fmt.Sprintf("all is copied, free space too: %v", err))
		err = nil
	}
	return p, err
}

func whole(d *recovery.Device) []recovery.Span { return []recovery.Span{{Off: 0, Len: d.Size}} }

// without are the parts of a device that are not free, or kept all the same.
func without(size int64, free, keep []recovery.Span) []recovery.Span {
	byStart := func(a, b recovery.Span) int {
		switch {
		case a.Off < b.Off:
			return -1
		case a.Off > b.Off:
			return 1
		}
		return 0
	}
	slices.SortFunc(free, byStart)
	used := slices.Clone(keep)
	at := int64(0)
	for _, f := range append(slices.Clone(free), recovery.Span{Off: size}) {
		if f.Off > at {
			used = append(used, recovery.Span{Off: at, Len: f.Off - at})
		}
		at = max(at, f.End())
	}
	slices.SortFunc(used, byStart)
	var list []recovery.Span
	for _, s := range used {
		from, to := s.Off&^(Unit-1), min(size, (s.End()+Unit-1)&^(Unit-1))
		if n := len(list) - 1; n >= 0 && from <= list[n].End() {
			list[n].Len = max(list[n].Len, to-list[n].Off)
		} else if from < to {
			list = append(list, recovery.Span{Off: from, Len: to - from})
		}
	}
	return list
}

// logSlack is several times what can be under way behind the head of a log when
// all ends, which is eight records of 256 KiB.
const logSlack = 16 << 20

// unusedLog is the part of the log that was never written. It is the rest
// behind the head if the last block is of no cycle: whoever looks for the head
// of such a log takes the first block of no cycle for the end of what was
// written, and reads no more than a few records around it.
func unusedLog(opts *recovery.Options, v *recovery.View) ([]recovery.Span, error) {
	dev, base := opts.Log, int64(0)
	if dev == nil {
		dev = &opts.Data
		at, _ := v.FS.InternalLog()
		base = int64(at)
	}
	end := base + int64(v.FS.LogSize())
	r := newReader(dev, opts, 1)
	defer r.release()
	last, err := r.one(end-logBlock, logBlock)
	if err != nil {
		return nil, err
	}
	from := base + int64(v.State.Head)*logBlock + logSlack
	if ondisk.Cycle(last) != 0 || from >= end {
		return nil, nil
	}
	return []recovery.Span{{Off: from, Len: end - from}}, nil
}

// logBlock is the unit of a log.
const logBlock = 512
