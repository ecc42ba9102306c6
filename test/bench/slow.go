package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio"
	"mkfs/internal/recovery"
)

// slowRing is a ring on a device whose reads take a latency longer. It has as
// many requests in flight as the ring below it, and they wait at the same time.
type slowRing struct {
	*aio.Ring
	depth   int
	latency time.Duration
	reads   []*slowRead // that are in flight, as they came
	writes  int         // in flight
	ended   int         // requests, ever

	taken, depths int64 // of reads of blocks: how many, and the sum of how many were in flight with each
}

// largestBlock is the largest of metadata; the log is read in larger parts.
const largestBlock = 64 << 10

type slowRead struct {
	due  time.Time
	read bool
	err  error
	done func(error)
}

// Read takes a read, which is complete when the device has done it and the
// latency is over.
func (r *slowRing) Read(off int64, vec [][]byte, done func(error)) error {
	if len(r.reads) >= r.depth {
		if err := r.Reap(1); err != nil {
			return err
		}
	}
	s := &slowRead{due: time.Now().Add(r.latency), done: done}
	if err := r.Ring.Read(off, vec, func(err error) { s.read, s.err = true, err }); err != nil {
		return err
	}
	r.reads = append(r.reads, s)
	if len(vec[0]) <= largestBlock {
		r.taken++
		r.depths += int64(len(r.reads))
	}
	return nil
}

// Write writes at the device's own pace.
func (r *slowRing) Write(off int64, vec [][]byte, done func(error)) error {
	err := r.Ring.Write(off, vec, func(err error) {
		r.writes--
		r.ended++
		done(err)
	})
	if err == nil {
		r.writes++
	}
	return err
}

// Reap waits for requests to end. It does not sleep: what a sleep is too long
// by would be as much as the latency.
func (r *slowRing) Reap(least int) error {
	until := r.ended + min(least, len(r.reads)+r.writes)
	for {
		err := r.Ring.Reap(0)
		now := time.Now()
		kept := r.reads[:0]
		for _, s := range r.reads {
			if s.read && !now.Before(s.due) {
				s.done(s.err)
				r.ended++
			} else {
				kept = append(kept, s)
			}
		}
		clear(r.reads[len(kept):])
		r.reads = kept
		if err != nil || r.ended >= until {
			return err
		}
	}
}

func (r *slowRing) Sync() error {
	if err := r.Reap(len(r.reads) + r.writes); err != nil {
		return err
	}
	return r.Ring.Sync()
}

// slowResult is what slow prints.
type slowResult struct{ Seconds, Depth float64 }

// slow recovers an image on a slow ring.
func slow(args []string) error {
	fs := flag.NewFlagSet("slow", flag.ExitOnError)
	depth := fs.Int("depth", deep, "requests in flight")
	latency := fs.Duration("latency", time.Millisecond, "what each read takes longer")
	fs.Parse(args)
	if fs.NArg() != 1 {
		return fmt.Errorf("one image, please")
	}
	f, err := os.OpenFile(fs.Arg(0), os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	ring, err := aio.Open(int(f.Fd()), aio.Config{Depth: *depth})
	if err != nil {
		return err
	}
	r := &slowRing{Ring: ring, depth: *depth, latency: *latency}
	started := time.Now()
	_, err = recovery.Run(context.Background(), recovery.Options{
		Data:  recovery.Device{Name: fs.Arg(0), Ring: r, Size: info.Size(), Align: 512},
		Depth: *depth, Memory: aio.NewSlab,
	})
	seconds := time.Since(started).Seconds()
	if e := ring.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(slowResult{seconds, float64(r.depths) / float64(max(1, r.taken))})
}
