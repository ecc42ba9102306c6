package options

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write usage.txt anew")

// What is embedded is what the table says; go test ./internal/options -update
// writes it.
func TestUsageIsTheTables(t *testing.T) {
	want := describe(Sections)
	if *update {
		if err := os.WriteFile("usage.txt", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if Usage != want {
		t.Error("usage.txt is not what the table says; go test ./internal/options -update writes it anew")
	}
}

// Each section has an example that its parser takes.
func TestExamples(t *testing.T) {
	for i := range Sections {
		s := &Sections[i]
		if args, why := s.ExampleParts(); args == "" || why == "" {
			t.Errorf("-%c has no example", s.Flag)
		}
	}
}

// describe tells all sections, as Usage does.
func describe(table []Section) string {
	var parts []string
	for i := range table {
		parts = append(parts, table[i].Describe())
	}
	return strings.Join(parts, "\n")
}
