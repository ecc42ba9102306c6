package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
	tib = 1 << 40
	pib = 1 << 50

	calmness = 10 * time.Second // how long to wait for it
)

// report is what is used of mkfs --json.
type report struct {
	Geometry struct {
		AGs     int64 `json:"ag_count"`
		AGBytes int64 `json:"ag_bytes"`
	} `json:"geometry"`
	Work struct {
		Engine  string  `json:"engine"`
		Bytes   int64   `json:"bytes"`
		Direct  bool    `json:"direct"`
		Depth   int     `json:"queue_depth"`
		Seconds float64 `json:"seconds"`
		Average float64 `json:"average_depth"`
		Peak    int     `json:"peak_depth"`
	} `json:"work"`
}

func parseReport(out []byte) (r report, err error) {
	if err = json.Unmarshal(out, &r); err == nil && r.Work.Seconds <= 0 {
		err = errNothing
	}
	return r, err
}

// headerBytes is the length of a group's header. What else is written is less
// than a page a group, if there are many.
func (r report) headerBytes() int64 { return r.Work.Bytes / r.Geometry.AGs &^ 4095 }

// ours is our program, as a whole process.
func (b *bench) ours(name string, args ...string) contender {
	return contender{name: name, argv: append([]string{b.mkfs, "--json"}, args...)}
}

// atWork is our program, measured from the opening of the target to its last flush.
func (b *bench) atWork(name string, args ...string) contender {
	c := b.ours(name, args...)
	c.rate = func(out []byte) (float64, error) {
		r, err := parseReport(out)
		return float64(r.Geometry.AGs) / r.Work.Seconds, err
	}
	return c
}

func (b *bench) theirs(args ...string) contender {
	return contender{name: "mkfs.xfs", argv: append(append([]string(nil), b.reference...), append([]string{"-q"},
		args...)...)}
}

// haveReference tells whether there is one that runs.
func (b *bench) haveReference() bool {
	_, err := command(append(append([]string(nil), b.reference...), "-V")...)
	return err == nil
}

// template makes a filesystem, and keeps an allocation group's header for the
// bare loop.
func (b *bench) template(ctx context.Context, c course, args ...string) (r report, file string, err error) {
	if err := c.fresh(); err != nil {
		return r, "", err
	}
	defer c.remove()
	s, err := measure(ctx, append(b.ours("", args...).argv, c.image()), nil)
	if err != nil {
		return r, "", err
	}
	if r, err = parseReport(s.out); err != nil {
		return r, "", err
	}
	image, err := os.Open(c.image())
	if err != nil {
		return r, "", err
	}
	defer image.Close()
	header := make([]byte, r.headerBytes())
	if _, err := image.ReadAt(header, r.Geometry.AGBytes); err != nil && err != io.EOF {
		return r, "", err
	}
	file = filepath.Join(b.shm, "bench-header")
	return r, file, os.WriteFile(file, header, 0o600)
}

func (b *bench) bare(r report, content string, direct bool) contender {
	return contender{name: "bare loop", argv: []string{b.self, "bare", "-content", content,
		"-count", strconv.FormatInt(r.Geometry.AGs, 10), "-stride", strconv.FormatInt(r.Geometry.AGBytes, 10),
		fmt.Sprintf("-direct=%v", direct)}}
}

// onTmpfs is a course on tmpfs.
func (b *bench) onTmpfs(size int64) (course, error) {
	if fs := filesystem(b.shm); fs != "tmpfs" {
		return course{}, skip("%s is %s and not tmpfs", b.shm, fs)
	}
	return course{dir: b.shm, size: size, rounds: b.rounds}, nil
}

// versus measures ours beside the reference and the bare loop.
func (b *bench) versus(ctx context.Context, c course, direct bool) error {
	r, content, err := b.template(ctx, c)
	if err != nil {
		return err
	}
	defer os.Remove(content)
	b.settle(ctx)
	list := []contender{b.ours("mkfs")}
	if b.haveReference() {
		list = append(list, b.theirs())
	} else {
		fmt.Printf("No reference: %v does not run.\n\n", b.reference)
	}
	list = append(list, b.bare(r, content, direct))
	samples, peaks, err := c.race(ctx, list)
	if err != nil {
		return err
	}
	fmt.Printf("%d allocation groups of %d KiB; engine %s, depth %d, direct %v.\n\n",
		r.Geometry.AGs, r.headerBytes()/kib, r.Work.Engine, r.Work.Depth, r.Work.Direct)
	compare(list, samples, peaks)
	return nil
}

func tmpfsSection(ctx context.Context, b *bench) error {
	c, err := b.onTmpfs(pick[int64](b, 20*pib, 5*pib))
	if err != nil {
		return err
	}
	return b.versus(ctx, c, false)
}

