package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
)

// The address space that docs/limits.md names is enough for every command; with less,
// one line says what is needed, before anything is touched. The program itself is
// built, since the test's, under the race detector, takes more.
func TestAddressSpace(t *testing.T) {
	doc, err := os.ReadFile("../../docs/limits.md")
	if want := fmt.Sprintf("(`ulimit -v`, `RLIMIT_AS`) | %s |", humanize.IBytes(addressSpace)); err != nil || !strings.Contains(string(doc), want) {
		t.Errorf("docs/limits.md does not say %q: %v", want, err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "mkfs")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("there is no go tool to build with: %v\n%s", err, out)
	}
	limited := func(mib int, args ...string) (int, string) {
		t.Helper()
		shell := exec.Command("sh", append([]string{"-c", fmt.Sprintf("ulimit -v %d || exit 99; exec \"$0\" \"$@\"", mib<<10), program}, args...)...)
		shell.Dir = dir
		out, err := shell.CombinedOutput()
		if shell.ProcessState == nil {
			t.Skipf("there is no shell: %v", err)
		}
		if shell.ProcessState.ExitCode() == 99 {
			t.Skipf("the shell has no ulimit -v: %s", out)
		}
		return shell.ProcessState.ExitCode(), string(out)
	}
	const enough = addressSpace >> 20
	for _, command := range []string{
		"-q --size 1g img", "-q -f --undo kept --verify --engine auto --queue-depth 100 img", "verify -q img", "info img",
		"recover -q --copy-to copy img", "undo -q -f kept img", "-q --size 15t -d agcount=5000 large", "verify -q large",
		"-N -q --size 300g -m metadir=1 -r file,name=rt,size=4t,rgcount=10000 data",
	} {
		if status, out := limited(enough, strings.Fields(command)...); status != 0 {
			t.Errorf("%s: status %d, %s", command, status, out)
		}
	}
	for command, want := range map[string]int{
		"-q --size 1g new": 1, "verify img": 2, "info img": 2, "recover img": 1, "undo kept img": 1, "-N img": 1,
	} {
		status, out := limited(enough-1, strings.Fields(command)...)
		if status != want || strings.Count(out, "\n") != 1 || !strings.Contains(out, "1023 MiB (RLIMIT_AS; ulimit -v shows it), and 1.0 GiB are needed") {
			t.Errorf("%s: status %d, %s", command, status, out)
		}
	}
	if status, out := limited(128, "-q", "--size", "1g", "new"); status == 0 || out == "" {
		t.Errorf("in 128 MiB: status %d, %s", status, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("there is a file")
	}
}
