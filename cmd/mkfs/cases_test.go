package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of user cases names each script that is about one, and no script or test
// that there is not.
func TestTableOfCases(t *testing.T) {
	text, err := os.ReadFile("testdata/script/README.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("testdata/script/case_*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| P\d\d.*$`).FindAllString(string(text), -1)
	table := strings.Join(rows, "\n")
	for _, path := range scripts {
		if name := strings.TrimSuffix(filepath.Base(path), ".txtar"); !strings.Contains(table, name) {
			t.Errorf("no row has %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`case_\w+`).FindAllString(table, -1) {
		if _, err := os.Stat(filepath.Join("testdata/script", name+".txtar")); err != nil {
			t.Error(err)
		}
	}
	have := testNames(t, "../..")
	for _, name := range regexp.MustCompile(`Test\w+(\.\.\.)?`).FindAllString(table, -1) {
		begin, several := strings.CutSuffix(name, "...")
		if !several {
			begin += "("
		}
		if !strings.Contains(have, "\nfunc "+begin) {
			t.Errorf("there is no %s", name)
		}
	}
}

// testNames are the beginnings of all tests in a folder, each on a line of its own.
func testNames(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	test := regexp.MustCompile(`(?m)^func Test\w+\(`)
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range test.FindAll(text, -1) {
			b.WriteString("\n" + string(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
