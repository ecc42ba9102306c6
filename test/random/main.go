// Command random compares mkfs with the reference mkfs.xfs on random command
// lines: combinations of all suboptions with values that are sane, at an edge or
// odd, with configuration files and environment, on images of many sizes. Both
// run in folders of their own with equal files; whether they accept, the table
// they print and every byte of every file must be the same. What differs is
// shrunk to the options that it takes, and printed as commands for a shell.
//
// With -trees filesystems are filled with random trees and prototype files (-p), which are made
// in DIR: that should be a tmpfs, which knows all attributes and times, and the user root, who can
// make all kinds of files.
//
//	go run ./test/random -mkfs ./mkfs -reference mkfs.xfs [-n 2000] [-seed 1] [-j 2] [-dir DIR] [-keep] [-loop]
//	go run ./test/random -mkfs ./mkfs -reference mkfs.xfs -trees 500 [-seed 1] [-j 2] [-dir /dev/shm] [-keep]
//
// Exit status 0 means that nothing differed.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "random: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	var r runner
	var tries, trees, jobs, most int
	var first int64
	var loops, keeps bool
	flag.StringVar(&r.ours, "mkfs", "./mkfs", "the program to compare")
	flag.StringVar(&r.reference, "reference", "mkfs.xfs", "the reference")
	flag.StringVar(&r.dir, "dir", "", "folder for the images; the system's for temporary files without it")
	flag.IntVar(&tries, "n", 2000, "command lines")
	flag.IntVar(&trees, "trees", 0, "so many filesystems that are filled, instead of command lines")
	flag.Int64Var(&first, "seed", 1, "seed of the first one; each has its own")
	flag.IntVar(&jobs, "j", 2, "command lines at once")
	flag.IntVar(&most, "most", 20, "stop after so many differences")
	flag.BoolVar(&loops, "loop", false, "most images are loop devices, of 512 or 4096 bytes a sector; needs root")
	flag.BoolVar(&keeps, "keep", false, "leave the files of what differs in -dir")
	flag.BoolVar(&r.verbose, "v", false, "print each command line")
	flag.Parse()
	drawCase := func(r *rand.Rand) tryCase { return draw(r, loops) }
	if trees > 0 {
		tries, drawCase = trees, drawFilled
	}
	for _, path := range []*string{&r.ours, &r.reference} {
		full, err := findProgram(*path)
		if err != nil {
			return err
		}
		*path = full
	}
	keep := r.dir
	dir, err := os.MkdirTemp(r.dir, "mkfs-random-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r.dir = dir

	started := time.Now()
	var mu sync.Mutex
	var count tally
	seeds := make(chan int64)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for seed := range seeds {
				c := drawCase(rand.New(rand.NewPCG(uint64(seed), 0)))
				verdict := r.judge(c)
				var small tryCase
				if verdict.differs() {
					small, verdict = r.shrink(c, verdict)
					if keeps {
						r.judgeIn(filepath.Join(keep, fmt.Sprint("seed-", seed)), small)
					}
				}
				mu.Lock()
				count.add(verdict)
				if r.verbose {
					fmt.Printf("%d %v\n%s\n", seed, verdict, c.shell("mkfs"))
				}
				if verdict.differs() {
					fmt.Printf("seed %d: %s\n%s\n", seed, verdict, small.shell("mkfs"))
				}
				mu.Unlock()
			}
		})
	}
	for i := range tries {
		mu.Lock()
		stop := count.differ >= most
		mu.Unlock()
		if stop {
			break
		}
		seeds <- first + int64(i)
	}
	close(seeds)
	workers.Wait()
	fmt.Printf("%v in %.0f s\n", &count, time.Since(started).Seconds())
	if count.differ > 0 {
		return fmt.Errorf("%d command lines differ", count.differ)
	}
	return nil
}

// tally counts verdicts.
type tally struct{ accepted, refused, skipped, differ int }

func (t *tally) add(v verdict) {
	switch v.kind {
	case accepted:
		t.accepted++
	case refused:
		t.refused++
	case skipped:
		t.skipped++
	default:
		t.differ++
	}
}

func (t *tally) String() string {
	return fmt.Sprintf("%d accepted and %d refused by both, %d left out, %d differ", t.accepted, t.refused, t.skipped,
		t.differ)
}

// findProgram makes a path that holds in any folder.
func findProgram(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(full); err != nil || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("%s is no program", path)
	}
	return full, nil
}
