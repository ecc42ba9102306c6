// Command bench measures mkfs beside the reference mkfs.xfs, beside a bare
// loop of writes and beside fio, on several kinds of hosts.
//
// Machines are noisy, so only ratios count: the programs that are compared
// take turns in one run, and what is reported is the median of the ratios of
// neighbouring runs. A section that cannot run says why.
//
//	go run ./test/bench -mkfs ./mkfs -reference mkfs.xfs [-only tmpfs,small] [-quick]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is one run of the program.
type bench struct {
	mkfs      string
	reference []string // command and arguments; empty if there is none
	dir       string   // on the machine's disk
	shm       string   // on tmpfs
	svg       string
	rounds    int
	quick     bool
	self      string
}

// section is a part that can be chosen by itself.
type section struct {
	name, title string
	run         func(context.Context, *bench) error
}

var sections = []section{
	{"tmpfs", "tmpfs, 20 PiB", tmpfsSection},
	{"xfs", "XFS on zram, without an rmap btree, 100,000 allocation groups", xfsSection("-m", "rmapbt=0")},
	{"xfs-rmap", "XFS on zram, with an rmap btree, 100,000 allocation groups", xfsSection("-m", "rmapbt=1")},
	{"small", "Small images, whole process", smallSection},
	{"zones", "Zones, and so metadata files, on tmpfs", zonesSection},
	{"disk", "Disk, direct IO", diskSection},
	{"loop", "Loop device, direct IO", loopSection},
	{"sweep", "Depth and engine", sweepSection},
	{"scale", "Rate over the number of allocation groups", scaleSection},
	{"cpu", "Our own CPU time", cpuSection},
	{"recover", "Replaying a log", recoverSection},
	{"creates", "Making files", createsSection},
	{"populate", "Filling a filesystem from a directory", populateSection},
}

// parts are what this program does in a process of its own, to be measured.
var parts = map[string]func(args []string) error{"bare": bareLoop, "slow": slow, "creates": creates}

// skipped is the reason why a section did not run.
type skipped struct{ why string }

func (s skipped) Error() string { return s.why }

func skip(format string, args ...any) error { return skipped{fmt.Sprintf(format, args...)} }

func main() {
	if len(os.Args) > 1 && parts[os.Args[1]] != nil {
		if err := parts[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	b := &bench{}
	mkfs := flag.String("mkfs", "./mkfs", "our program")
	reference := flag.String("reference", "mkfs.xfs", "the reference, with leading arguments if any")
	only := flag.String("only", "", "sections to run, comma separated, of "+strings.Join(names, ",")+"; all by default")
	flag.StringVar(&b.dir, "dir", os.TempDir(), "a folder on the machine's disk")
	flag.StringVar(&b.shm, "shm", "/dev/shm", "a folder on tmpfs")
	flag.StringVar(&b.svg, "svg", "", "file for the plot of the sweep")
	flag.IntVar(&b.rounds, "rounds", 7, "turns of each program")
	flag.BoolVar(&b.quick, "quick", false, "small sizes and few turns, for a look in under a minute")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("what is %q for?", flag.Arg(0))
	}
	if b.quick {
		b.rounds = min(b.rounds, 3)
	}
	if err := b.find(*mkfs, *reference); err != nil {
		return err
	}
	chosen, err := choose(*only, names)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	fmt.Printf("Machine: %s.\n", machine())
	var failed error
	for _, s := range sections {
		if len(chosen) > 0 && !slices.Contains(chosen, s.name) {
			continue
		}
		fmt.Printf("\n## %s\n\n", s.title)
		started := time.Now()
		err := s.run(ctx, b)
		switch {
		case errors.As(err, new(skipped)):
			fmt.Printf("Skipped: %v.\n", err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			fmt.Printf("Failed: %v.\n", err)
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s.name, err))
		}
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", s.name, time.Since(started).Seconds())
	}
	return failed
}

// find makes the programs' names good from any folder.
func (b *bench) find(mkfs, reference string) (err error) {
	if b.mkfs, err = filepath.Abs(mkfs); err != nil {
		return err
	}
	if _, err := os.Stat(b.mkfs); err != nil {
		return fmt.Errorf("-mkfs: %w", err)
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	b.reference = strings.Fields(reference)
	return nil
}

func choose(only string, names []string) ([]string, error) {
	if only == "" {
		return nil, nil
	}
	chosen := strings.Split(only, ",")
	for _, c := range chosen {
		if !slices.Contains(names, c) {
			return nil, fmt.Errorf("-only: %q is none of %s", c, strings.Join(names, ", "))
		}
	}
	return chosen, nil
}

// pick is the full size of something, or the one for a quick look.
func pick[T any](b *bench, full, quick T) T {
	if b.quick {
		return quick
	}
	return full
}
