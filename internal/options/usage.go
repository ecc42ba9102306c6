package options

import (
	_ "embed"
	"fmt"
	"strings"
	"text/tabwriter"
)

// Usage describes all suboptions. It is part of the program file in one piece:
// test-suites look into that for what a mkfs.xfs knows, without running it.
//
//go:embed usage.txt
var Usage string

// Topic is what help calls the section.
func (s *Section) Topic() string {
	if s.Name == "" {
		return "config"
	}
	return s.Name
}

// FindSection finds a section by its letter, with or without a dash, or its topic.
func FindSection(name string) *Section {
	for i := range Sections {
		s := &Sections[i]
		if name == s.Topic() || strings.TrimPrefix(name, "-") == string(s.Flag) {
			return s
		}
	}
	return nil
}

// ExampleParts are what to give the program, and why.
func (s *Section) ExampleParts() (args, why string) {
	args, why, _ = strings.Cut(s.Example, " # ")
	return args, why
}

// Describe tells a section's suboptions and gives an example.
func (s *Section) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-%c  %s", s.Flag, s.Help)
	if s.Name != "" {
		fmt.Fprintf(&b, ", [%s]", s.Name)
	}
	b.WriteByte('\n')
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range s.Rows {
		fmt.Fprintf(tw, "    %s\t%s\n", r.Usage(), r.Help)
	}
	tw.Flush()
	if s.Example != "" {
		args, why := s.ExampleParts()
		fmt.Fprintf(&b, "    Example, %s:\n      mkfs %s\n", why, args)
	}
	return b.String()
}
