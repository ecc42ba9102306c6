package options

import (
	"fmt"
	"strings"
)

const blanks = " \t\v\f\r"

// maxLine is the length of a line, its end included. mkfs.xfs takes what is
// behind that for another line.
const maxLine = 199

// Config takes the options of a configuration file:
//
//	# a comment, also after ;
//	[metadata]
//	rmapbt = 0
//	bigtime: 1
//
// Names of sections and options match in any case. What is behind the
// separator, without blanks around it, is the value; quotes are part of it, and
// only a ; after a blank begins a comment there. A line that is indented gives
// the option before it another value, so that it is given twice. Lines of more
// than 198 bytes, and NUL bytes, which no text has, are refused.
func (p *Parser) Config(path, content string) {
	var section *Section
	var last *Row // that an indented line goes on with
	title := ""
	for i, line := range strings.SplitAfter(content, "\n") {
		where := fmt.Sprintf("in %s, line %d", path, i+1)
		bad := func(format string, args ...any) {
			p.Fault(fmt.Errorf("%s:%d: %s", path, i+1, fmt.Sprintf(format, args...)))
		}
		switch {
		case strings.IndexByte(line, 0) >= 0:
			bad("there is a NUL byte in it; this is no text file")
			return
		case len(line) > maxLine:
			bad("a line of %d bytes; the most is %d", len(line), maxLine)
			return
		}
		if line = strings.TrimSuffix(line, "\n"); i == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		indented := line != "" && strings.IndexByte(blanks, line[0]) >= 0
		line = strings.Trim(line, blanks)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if indented && last != nil {
			p.take(section, last, line, where)
			continue
		}
		if line[0] == '[' {
			name, _, closed := strings.Cut(line[1:], "]")
			if !closed {
				bad("the section's name does not end: %q", line)
				return
			}
			section, title, last = p.sectionByName(name), name, nil
			continue
		}
		at := strings.IndexAny(line, "=:")
		if at < 0 {
			bad("%q is neither a section nor name=value", line)
			return
		}
		name, value := strings.Trim(line[:at], blanks), uncomment(strings.Trim(line[at+1:], blanks))
		switch {
		case section == nil && title == "":
			bad("%s is in no section", name)
			return
		case section == nil:
			bad("there is no section [%s]", title)
			return
		}
		row := section.rowFold(name)
		if row == nil {
			bad("section [%s] has no option %s; it has %s", title, name, section.names())
			return
		}
		p.take(section, row, row.oneIfEmpty(value), where)
		last = row
	}
}

// uncomment cuts a comment off a value.
func uncomment(value string) string {
	for i := 1; i < len(value); i++ {
		if value[i] == ';' && (value[i-1] == ' ' || value[i-1] == '\t') {
			return strings.Trim(value[:i], blanks)
		}
	}
	return value
}

func (p *Parser) sectionByName(name string) *Section {
	for i := range p.table {
		if p.table[i].Name != "" && strings.EqualFold(p.table[i].Name, name) {
			return &p.table[i]
		}
	}
	return nil
}

func (s *Section) rowFold(name string) *Row {
	for i := range s.Rows {
		if strings.EqualFold(s.Rows[i].Name, name) {
			return &s.Rows[i]
		}
	}
	return nil
}
