package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"mkfs/internal/aio"
	"mkfs/internal/geometry"
	"mkfs/internal/report"
	"mkfs/internal/source"
)

// looking is what the commands share that look at a filesystem: verify, recover
// and info.
type looking struct {
	target, log string
	part        source.Part
	engine      string
	depth       int
	ring        aio.Config // of engine and depth
	json, quiet bool
	out, err    io.Writer
	name        string
	wrong       exitStatus      // of wrong arguments
	failure     func(error) any // what --json prints of them; nil for a report.Failure
}

// addFlags adds the options that all of them have.
func (l *looking) addFlags(fs *pflag.FlagSet) {
	partFlags(fs, &l.part)
	fs.StringVar(&l.log, "logdev", "", "`DEVICE` of an external log")
	fs.BoolVar(&l.json, "json", false, "print the report as one JSON object")
}

// addRingFlags adds those of commands that read much.
func (l *looking) addRingFlags(fs *pflag.FlagSet) {
	fs.BoolVarP(&l.quiet, "quiet", "q", false, "say nothing but errors and faults")
	fs.StringVar(&l.engine, "engine", "auto", "how to read and write: `ENGINE` is auto, uring, aio or sync")
	fs.IntVar(&l.depth, "queue-depth", aio.DefaultDepth, "`NUMBER` of requests in flight")
}

// take takes the target from the arguments. It and faults, of other options, may
// end the command before anything is read.
func (l *looking) take(args []string, faults ...error) error {
	if len(args) != 1 {
		return l.refuse(usageError{fmt.Errorf("one target, please, not %d", len(args))})
	}
	if l.engine != "" {
		ring, wrong := ringConfig(l.engine, l.depth)
		l.ring, faults = ring, append(wrong, faults...)
	}
	if faults = slices.DeleteFunc(faults, func(err error) bool { return err == nil }); len(faults) > 0 {
		return l.refuse(&geometry.Refusals{List: faults})
	}
	l.target = args[0]
	return nil
}

// refuse ends the command for its arguments.
func (l *looking) refuse(err error) error {
	if l.json {
		object := any(report.NewFailure(err, int(l.wrong)))
		if l.failure != nil {
			object = l.failure(err)
		}
		err = errors.Join(err, report.JSON(l.out, object))
	}
	return exitError{l.wrong, err}
}

// stopped is the end of a command that a signal has ended.
func (l *looking) stopped(err error) error {
	if l.json {
		err = errors.Join(err, report.JSON(l.out, report.NewFailure(err, int(statusOf(err)))))
	}
	return err
}
