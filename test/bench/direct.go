package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// fio writes the same pattern: a header's length at each group's start.
func fio(r report, engine string, depth int, size int64) contender {
	n := r.Geometry.AGs
	return contender{
		name: "fio",
		argv: []string{"fio", "--output-format=json", "--name=bench", "--ioengine=" + engine, "--iodepth=" +
			strconv.Itoa(depth),
			"--direct=1", fmt.Sprintf("--bs=%d", r.headerBytes()), fmt.Sprintf("--rw=write:%d",
				r.Geometry.AGBytes-r.headerBytes()),
			fmt.Sprintf("--size=%d", size), fmt.Sprintf("--number_ios=%d", n), "--io_size=" +
				strconv.FormatInt(n*r.headerBytes(), 10),
			"--fallocate=none", "--end_fsync=1", "--overwrite=0", "--zero_buffers=0", "--refill_buffers=0",
			"--disable_lat=1", "--disable_clat=1", "--disable_slat=1", "--gtod_reduce=1", "--filename"},
		rate: func(out []byte) (float64, error) {
			var v struct {
				Jobs []struct {
					Runtime int64 `json:"job_runtime"` // ms
					Write   struct {
						Requests int64 `json:"total_ios"`
					} `json:"write"`
				} `json:"jobs"`
			}
			if err := json.Unmarshal(out, &v); err != nil {
				return 0, err
			}
			if len(v.Jobs) != 1 || v.Jobs[0].Runtime == 0 {
				return 0, errNothing
			}
			if got := v.Jobs[0].Write.Requests; got < n*99/100 || got > n*101/100 {
				return 0, fmt.Errorf("it wrote %d times instead of %d", got, n)
			}
			return float64(n) / float64(v.Jobs[0].Runtime) * 1000, nil
		},
	}
}

// deep is the depth that direct IO is measured at.
const deep = 100

// direct measures ours with direct IO: at some depth beside none, and beside fio.
func (b *bench) direct(ctx context.Context, c course, args ...string) error {
	at := func(depth int) contender {
		return b.atWork(fmt.Sprintf("mkfs at depth %d", depth), append(args, "--queue-depth", strconv.Itoa(depth))...)
	}
	r, content, err := b.template(ctx, c, args...)
	if err != nil {
		return err
	}
	defer os.Remove(content)
	if !r.Work.Direct {
		return skip("no direct IO in %s", c.dir)
	}
	list := []contender{at(deep), at(1)}
	if _, err := exec.LookPath("fio"); err == nil {
		list = append(list, fio(r, "io_uring", deep, c.size))
		list[2].name = "fio, io_uring"
		list = append(list, fio(r, "libaio", deep, c.size))
		list[3].name = "fio, libaio"
	} else {
		fmt.Print("No fio.\n\n")
	}
	if c.device == "" {
		loop := b.bare(r, content, true)
		loop.rate = nil
		list = append(list, loop)
	}
	b.settle(ctx)
	samples, peaks, err := c.race(ctx, list)
	if err != nil {
		return err
	}
	for i := range samples { // the bare loop's rate is of its whole process
		if list[i].rate == nil {
			for k := range samples[i] {
				samples[i][k].rate *= float64(r.Geometry.AGs)
			}
		}
	}
	fmt.Printf("%d allocation groups of %d MiB; engine %s. ", r.Geometry.AGs, r.Geometry.AGBytes>>20, r.Work.Engine)
	average := medianOf(samples[0], func(s sample) float64 {
		r, _ := parseReport(s.out)
		return r.Work.Average
	})
	fmt.Printf("Average depth %.1f of %d.\n\n", average, deep)
	compare(list, samples, peaks)
	return nil
}

func diskSection(ctx context.Context, b *bench) error {
	gigs := pick[int64](b, 12<<10, 1<<10)
	return b.direct(ctx, course{dir: b.dir, size: gigs * gib, rounds: b.rounds}, "-d", "agsize=1g")
}

func loopSection(ctx context.Context, b *bench) error {
	gigs := pick[int64](b, 4<<10, 512)
	device, down, err := loopDevice(b.dir, gigs*gib)
	if err != nil {
		return err
	}
	defer down()
	return b.direct(ctx, course{dir: b.dir, device: device, size: gigs * gib, rounds: b.rounds}, "-d", "agsize=1g",
		"-f", "-K")
}
