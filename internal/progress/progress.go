// Package progress shows on stderr how far work has come: a bar on a terminal, or
// lines for logs and programs.
package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/sys/unix"

	"mkfs/internal/format"
)

// Progress is told of each step of the work and of its end.
type Progress interface {
	Step(format.Step)
	End()
}

// patience is how long work may take before anything is said of it, and
// between two things that are said.
const patience = time.Second

// Phases of work other than formatting.
const (
	Replay format.Phase = "replay" // of a log; it counts bytes
	Copy   format.Phase = "copy"   // of a device, to recover the copy; it counts bytes
	Undo   format.Phase = "undo"   // putting back what was overwritten; it counts ranges
)

// kinds are the values of --progress but auto.
var kinds = map[string]func(io.Writer) Progress{
	"bar":   func(w io.Writer) Progress { return &bar{w: w, started: time.Now()} },
	"plain": func(w io.Writer) Progress { return &plain{w: w, last: time.Now()} },
	"json":  func(w io.Writer) Progress { return &jsonLines{enc: json.NewEncoder(w), last: time.Now()} },
	"none":  func(io.Writer) Progress { return silence{} },
}

// New makes the kind that was asked for by --progress. auto is a bar on a
// terminal, else nothing.
func New(kind string, stderr io.Writer, quiet bool) (Progress, error) {
	if kind == "auto" {
		kind = "none"
		if Terminal(stderr) && !quiet {
			kind = "bar"
		}
	}
	make := kinds[kind]
	if make == nil {
		return silence{}, fmt.Errorf("--progress: %q is none of auto, bar, plain, json and none", kind)
	}
	return make(stderr), nil
}

// Terminal tells whether w is a terminal.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

type silence struct{}

func (silence) Step(format.Step) {}
func (silence) End()             {}

// bar is a line on a terminal with the rate and the time left. It is seen when
// the work takes longer than patience, and disappears in the end.
type bar struct {
	w       io.Writer
	started time.Time
	shown   time.Time // when the description was made
	phase   format.Phase
	bar     *progressbar.ProgressBar
}

func (b *bar) Step(s format.Step) {
	phase := s.Phase
	if b.bar == nil || phase != b.phase {
		b.End()
		b.phase = phase
		b.bar = progressbar.NewOptions64(s.Total,
			progressbar.OptionSetWriter(b),
			progressbar.OptionSetDescription(string(phase)),
			progressbar.OptionShowBytes(phase.InBytes() || phase == Replay || phase == Copy),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("AG"), progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(patience/10))
	}
	if s.Path != nil && time.Since(b.shown) > patience/10 {
		b.shown = time.Now()
		b.bar.Describe(fmt.Sprintf("%s %s %s", phase, volume(s), short(s.Path())))
	}
	b.bar.Set64(s.Done) // can only fail to write to a terminal
}

// volume is how much data of how much, if that is known.
func volume(s format.Step) string {
	text := humanize.IBytes(uint64(s.Bytes))
	if s.TotalBytes > 0 {
		text += " of " + humanize.IBytes(uint64(s.TotalBytes))
	}
	return text
}

// short is the end of a path, printable.
func short(path string) string {
	const most = 32
	quoted := strconv.Quote(path)
	quoted = quoted[1 : len(quoted)-1]
	if len(quoted) > most {
		return "..." + quoted[len(quoted)-most:]
	}
	return quoted
}

// Write shows what the bar draws, once that is due. The bar counts from the
// start all the same, so that its rate is right when it is first seen.
func (b *bar) Write(p []byte) (int, error) {
	if time.Since(b.started) < patience {
		return len(p), nil
	}
	return b.w.Write(p)
}

func (b *bar) End() {
	if b.bar != nil {
		b.bar.Clear()
		b.bar = nil
	}
}

// plain is a line now and then, for logs.
type plain struct {
	w    io.Writer
	last time.Time
}

func (p *plain) Step(s format.Step) {
	if time.Since(p.last) < patience && s.Done < s.Total {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.w, "%s: %d of %d (%d %%)", s.Phase, s.Done, s.Total, percent(s.Done, s.Total))
	if s.Path != nil {
		fmt.Fprintf(p.w, ", %s", volume(s))
	}
	fmt.Fprintln(p.w)
}

func percent(done, total int64) int64 {
	if total == 0 {
		return 100
	}
	return int64(float64(done) / float64(total) * 100)
}

func (p *plain) End() {}

// jsonLines is an object a line for programs: phase, done and total, and where there is a
// tree, how many bytes of data of how many, and a path. A phase's last line is that of all done.
type jsonLines struct {
	enc  *json.Encoder
	last time.Time
}

func (j *jsonLines) Step(s format.Step) {
	if time.Since(j.last) < patience/10 && s.Done < s.Total {
		return
	}
	j.last = time.Now()
	line := struct {
		Phase      string `json:"phase"`
		Done       int64  `json:"done"`
		Total      int64  `json:"total"`
		Bytes      int64  `json:"bytes,omitempty"`
		TotalBytes int64  `json:"total_bytes,omitempty"`
		Path       string `json:"path,omitempty"`
	}{Phase: string(s.Phase), Done: s.Done, Total: s.Total, Bytes: s.Bytes, TotalBytes: s.TotalBytes}
	if s.Path != nil {
		line.Path = s.Path()
	}
	j.enc.Encode(line)
}

func (j *jsonLines) End() {}

// Of is a function that tells p how far a phase is.
func Of(p Progress, phase format.Phase) func(done, total int64) {
	return func(done, total int64) { p.Step(format.Step{Phase: phase, Done: done, Total: total}) }
}

// WithDiscards passes all on to p, and says on out, as mkfs.xfs does, that a
// device is discarded.
func WithDiscards(p Progress, out io.Writer) Progress { return &discardText{Progress: p, out: out} }

// discardText says on stdout, as mkfs.xfs does, that a device is discarded.
type discardText struct {
	Progress
	out  io.Writer
	open bool // the line is not finished
}

func (d *discardText) Step(s format.Step) {
	var text strings.Builder
	switch {
	case s.Phase == format.PhaseDiscard:
		if !d.open {
			text.WriteString("Discarding blocks...")
		}
		d.open = s.Done < s.Total
		if !d.open {
			text.WriteString("Done.\n")
		}
	case d.open: // the device refused the rest
		text.WriteString("\n")
		d.open = false
	}
	io.WriteString(d.out, text.String())
	d.Progress.Step(s)
}
