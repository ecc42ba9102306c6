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
	"strings"
	"time"
)

// kind is what came of a case.
type kind string

const (
	accepted kind = "accepted"
	refused  kind = "refused"
	// the reference crashed or took too long, the disk is full, or we say that something is missing
	skipped   kind = "left out"
	decision  kind = "one accepts and the other refuses"
	table     kind = "stdout differs"
	content   kind = "files differ"
	touched   kind = "refused, and yet files changed"
	silent    kind = "refused without a word"
	crashed   kind = "crashed"
	otherwise kind = "cannot run"
)

type verdict struct {
	kind   kind
	detail string
}

func (v verdict) differs() bool { return v.kind != accepted && v.kind != refused && v.kind != skipped }

func (v verdict) String() string { return strings.TrimSpace(string(v.kind) + "\n" + v.detail) }

// runner runs both programs.
type runner struct {
	ours, reference, dir string
	verbose              bool
}

// patience is how long one run may take.
const patience = 2 * time.Minute

// outcome is one run of a program.
type outcome struct {
	dir            string
	status         int // -1 for a crash or no end
	stdout, stderr string
}

// judge runs both programs and compares.
func (r *runner) judge(c tryCase) verdict {
	dir, err := os.MkdirTemp(r.dir, "case-")
	if err != nil {
		return verdict{otherwise, err.Error()}
	}
	defer os.RemoveAll(dir)
	return r.judgeIn(dir, c)
}

// judgeIn is judge in a folder that stays.
func (r *runner) judgeIn(dir string, c tryCase) verdict {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return verdict{otherwise, err.Error()}
	}
	var runs [2]outcome
	var err error
	for i, program := range []string{r.ours, r.reference} {
		if c.source != nil {
			if err := c.source.ready(dir); err != nil {
				return verdict{otherwise, err.Error()}
			}
		}
		if runs[i], err = c.run(program, filepath.Join(dir, fmt.Sprint(i))); err != nil {
			return verdict{otherwise, err.Error()}
		}
	}
	v := compare(c, runs[0], runs[1])
	if c.plan && v.kind == decision && runs[0].status == 1 { // it may notice only when it writes
		c.plan = false
		if late, err := c.run(r.reference, filepath.Join(dir, "late")); err == nil && late.status != 0 {
			v = verdict{kind: refused}
		}
	}
	return v
}

// run makes the files and runs a program among them.
func (c tryCase) run(program, dir string) (o outcome, err error) {
	o.dir = dir
	if err := c.prepare(dir); err != nil {
		return o, err
	}
	for i, name := range c.images() {
		if name == "" || c.sectors[i] == 0 {
			continue
		}
		detach, err := attach(filepath.Join(dir, name), c.sectors[i])
		if err != nil {
			return o, err
		}
		defer func() { err = errors.Join(err, detach()) }()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, c.args()...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, c.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.As(err, &exit):
		o.status = exit.ExitCode() // -1 for a signal
	case ctx.Err() != nil:
		o.status = -1
	default:
		return o, err
	}
	o.stdout, o.stderr = out.String(), errs.String()
	return o, nil
}

// images are the names of the images, "" for those that there are not.
func (c tryCase) images() (names [3]string) {
	names[0] = "img"
	if c.logSize > 0 {
		names[1] = "log"
	}
	if c.rtSize > 0 {
		names[2] = "rt"
	}
	return names
}

// prepare makes all files in a new folder.
func (c tryCase) prepare(dir string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	for name, text := range c.files() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	for i, size := range []int64{c.size, c.logSize, c.rtSize} {
		if name := c.images()[i]; name != "" {
			if err := c.image(filepath.Join(dir, name), size); err != nil {
				return err
			}
		}
	}
	return nil
}

// filled is how much of an image holds old data.
const filled = 64 << 20

