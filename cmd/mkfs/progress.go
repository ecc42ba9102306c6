package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/sys/unix"

	"mkfs/internal/format"
)

// barDelay is how long work may take without a word.
const barDelay = time.Second

// progress shows a bar on a terminal once the work takes longer than that,
// and tells of discarding as mkfs.xfs does.
type progress struct {
	out        io.Writer
	quiet      bool
	terminal   io.Writer // nil for none
	start      time.Time
	ags        int64
	bar        *progressbar.ProgressBar
	discarding bool
}

func newProgress(j *job, ags int64) *progress {
	p := &progress{out: j.out, quiet: j.quiet, start: time.Now(), ags: ags}
	if f, ok := j.err.(*os.File); ok && !j.quiet && isTerminal(f) {
		p.terminal = f
	}
	return p
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// step is called from time to time while formatting.
func (p *progress) step(phase format.Phase, done, total int64) {
	if p.quiet {
		return
	}
	if phase == format.PhaseDiscard {
		if !p.discarding {
			p.discarding = true
			fmt.Fprint(p.out, "Discarding blocks...")
		}
		if done == total {
			p.discarding = false
			fmt.Fprintln(p.out, "Done.")
		}
		return
	}
	if p.discarding { // it ended early
		p.discarding = false
		fmt.Fprintln(p.out)
	}
	if p.terminal == nil || p.bar == nil && time.Since(p.start) < barDelay {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.terminal),
			progressbar.OptionSetDescription("AGs"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("AG"),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	p.bar.Set64(done)
}

// done removes the bar.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Clear()
	}
}
