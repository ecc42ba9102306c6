package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"mkfs/internal/buffer"
)

// policies are when changes are written.
var policies = []struct {
	name  string
	age   int64
	limit int // MiB of blocks in memory
}{
	{"at once", buffer.AtOnce, 64},
	{"aged", buffer.DefaultAge, 64},
	{"at the end", buffer.AtEnd, 4096},
}

// createsSection measures the making of files through the cache of blocks.
func createsSection(ctx context.Context, b *bench) error {
	if err := b.createsInMemory(ctx); err != nil {
		return err
	}
	return b.createsOnDisk(ctx)
}

// create makes files in a new filesystem.
func (b *bench) create(ctx context.Context, files int, args ...string) (r createsResult, err error) {
	image := filepath.Join(b.dir, "bench-image")
	defer os.Remove(image)
	if err := (course{dir: b.dir, size: 64 * gib}).fresh(); err != nil {
		return r, err
	}
	if _, err := command(b.mkfs, "-q", "-f", image); err != nil {
		return r, err
	}
	argv := append([]string{b.self, "creates", "-files", strconv.Itoa(files)}, append(args, image)...)
	s, err := measure(ctx, argv, &r.peak)
	if err == nil {
		err = json.Unmarshal(s.out, &r)
	}
	return r, err
}

// mostUser is the goal for a file, in microseconds of user time.
const mostUser = 3

func (b *bench) createsInMemory(ctx context.Context) error {
	files := pick(b, 1_000_000, 100_000)
	b.settle(ctx)
	var results []createsResult
	for range min(b.rounds, 3) {
		r, err := b.create(ctx, files, "-memory")
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	user := medianOf(results, func(r createsResult) float64 { return r.User / float64(files) * 1e6 })
	s := results[0].Stats
	fmt.Printf("%d empty files in 100 directories, on a device in memory, with %d MiB of buffers: %.2f us of user time for each. "+
		"%d changes of blocks are %d writes: %.2f %% are saved by waiting. %d blocks were evicted, %d of them read again.\n\n",
		files, buffer.DefaultLimit>>20, user, s.Changes, s.Writes, 100*float64(s.Saved())/float64(s.Changes), s.Evicted, s.Reread)
	fmt.Printf("Goal: at most %d us: %s.\n\n", mostUser, met(user <= mostUser))
	return nil
}

func (b *bench) createsOnDisk(ctx context.Context) error {
	files := pick(b, 200_000, 20_000)
	b.settle(ctx)
	results := make([][]createsResult, len(policies))
	for range min(b.rounds, 3) {
		for i, p := range policies {
			r, err := b.create(ctx, files, "-age", strconv.FormatInt(p.age, 10), "-limit", strconv.Itoa(p.limit))
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			results[i] = append(results[i], r)
		}
	}
	seconds := func(i int) float64 { return medianOf(results[i], func(r createsResult) float64 { return r.Seconds }) }
	t := newTable(fmt.Sprintf("%d files, disk", files), "MiB of memory", "us for each", "times as fast as at once", "writes", "requests",
		"MB", "changes saved")
	for i, p := range policies {
		s := results[i][0].Stats
		t.row(p.name, strconv.FormatInt(results[i][0].peak>>20, 10), fmt.Sprintf("%.1f", seconds(i)/float64(files)*1e6), times(seconds(0)/seconds(i)),
			strconv.FormatInt(s.Writes, 10), strconv.FormatInt(s.Requests, 10), fmt.Sprintf("%.0f", float64(s.Bytes)/1e6),
			fmt.Sprintf("%.2f %%", 100*float64(s.Saved())/float64(s.Changes)))
	}
	t.print()
	fmt.Printf("\nGoal: aged at least 1.75 times as fast as at once: %s; within 10 %% of at the end: %s.\n",
		met(seconds(0) >= 1.75*seconds(1)), met(seconds(1) <= 1.1*seconds(2)))
	return nil
}
