package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/fusetest"
)

// remedy recovers an image in some way; the sample's rate is the inverse of the
// time that it took.
type remedy struct {
	name string
	run  func(ctx context.Context, image string) (sample, error)
	// depth takes the average queue depth from what it printed, if it has one.
	depth func(out []byte) float64
}

var recoverDepths = []int{1, 10, 32, deep}

// recoverSection measures mkfs recover beside the kernel, which replays a log
// when it mounts.
func recoverSection(ctx context.Context, b *bench) error {
	if os.Geteuid() != 0 {
		return skip("a log is dirty only after a mount, which needs root")
	}
	t := pick(b, tree{1000, 125}, tree{80, 125})
	for i, d := range dirts {
		if b.quick && i > 0 {
			break
		}
		fmt.Printf("### %s\n\n", d.title)
		if err := b.recoverDirt(ctx, d, t, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// recoverDirt measures one kind of log. In all, the kernel gets a slow disk too.
func (b *bench) recoverDirt(ctx context.Context, d dirt, t tree, all bool) error {
	dirty := filepath.Join(b.dir, "bench-dirty")
	defer os.Remove(dirty)
	if err := b.dirty(ctx, dirty, d, t); err != nil {
		return err
	}
	r, err := b.examine(dirty)
	if err != nil {
		return err
	}
	inodes := r.Stats.Items["inode"]
	if inodes < int64(t.count()) {
		return fmt.Errorf("the log has only %d inodes of %d: the kernel was faster than the shutdown", inodes, t.count())
	}
	fmt.Printf("The log has %v; %d of the items are on disk already, the others want %d blocks.\n\n", r.Stats.Items,
		r.Stats.Skipped, r.Stats.Reads)

	disk := []remedy{b.byKernel()}
	for _, depth := range recoverDepths {
		disk = append(disk, b.byUs(depth))
	}
	if err := b.recoverOn(ctx, "disk", dirty, disk, 0); err != nil {
		return err
	}
	for _, latency := range []time.Duration{100 * time.Microsecond, time.Millisecond} {
		var ring, far []remedy
		for _, depth := range recoverDepths {
			ring = append(ring, b.bySlowRing(depth, latency))
		}
		goal := 0.0
		if latency >= time.Millisecond {
			goal = 4
		}
		if err := b.recoverOn(ctx, fmt.Sprintf("disk, a ring whose reads take %v longer", latency), dirty, ring,
			goal); err != nil {
			return err
		}
		if !all {
			continue
		}
		far = append(far, b.far(b.byKernel(), latency), b.far(b.byUs(1), latency), b.far(b.byUs(deep), latency))
		err := b.recoverOn(ctx, fmt.Sprintf("loop device whose reads take %v longer", latency), dirty, far, goal)
		if errors.As(err, new(skipped)) {
			fmt.Printf("Not on a slow loop device: %v.\n\n", err)
		} else if err != nil {
			return err
		}
	}
	return b.recoverCPU(ctx, dirty, r)
}

const byKernel = "the kernel: mount and unmount"

// byKernel has the kernel mount and unmount an image, by way of a loop device
// unless it is one.
func (b *bench) byKernel() remedy {
	return remedy{name: byKernel, run: func(ctx context.Context, image string) (s sample, err error) {
		device := image
		if info, err := os.Stat(image); err != nil {
			return s, err
		} else if info.Mode().IsRegular() {
			if device, err = attach(image); err != nil {
				return s, err
			}
			defer detach(device)
		}
		dir, err := os.MkdirTemp(b.dir, "bench-recover")
		if err != nil {
			return s, err
		}
		defer os.Remove(dir)
		started := time.Now()
		if err := unix.Mount(device, dir, "xfs", 0, ""); err != nil {
			return s, skip("mounting: %v", err)
		}
		mount := time.Since(started)
		err = unmount(dir)
		s.wall = time.Since(started)
		s.rate, s.out = 1/s.wall.Seconds(), []byte(fmt.Sprint(mount.Seconds()))
		return s, err
	}}
}

func depthName(depth int) string { return fmt.Sprintf("depth %d", depth) }

// byUs runs mkfs recover.
func (b *bench) byUs(depth int) remedy {
	return remedy{depthName(depth), func(ctx context.Context, image string) (sample, error) {
		s, err := measure(ctx, []string{b.mkfs, "recover", "--json", "--queue-depth", strconv.Itoa(depth), image}, nil)
		s.rate = 1 / s.wall.Seconds()
		return s, err
	}, func(out []byte) float64 {
		var r recovered
		json.Unmarshal(out, &r)
		return r.Depth
	}}
}

// bySlowRing recovers on a ring that is slow to read.
func (b *bench) bySlowRing(depth int, latency time.Duration) remedy {
	result := func(out []byte) (r slowResult) {
		json.Unmarshal(out, &r)
		return r
	}
	return remedy{depthName(depth), func(ctx context.Context, image string) (sample, error) {
		s, err := measure(ctx, []string{b.self, "slow", "-depth", strconv.Itoa(depth), "-latency", latency.String(),
			image}, nil)
		s.rate = 1 / result(s.out).Seconds
		return s, err
	}, func(out []byte) float64 { return result(out).Depth }}
}

// far is a remedy that gets a loop device which is slow to read.
func (b *bench) far(r remedy, latency time.Duration) remedy {
	near := r.run
	r.run = func(ctx context.Context, image string) (s sample, err error) {
		dir, err := os.MkdirTemp(b.dir, "bench-slow")
		if err != nil {
			return s, err
		}
		defer os.Remove(dir)
		host, down, err := fusetest.Mount(dir, image, fusetest.Options{})
		if errors.Is(err, fusetest.ErrNone) {
			return s, skip("%v", err)
		}
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, down()) }()
		device, err := attach(fusetest.Image(dir))
		if err != nil {
			return s, err
		}
		defer detach(device)
		host.Latency.Store(int64(latency))
		defer host.Latency.Store(0)
		return near(ctx, device)
	}
	return r
}

// recoverOn lets remedies take turns, each with a fresh copy and cold caches,
// and prints what they came to. With a goal it says whether the greatest depth
// is that much faster than the first.
func (b *bench) recoverOn(ctx context.Context, title, dirty string, list []remedy, goal float64) error {
	b.settle(ctx)
	samples := make([][]sample, len(list))
	for range min(b.rounds, 3) {
		for i, who := range list {
			s, err := onCopy(ctx, b.dir, dirty, who)
			if err != nil {
				return fmt.Errorf("%s: %w", who.name, err)
			}
			samples[i] = append(samples[i], s)
		}
	}
	of := func(name string) []sample {
		if i := slices.IndexFunc(list, func(r remedy) bool { return r.name == name }); i >= 0 {
			return samples[i]
		}
		return nil
	}
	one, kernel, best := of(depthName(1)), of(byKernel), of(depthName(deep))
	t := newTable(title, "times as fast as depth 1", "range", "as the kernel", "range", "average depth")
	for i, who := range list {
		ratio := pairs(samples[i], one, rateOf)
		beside, spreadBeside, average := "", "", ""
		if kernel != nil {
			k := pairs(samples[i], kernel, rateOf)
			beside, spreadBeside = times(median(k)), spread(k)
		}
		if who.depth != nil {
			average = fmt.Sprintf("%.1f", medianOf(samples[i], func(s sample) float64 { return who.depth(s.out) }))
		}
		t.row(who.name, times(median(ratio)), spread(ratio), beside, spreadBeside, average)
	}
	t.print()
	fmt.Println()
	if goal > 0 {
		faster := median(pairs(best, one, rateOf))
		fmt.Printf("Goal: depth %d at least %.0f times as fast as depth 1: %s.\n\n", deep, goal, met(faster >= goal))
	}
	if kernel != nil {
		share := medianOf(kernel, func(s sample) float64 {
			seconds, _ := strconv.ParseFloat(strings.TrimSpace(string(s.out)), 64)
			return seconds * s.rate
		})
		fmt.Printf("The mount alone is %.2f of the kernel's time.\n", share)
		fmt.Printf("Goal: depth %d not slower than the kernel: %s.\n\n", deep, met(median(pairs(best, kernel, rateOf)) >= 1))
	}
	return nil
}

func met(yes bool) string {
	if yes {
		return "met"
	}
	return "not met"
}

// onCopy runs a remedy on a copy of an image in a folder, and removes it.
func onCopy(ctx context.Context, dir, dirty string, who remedy) (s sample, err error) {
	if ctx.Err() != nil {
		return s, context.Cause(ctx)
	}
	image := filepath.Join(dir, "bench-image")
	defer os.Remove(image)
	if _, err := command("cp", "--reflink=auto", "--sparse=always", dirty, image); err != nil {
		return s, err
	}
	unix.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		return s, skip("caches stay warm: %v", err)
	}
	return who.run(ctx, image)
}

// recoverCPU measures what an item costs, where a disk costs nothing.
func (b *bench) recoverCPU(ctx context.Context, dirty string, r recovered) error {
	var items int64
	for _, n := range r.Stats.Items {
		items += n
	}
	var used []float64
	for range min(b.rounds, 3) {
		s, err := onCopy(ctx, b.shm, dirty, b.byUs(deep))
		if err != nil {
			return err
		}
		used = append(used, s.cpu().Seconds())
	}
	fmt.Printf("On %s: %.1f us of CPU time for each item, the log's three readings and the writes included.\n\n",
		filesystem(b.shm), median(used)/float64(items)*1e6)
	return nil
}