func (c tryCase) image(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.fill {
		if _, err := f.Write(bytes.Repeat([]byte("y\n"), int(min(filled, size)/2))); err != nil {
			return err
		}
	}
	return f.Truncate(size)
}

func compare(c tryCase, ours, theirs outcome) verdict {
	switch {
	case ours.status != 0 && ours.status != 1:
		return verdict{crashed, fmt.Sprintf("exit status %d\n%s", ours.status, ours.stderr)}
	case theirs.status < 0:
		return verdict{skipped, "  theirs crashed or took too long: " + head(theirs.stderr)}
	case c.source == nil && strings.Contains(ours.stderr+theirs.stderr, "o space left on device"):
		return verdict{skipped, "  the host is full"}
	case (ours.status == 0) != (theirs.status == 0):
		return verdict{decision, fmt.Sprintf("  ours %d: %s\n  theirs %d: %s", ours.status, head(ours.stderr),
			theirs.status, head(theirs.stderr))}
	case ours.status != 0:
		return c.compareRefusals(ours, theirs)
	case ours.stdout != theirs.stdout:
		return verdict{table, lineDiff(ours.stdout, theirs.stdout)}
	}
	if detail, err := compareFolders(ours.dir, theirs.dir); err != nil {
		return verdict{otherwise, err.Error()}
	} else if detail != "" {
		return verdict{content, detail}
	}
	return verdict{kind: accepted}
}

// compareRefusals looks that a refusal said something and touched nothing.
func (c tryCase) compareRefusals(ours, theirs outcome) verdict {
	if ours.stderr == "" {
		return verdict{kind: silent}
	}
	dir := ours.dir + "-before"
	if _, err := c.run("/bin/true", dir); err != nil {
		return verdict{otherwise, err.Error()}
	}
	if detail, err := compareFolders(ours.dir, dir); err != nil {
		return verdict{otherwise, err.Error()}
	} else if detail != "" {
		return verdict{touched, detail}
	}
	return verdict{refused, fmt.Sprintf("  ours: %s\n  theirs: %s", head(ours.stderr), head(theirs.stderr))}
}

func head(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// lineDiff shows the first lines that differ.
func lineDiff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		get := func(l []string) string {
			if i < len(l) {
				return l[i]
			}
			return "(nothing)"
		}
		if get(x) != get(y) {
			return fmt.Sprintf("  ours   %s\n  theirs %s", get(x), get(y))
		}
	}
	return ""
}

// shrink leaves away what the difference does not take.
func (r *runner) shrink(c tryCase, v verdict) (tryCase, verdict) {
	try := func(smaller tryCase) bool {
		w := r.judge(smaller)
		if w.kind != v.kind {
			return false
		}
		c, v = smaller, w
		return true
	}
	for again := true; again; {
		again = false
		for i := len(c.items) - 1; i >= 0; i-- {
			smaller := c
			smaller.items = slices.Delete(slices.Clone(c.items), i, i+1)
			again = try(smaller) || again
		}
	}
	if c.source != nil {
		shrinkSource(c.source, func(s source) bool {
			smaller := c
			smaller.source = s
			return try(smaller)
		})
	}
	for i := len(c.env) - 1; i >= 0; i-- {
		smaller := c
		smaller.env = slices.Delete(slices.Clone(c.env), i, i+1)
		if !strings.HasPrefix(c.env[i], "DETERM") && !strings.HasPrefix(c.env[i], "SOURCE") {
			try(smaller)
		}
	}
	for _, simplify := range []func(*tryCase){
		func(c *tryCase) { c.fill = false }, func(c *tryCase) { c.logSize = 0 }, func(c *tryCase) { c.rtSize = 0 },
		func(c *tryCase) { c.style = 0 },
		func(c *tryCase) { c.size = 1 << 30 }, func(c *tryCase) { c.plan = !c.plan },
	} {
		smaller := c
		simplify(&smaller)
		if smaller.shell("") != c.shell("") {
			try(smaller)
		}
	}
	return c, v
}
