package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/aginit"
	"mkfs/internal/ondisk"
	"mkfs/internal/options"
	"mkfs/internal/progress"
	"mkfs/internal/report"
)

// runAs runs the program in process.
func runAs(t *testing.T, name string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(append([]string{name}, args...), &out, &err)
	return status, out.String(), err.String()
}

func TestVerifyCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	img := "disk.img"
	if status, out, errs := runAs(t, "mkfs", "--verify", "--size", "1g", img); status != 0 || !strings.HasSuffix(out, "disk.img: 4 AGs, log clean, no faults\n") {
		t.Fatal(status, out, errs)
	}
	for _, args := range [][]string{
		{"verify", img}, {"verify", "--queue-depth", "1", img}, {"verify", img, "--engine", "sync"}, {"verify", "-q", img},
	} {
		want := "disk.img: 4 AGs, log clean, no faults\n"
		if args[1] == "-q" {
			want = ""
		}
		if status, out, errs := runAs(t, "mkfs", args...); status != 0 || out != want || errs != "" {
			t.Error(args, status, out, errs)
		}
	}
	f, err := os.OpenFile(img, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, off := range []int64{512 + 52, 256<<20 + 512 + 52} { // AGF of AGs 0 and 1
		if _, err := f.WriteAt([]byte{1}, off); err != nil {
			t.Fatal(err)
		}
	}
	status, out, _ := runAs(t, "mkfs", "verify", img)
	if want := "AG 0 AGF: the checksum is wrong\nAG 1 AGF: the checksum is wrong\ndisk.img: 4 AGs, log clean, 2 faults\n"; status != 1 || out != want {
		t.Errorf("%d\n%s", status, out)
	}
	status, out, _ = runAs(t, "mkfs", "verify", "--json", img)
	var r report.Verification
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 1 || r.Status != "faults" || r.Count != 2 || len(r.Faults) != 2 ||
		r.Faults[1].AG != 1 || r.Faults[1].Structure != "AGF" || r.Faults[1].Offset != 256<<20+512 || r.Engine == "" || r.AGs != 4 {
		t.Errorf("%v %d\n%s", err, status, out)
	}
}

func TestVerifyStatus(t *testing.T) {
	dir := t.TempDir()
	zeros := filepath.Join(dir, "zeros")
	if err := os.WriteFile(zeros, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		text   string // in either output
	}{
		{[]string{zeros}, 1, "no XFS"},
		{[]string{filepath.Join(dir, "none")}, 2, "no such file"},
		{[]string{dir}, 2, "directory"},
		{[]string{}, 2, "one target"},
		{[]string{"a", "b"}, 2, "one target"},
		{[]string{"--frobnicate", zeros}, 2, "there is no option"},
		{[]string{"--queue-depth", "-1", zeros}, 2, "--queue-depth"},
		{[]string{"--json", filepath.Join(dir, "none")}, 2, `"status": "unreadable"`},
		{[]string{"--json", "--engine", "x", zeros}, 2, `"status": "unreadable"`},
		{[]string{"--json", zeros}, 1, `"log": "not read"`},
		{[]string{"--help"}, 0, "Exit status"},
	} {
		status, out, errs := runAs(t, "mkfs", append([]string{"verify"}, c.args...)...)
		if status != c.status || !strings.Contains(out+errs, c.text) {
			t.Errorf("%v: %d\n%s%s", c.args, status, out, errs)
		}
	}
}

// The word verify is a command only as the first argument, and not for
// mkfs.xfs. Everywhere else it is a file.
func TestVerifyIsAFile(t *testing.T) {
	for _, args := range [][]string{
		{"mkfs", "--size", "1g", "verify"},
		{"mkfs", "-q", "-fL", "verify", "--size=1g", "verify"},
		{"mkfs", "--size=1g", "--", "verify"},
		{"mkfs", "./verify", "--size", "1g"},
		{"mkfs.xfs", "verify", "--size", "1g"},
		{"mkfs", "img", "--size", "1g"},
		{"/sbin/mkfs.xfs", "-q", "--size", "1g", "img"},
	} {
		t.Chdir(t.TempDir())
		name := filepath.Base(strings.TrimSuffix(strings.Join(args, " "), " --size 1g"))
		name = name[strings.LastIndexAny(name, " /")+1:]
		status, out, errs := runAs(t, args[0], args[1:]...)
		if st, err := os.Stat(name); status != 0 || err != nil || st.Size() != 1<<30 {
			t.Errorf("%v: %d %v\n%s%s", args, status, err, out, errs)
		}
	}
	t.Chdir(t.TempDir())
	if status, _, errs := runAs(t, "mkfs", "--", "verify"); status != 1 || !strings.Contains(errs, "no such file") {
		t.Error(status, errs)
	}
	if status, _, errs := runAs(t, "mkfs", "frobnicate", "verify"); status != 1 || strings.Contains(errs, "unknown command") {
		t.Error(status, errs)
	}
}

// A device that has stored nothing still shows the filesystem before, which is
// sound and yet no success (P30). Here something puts it back.
func TestVerifyAfterOlder(t *testing.T) {
	dir := t.TempDir()
	older := sparse(t, filepath.Join(dir, "older"), "400m")
	mustFormat(t, older)
	j := job{who: aginit.Identity{UUID: ondisk.UUID{1, 2, 3}}, parser: options.NewParser()}
	j.shown, _ = progress.New("none", nil, true)
	var out, errs bytes.Buffer
	j.out, j.err, j.name, j.engine = &out, &errs, "mkfs", "auto"
	j.parser.Target(older)
	j.parser.CommandLine()
	err := j.verifyAfter(t.Context())
	if status := statusOf(err); status != 1 || !strings.Contains(out.String(), "this is another filesystem") {
		t.Errorf("exit status %d, %v\n%s%s", status, err, out.String(), errs.String())
	}
}
