package options

import (
	"fmt"
	"strings"
)

// Man writes the suboptions as a part of a manual page, in the language of man(7).
func Man() string { return man(Sections) }

func man(table []Section) string {
	var b strings.Builder
	for i := range table {
		s := &table[i]
		title := capital(s.Help)
		fmt.Fprintf(&b, ".SS %s\n.TP\n\\fB\\-%c\\fR \\fIsuboptions\\fR\n", Roff(title), s.Flag)
		if s.Name != "" {
			fmt.Fprintf(&b, "Section \\fB[%s]\\fR of a configuration file.\n", Roff(s.Name))
		} else {
			b.WriteString("Not in configuration files.\n")
		}
		b.WriteString(".RS\n")
		for j := range s.Rows {
			r := &s.Rows[j]
			fmt.Fprintf(&b, ".TP\n%s\n%s.\n", manUsage(r), Roff(capital(r.Help)))
		}
		b.WriteString(".RE\n")
		if args, why := s.ExampleParts(); args != "" {
			fmt.Fprintf(&b, ".PP\nExample, %s:\n.PP\n.RS\n.nf\nmkfs %s\n.fi\n.RE\n", Roff(why), Roff(args))
		}
	}
	return b.String()
}

func manUsage(r *Row) string {
	name, arg, _ := strings.Cut(r.Usage(), "=")
	style := "I" // a word that stands for a value
	if r.Arg == "" {
		style = "B"
	}
	return fmt.Sprintf("\\fB%s=\\fR\\f%s%s\\fR", Roff(name), style, Roff(arg))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Roff escapes what man(7) takes for its own.
func Roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	if s != "" && (s[0] == '.' || s[0] == '\'') {
		s = `\&` + s
	}
	return s
}