// xfsSection measures on an XFS that is made with these options. Whether the
// host has an rmap btree matters: keeping it takes a third of the time.
func xfsSection(options ...string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		dir, down, err := zramXFS(b, options...)
		if err != nil {
			return err
		}
		defer down()
		ags := pick[int64](b, 100_000, 5_000)
		return b.versus(ctx, course{dir: dir, size: ags * tib, rounds: min(b.rounds, 3)}, true)
	}
}

func smallSection(ctx context.Context, b *bench) error {
	if !b.haveReference() {
		return skip("no reference: %v does not run", b.reference)
	}
	t := newTable("host", "size", "times faster", "times less CPU", "range of the former")
	for _, dir := range []string{b.dir, b.shm} {
		for _, size := range []struct {
			name  string
			bytes int64
		}{{"300 MiB", 300 * mib}, {"1 GiB", gib}, {"1 TiB", tib}} {
			b.settle(ctx)
			list := []contender{{name: "mkfs", argv: []string{b.mkfs, "-q"}}, b.theirs()}
			c := course{dir: dir, size: size.bytes, rounds: pick(b, 4*b.rounds, 3)}
			samples, _, err := c.race(ctx, list)
			if err != nil {
				return err
			}
			faster := pairs(samples[0], samples[1], rateOf)
			t.row(filesystem(dir), size.name, times(median(faster)),
				times(median(pairs(samples[1], samples[0], cpuOf))), spread(faster))
		}
	}
	t.print()
	return nil
}

// zonesSection measures filesystems that have a file for each of many zones.
func zonesSection(ctx context.Context, b *bench) error {
	if !b.haveReference() {
		return skip("no reference: %v does not run", b.reference)
	}
	t := newTable("size", "zones of 256 MiB", "times the rate", "times less CPU", "range of the former", "memory")
	for _, size := range pick(b, []int64{tib, 16 * tib, 64 * tib}, []int64{tib}) {
		c, err := b.onTmpfs(size)
		if err != nil {
			return err
		}
		b.settle(ctx)
		ours := contender{name: "mkfs", argv: []string{b.mkfs, "-q", "-r", "zoned=1"}}
		samples, peaks, err := c.race(ctx, []contender{ours, b.theirs("-r", "zoned=1")})
		if err != nil {
			return err
		}
		faster := pairs(samples[0], samples[1], rateOf)
		t.row(fmt.Sprintf("%d TiB", size/tib), fmt.Sprint(size/(256*mib)), times(median(faster)),
			times(median(pairs(samples[1], samples[0], cpuOf))), spread(faster), fmt.Sprintf("%d to %d MiB", peaks[0]>>20,
				peaks[1]>>20))
	}
	t.print()
	return nil
}

func cpuSection(ctx context.Context, b *bench) error {
	ags := pick[int64](b, 100_000, 10_000)
	c, err := b.onTmpfs(ags * tib)
	if err != nil {
		return err
	}
	b.settle(ctx)
	samples, peaks, err := c.race(ctx, []contender{b.ours("mkfs")})
	if err != nil {
		return err
	}
	user := medianOf(samples[0], func(s sample) float64 { return float64(s.user.Nanoseconds()) / 1e3 / float64(ags) })
	sys := medianOf(samples[0], func(s sample) float64 { return float64(s.sys.Nanoseconds()) / 1e3 / float64(ags) })
	fmt.Printf("%d allocation groups on tmpfs: %.2f us of user time and %.2f us of system time for each; %d MiB of "+
		"memory at most.\n",
		ags, user, sys, peaks[0]>>20)
	return nil
}

func scaleSection(ctx context.Context, b *bench) error {
	dir, down, err := zramXFS(b)
	if err != nil {
		return err
	}
	defer down()
	t := newTable("allocation groups", "rate to that at 1,000", "user us each", "peak memory")
	least := 0.0
	for _, ags := range pick(b, []int64{1_000, 10_000, 100_000, 1_000_000}, []int64{1_000, 10_000}) {
		c := course{dir: dir, size: ags * tib, rounds: 5}
		if ags >= 100_000 { // takes long enough for noise to even out
			c.rounds, c.cold = 1, true
		}
		b.settle(ctx)
		samples, peaks, err := c.race(ctx, []contender{b.atWork("mkfs")})
		if err != nil {
			return err
		}
		rate := medianOf(samples[0], rateOf)
		if least == 0 {
			least = rate
		}
		user := medianOf(samples[0], func(s sample) float64 { return float64(s.user.Nanoseconds()) / 1e3 / float64(ags) })
		t.row(fmt.Sprint(ags), fmt.Sprintf("%.2f", rate/least), fmt.Sprintf("%.2f", user), fmt.Sprintf("%d MiB",
			peaks[0]>>20))
	}
	t.print()
	return nil
}
