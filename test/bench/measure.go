package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// contender is a program to be measured. argv ends with the image's path.
type contender struct {
	name string
	argv []string
	// rate takes work per second from what the program printed. Without it
	// the inverse of the time of the whole process counts.
	rate func(out []byte) (float64, error)
}

// sample is what one run came to.
type sample struct {
	wall, user, sys time.Duration
	rate            float64
	out             []byte
}

func (s sample) cpu() time.Duration { return s.user + s.sys }

// course is where and how often contenders run: each time on a fresh sparse
// image in dir, or on device.
type course struct {
	dir    string
	size   int64
	device string
	rounds int
	cold   bool // without a warm-up
}

func (c course) image() string {
	if c.device != "" {
		return c.device
	}
	return filepath.Join(c.dir, "bench-image")
}

// fresh makes an empty image, and lets what the last run left behind come to rest.
func (c course) fresh() error {
	if c.device != "" {
		return nil
	}
	c.remove()
	f, err := os.Create(c.image())
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(c.size); err != nil {
		return err
	}
	return unix.Syncfs(int(f.Fd()))
}

func (c course) remove() {
	if c.device == "" {
		os.Remove(c.image())
	}
}

// race lets the contenders take turns, after a warm-up of each. It gives their
// samples by contender and round, and the peak memory of each in bytes.
func (c course) race(ctx context.Context, list []contender) ([][]sample, []int64, error) {
	samples, peaks := make([][]sample, len(list)), make([]int64, len(list))
	defer c.remove()
	first := -1
	if c.cold {
		first = 0
	}
	for round := first; round < c.rounds; round++ {
		for i, who := range list {
			if err := c.fresh(); err != nil {
				return nil, nil, err
			}
			var peak *int64
			if round == first {
				peak = &peaks[i]
			}
			s, err := measure(ctx, append(slices.Clip(who.argv), c.image()), peak)
			if err == nil && who.rate != nil {
				s.rate, err = who.rate(s.out)
			} else {
				s.rate = 1 / s.wall.Seconds()
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", who.name, err)
			}
			if round >= 0 {
				samples[i] = append(samples[i], s)
			}
		}
	}
	return samples, peaks, nil
}

// measure runs a program. With peak it watches its memory, which costs a
// little: rusage will not do, as the kernel counts in it the memory of the
// process that started the program.
func measure(ctx context.Context, argv []string, peak *int64) (sample, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	stop := make(chan struct{})
	if peak != nil {
		go watchMemory(cmd.Process.Pid, peak, stop)
	}
	err := cmd.Wait()
	wall := time.Since(started)
	if peak != nil {
		stop <- struct{}{}
	}
	if ctx.Err() != nil {
		return sample{}, context.Cause(ctx)
	}
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	state := cmd.ProcessState
	return sample{wall: wall, user: state.UserTime(), sys: state.SystemTime(), out: out.Bytes()}, nil
}

func watchMemory(pid int, peak *int64, stop chan struct{}) {
	path := fmt.Sprintf("/proc/%d/status", pid)
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		status, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			*peak = max(*peak, kib<<10)
		}
	}
}

// median of values; they are not changed.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return 0
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// pairs are the ratios of what two contenders came to in each round.
func pairs(a, b []sample, value func(sample) float64) []float64 {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = value(a[i]) / value(b[i])
	}
	return list
}

func rateOf(s sample) float64 { return s.rate }
func cpuOf(s sample) float64  { return max(s.cpu(), time.Microsecond).Seconds() }

func medianOf[T any](list []T, value func(T) float64) float64 {
	var v []float64
	for _, s := range list {
		v = append(v, value(s))
	}
	return median(v)
}

var errNothing = errors.New("it has written nothing")
