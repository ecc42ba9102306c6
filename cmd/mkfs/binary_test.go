package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mkfs/internal/options"
)

// Test-suites look into the program file, without running it, for what this
// mkfs.xfs knows.
func TestProgramFileTellsSuboptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mkfs")
	build := exec.Command("go", "build", "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("there is no go tool to build with: %v\n%s", err, out)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(program, []byte(options.Usage)) {
		t.Error("the usage text is not in it in one piece")
	}
	for _, s := range options.Sections {
		for _, r := range s.Rows {
			if text := r.Name + "="; !bytes.Contains(program, []byte(text)) {
				t.Errorf("%q is not in it", text)
			}
		}
	}
}
