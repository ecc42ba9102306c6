package progress

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/format"
)

// steps plays a run of two phases.
func steps(p Progress) {
	for i := range int64(1000) {
		p.Step(format.Step{Phase: format.PhaseHeaders, Done: i + 1, Total: 1000})
	}
	p.Step(format.Step{Phase: format.PhaseComplete, Done: 1, Total: 2})
	p.Step(format.Step{Phase: format.PhaseComplete, Done: 2, Total: 2})
	p.End()
}

func TestProgressJSON(t *testing.T) {
	var out bytes.Buffer
	p, err := New("json", &out, false)
	if err != nil {
		t.Fatal(err)
	}
	steps(p)
	last := map[string]int64{}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		var v struct {
			Phase       string
			Done, Total int64
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		last[v.Phase] = v.Done * 1000 / v.Total
	}
	if last["headers"] != 1000 || last["complete"] != 1000 {
		t.Errorf("the last lines of the phases are not those of all done: %v", last)
	}
	if len(lines) > 100 {
		t.Errorf("%d lines for a moment's work", len(lines))
	}
}

func TestProgressPlain(t *testing.T) {
	var out bytes.Buffer
	p, _ := New("plain", &out, false)
	steps(p)
	if !strings.HasSuffix(out.String(), "complete: 2 of 2 (100 %)\n") || strings.ContainsAny(out.String(), "\r\x1b") {
		t.Errorf("%q", out.String())
	}
}

// A bar is not seen of work that takes a moment, and none at all off a terminal.
func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	b := &bar{w: &out, started: time.Now()}
	steps(b)
	if out.Len() > 0 {
		t.Errorf("a bar for a moment's work: %q", out.String())
	}
	b = &bar{w: &out, started: time.Now().Add(-2 * patience)}
	steps(b)
	if !strings.Contains(out.String(), "headers") {
		t.Errorf("no bar for longer work: %q", out.String())
	}
	if p, err := New("auto", &out, false); err != nil || p != (silence{}) {
		t.Errorf("auto off a terminal is %T, %v", p, err)
	}
	if _, err := New("circle", &out, false); err == nil {
		t.Error("there is a progress of kind circle")
	}
}

func TestDiscardText(t *testing.T) {
	for _, c := range []struct {
		name string
		to   int64
		want string
	}{
		{"all", 4, "Discarding blocks...Done.\n"},
		{"a part", 2, "Discarding blocks...\n"},
	} {
		var out bytes.Buffer
		d := &discardText{Progress: silence{}, out: &out}
		for i := range c.to {
			d.Step(format.Step{Phase: format.PhaseDiscard, Done: i + 1, Total: 4})
		}
		d.Step(format.Step{Phase: format.PhaseHeaders, Done: 1, Total: 1})
		d.End()
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, out.String(), c.want)
		}
	}
}

// On a terminal there is a bar, unless it is to be quiet (P06).
func TestProgressOnTerminal(t *testing.T) {
	tty := openTerminal(t)
	for _, c := range []struct {
		kind  string
		quiet bool
		want  string
	}{
		{"auto", false, "*progress.bar"}, {"auto", true, "progress.silence"}, {"bar", true, "*progress.bar"}, {"none", false, "progress.silence"},
	} {
		p, err := New(c.kind, tty, c.quiet)
		if got := fmt.Sprintf("%T", p); err != nil || got != c.want {
			t.Errorf("%s, quiet %v: %s, %v", c.kind, c.quiet, got, err)
		}
	}
}

// openTerminal makes a terminal that nobody looks at.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal:", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("no terminal:", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip("no terminal:", err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminal:", err)
	}
	t.Cleanup(func() { tty.Close() })
	return tty
}
