// Command crash judges mkfs recover: it makes many XFS images, lets the kernel
// work in them, shuts that down in the midst of it, and compares what mkfs
// recover makes of the dirty image with what the kernel's own recovery does.
// It needs root, for loop mounts, and xfs_repair.
//
//	go run ./test/crash -mkfs ./mkfs [-work /dev/shm] [-quick] [-only REGEXP]
//
// With -samples DIR it makes small dirty images for tests that have no root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	failed, err := run()
	if err != nil {
		fmt.Fprintf(os.Stderr, "crash: %v\n", err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

func run() (failed int, err error) {
	j := &judge{}
	flag.StringVar(&j.mkfs, "mkfs", "./mkfs", "the program that is judged, and makes the images")
	flag.StringVar(&j.repair, "repair", "xfs_repair", "xfs_repair")
	flag.StringVar(&j.conf, "conf", "", "a folder with lts_*.conf, of xfsprogs; cases with these are skipped without it")
	flag.StringVar(&j.work, "work", os.TempDir(), "a folder for the images; best on tmpfs")
	flag.StringVar(&j.keep, "keep", "", "a folder to keep the dirty images in")
	flag.Uint64Var(&j.seed, "seed", 1, "of all random choices")
	only := flag.String("only", "", "cases to run, a regular expression; all by default")
	quick := flag.Bool("quick", false, "a few cases, in under a minute")
	list := flag.Bool("list", false, "only list the cases")
	samples := flag.String("samples", "", "make sample images in this folder instead")
	flag.Parse()
	if flag.NArg() > 0 {
		return 0, fmt.Errorf("what is %q for?", flag.Arg(0))
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return 0, fmt.Errorf("-only: %w", err)
	}
	var chosen []crash
	for i, c := range cases {
		if c.number = i; pattern.MatchString(c.name) && (c.quick || !*quick) {
			chosen = append(chosen, c)
		}
	}
	if *list {
		for _, c := range chosen {
			fmt.Println(c)
		}
		return 0, nil
	}
	down, err := j.judging()
	if down != nil {
		defer down()
	}
	if err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM,
		syscall.SIGHUP, syscall.SIGPIPE) // the last for "| head": what is mounted must go then too
	defer stop()
	if *samples != "" {
		return 0, j.samples(ctx, *samples)
	}
	return j.all(ctx, chosen)
}

// all judges cases one after the other, and says how each went.
func (j *judge) all(ctx context.Context, chosen []crash) (failed int, err error) {
	passed, passedOver := 0, 0
	exits := map[int]int{}
	for _, c := range chosen {
		started := time.Now()
		exit, err := j.try(ctx, c)
		var s skipped
		var h helpless
		switch {
		case ctx.Err() != nil:
			return failed, context.Cause(ctx)
		case errors.As(err, &s):
			passedOver++
			fmt.Printf("skip %s: %v\n", c.name, s)
		case errors.As(err, &h):
			passed++
			fmt.Printf("ok %s exit=%d, where %v\n", c.name, exit, h)
		case err != nil:
			failed++
			fmt.Printf("FAIL %s: %v\n", c.name, err)
		default:
			passed++
			exits[exit]++
			fmt.Printf("ok %s exit=%d (%.1f s)\n", c.name, exit, time.Since(started).Seconds())
		}
	}
	fmt.Printf("%d with exit status 0, %d with 3, %d skipped\n", exits[done], exits[unfinished], passedOver)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	return failed, nil
}
