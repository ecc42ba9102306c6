package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The table is what xfs_info prints of the result, where that is at hand.
func TestTableIsTheReferences(t *testing.T) {
	oracle := os.Getenv("XFSPROGS_ORACLE")
	if oracle == "" {
		t.Skip("XFSPROGS_ORACLE does not name a folder that has the reference")
	}
	t.Chdir(t.TempDir())
	for _, options := range []string{
		"", "-b size=2k -n size=8k -i size=1024", "-d su=64k,sw=4 -L x", "-n version=ci", "-s size=4k -m rmapbt=0",
		"-l logdev=log", "--preset lts-5.15", "-m crc=0 -i projid32bit=0",
	} {
		for name, size := range map[string]int64{"img": 2 << 30, "log": 100 << 20} {
			if err := os.WriteFile(name, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(name, size); err != nil {
				t.Fatal(err)
			}
		}
		var out, errs bytes.Buffer
		if status := run(append(strings.Fields("mkfs "+options), "img"), &out, &errs); status != 0 {
			t.Fatalf("%s: exit status %d: %s", options, status, errs.String())
		}
		_, got, _ := strings.Cut("\n"+out.String(), "\nmeta-data") // behind what is deprecated
		args := []string{"-c", "info", "img"}
		if strings.Contains(options, "logdev") {
			args = append([]string{"-l", "log"}, args...)
		}
		want, err := exec.Command(filepath.Join(oracle, "bin/xfs_db"), args...).Output()
		if err != nil {
			t.Fatalf("%s: %v", options, err)
		}
		if "meta-data"+got != string(want) {
			t.Errorf("%s:\nmeta-data%s\nxfs_info:\n%s", options, got, want)
		}
	}
}
