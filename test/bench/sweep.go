package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

var (
	depths  = []int{1, 2, 4, 8, 16, 32, 64, 100, 128}
	engines = []string{"io_uring", "aio", "sync"}
)

// curve is a setting measured over all depths.
type curve struct {
	host, mode, engine string
	rate               []float64 // relative to the host's best of all curves
	average            []float64 // depth
}

// sweepSection measures every engine at every depth, with and without the
// page cache, on every host.
func sweepSection(ctx context.Context, b *bench) error {
	type host struct {
		dir  string
		args []string
		size int64
	}
	ags := pick[int64](b, 4000, 500)
	hosts := []host{
		{b.shm, nil, 2 * ags * tib},
		{b.dir, []string{"-d", "agsize=1g"}, ags * gib},
	}
	dir, down, err := zramXFS(b)
	switch {
	case errors.As(err, new(skipped)):
		fmt.Printf("No XFS host: %v.\n\n", err)
	case err != nil:
		return err
	default:
		defer down()
		hosts = append(hosts, host{dir, nil, 2 * ags * tib})
	}
	var all []curve
	for _, h := range hosts {
		b.settle(ctx)
		c := course{dir: h.dir, size: h.size, rounds: pick(b, 5, 1)}
		curves, err := b.sweep(ctx, c, filesystem(h.dir), h.args)
		if err != nil {
			return err
		}
		all = append(all, curves...)
	}
	head := []string{"host", "writes", "engine"}
	for _, d := range depths {
		head = append(head, strconv.Itoa(d))
	}
	t := newTable(head...)
	for _, c := range all {
		cells := []string{c.host, c.mode, c.engine}
		for i := range depths {
			cells = append(cells, fmt.Sprintf("%.2f", c.rate[min(i, len(c.rate)-1)]))
		}
		t.row(cells...)
	}
	t.print()
	if b.svg == "" {
		return nil
	}
	return os.WriteFile(b.svg, []byte(plot(all)), 0o644)
}

// sweep measures one host. All settings take turns; the rate of each is taken
// relative to the first setting's in the same round.
func (b *bench) sweep(ctx context.Context, c course, name string, args []string) ([]curve, error) {
	modes := []string{"direct", "buffered"}
	if name == "tmpfs" {
		modes = modes[1:]
	}
	var curves []curve
	var list []contender
	for _, mode := range modes {
		for _, engine := range engines {
			curves = append(curves, curve{host: name, mode: mode, engine: engine})
			for _, depth := range depths {
				if engine == "sync" && depth > 1 { // all the same
					continue
				}
				flags := append([]string{"--engine", engine, "--queue-depth", strconv.Itoa(depth)}, args...)
				if mode == "buffered" {
					flags = append(flags, "--buffered")
				}
				list = append(list, b.atWork(name+" "+mode+" "+engine, flags...))
			}
		}
	}
	started := time.Now()
	samples, _, err := c.race(ctx, list)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "sweep on %s: %.0f s\n", name, time.Since(started).Seconds())
	best, at := 0.0, 0
	for i := range curves {
		n := len(depths)
		if curves[i].engine == "sync" {
			n = 1
		}
		for range n {
			rate := median(pairs(samples[at], samples[0], rateOf))
			best = max(best, rate)
			curves[i].rate = append(curves[i].rate, rate)
			curves[i].average = append(curves[i].average, medianOf(samples[at], func(s sample) float64 {
				r, _ := parseReport(s.out)
				return r.Work.Average
			}))
			at++
		}
	}
	for i := range curves {
		for k := range curves[i].rate {
			curves[i].rate[k] /= best
		}
	}
	return curves, nil
}
