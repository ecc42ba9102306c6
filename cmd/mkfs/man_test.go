package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"mkfs/internal/compat"
	"mkfs/internal/options"
)

// The manual page has all options, suboptions, presets and commands, and is
// what man(7) takes.
func TestManual(t *testing.T) {
	var b bytes.Buffer
	if status := run([]string{"mkfs", "man"}, &b, &b); status != 0 {
		t.Fatalf("exit status %d: %s", status, b.String())
	}
	page := b.String()
	var words []string
	for _, s := range options.Sections {
		for _, r := range s.Rows {
			words = append(words, `\fB`+options.Roff(r.Name)+`=`)
		}
	}
	for _, name := range compat.Names() {
		words = append(words, ".B "+options.Roff(name)+"\n")
	}
	for name := range subcommands {
		words = append(words, "mkfs "+name)
	}
	words = append(words, `\fB\-f\fR, \fB\-\-force\fR`, `\fB\-L\fR \fIlabel\fR`, `\fB\-\-for\-kernel\fR`)
	for _, w := range words {
		if !strings.Contains(page, w) {
			t.Errorf("%q is not in it", w)
		}
	}
	macro := regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|RS|RE|B|BR|nf|fi|br)( |$)`)
	for i, line := range strings.Split(strings.TrimSuffix(page, "\n"), "\n") {
		if line == "" || line[0] == '\'' || line[0] == '.' && !macro.MatchString(line) {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
	if path, err := exec.LookPath("mandoc"); err == nil {
		cmd := exec.Command(path, "-T", "lint", "-W", "warning")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", cmd, err, out)
		}
	}
}
