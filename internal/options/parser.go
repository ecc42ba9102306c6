package options

import (
	"errors"
	"fmt"
	"strings"

	"mkfs/internal/cnumber"
	"mkfs/internal/geometry"
)

// Parser collects a Request from options, in the order in which they go before
// each other: Defaults, what the command line has, Config. Faults are collected
// too, so that all are known at once.
type Parser struct {
	Request Request
	table   []Section
	not     map[[2]string]bool // pairs of suboptions of which the first cannot follow the second
	seen    map[string]string  // suboptions as "d agsize", and where each was given
	given   map[string]bool    // suboptions that were set, in whatever way
	line    []func()           // takes what the command line has
	// defaultsFile says that a file of defaults is being read.
	defaultsFile bool
	faults       []error
}

// NewParser makes a parser that has seen nothing.
func NewParser() *Parser { return newParser(Sections) }

func newParser(table []Section) *Parser {
	return &Parser{table: table, not: exclusions(table), seen: map[string]string{}, given: map[string]bool{}}
}

// Err joins all faults found so far.
func (p *Parser) Err() error {
	if len(p.faults) == 0 {
		return nil
	}
	return &geometry.Refusals{List: p.faults}
}

// Refused lists the options, as "-d agsize", whose values made no sense.
func (p *Parser) Refused() []string {
	var list []string
	for _, err := range p.faults {
		if r := (*geometry.Refusal)(nil); errors.As(err, &r) {
			list = append(list, r.Option)
		}
	}
	return list
}

// Fault adds one that was found elsewhere.
func (p *Parser) Fault(err error) { p.faults = append(p.faults, err) }

const commandLine = "on the command line"

// Option takes the argument of an option of one letter: suboptions with or
// without "=value", separated by commas. A comma at the end is allowed. Which
// files to read is known at once, the rest with CommandLine.
func (p *Parser) Option(flag byte, arg string) {
	s := p.section(flag)
	for arg != "" {
		var item string
		item, arg, _ = strings.Cut(arg, ",")
		row, value := s.item(item)
		if row == nil {
			p.Fault(fault("-"+string(flag), "unknown option -%c %s; %s", flag, item, s.instead(item)))
			continue
		}
		take := func() { p.take(s, row, value, commandLine) }
		if flag == 'c' {
			take()
		} else {
			p.line = append(p.line, take)
		}
	}
}

// item finds the suboption that a word between commas gives, and its value. It is nil if there is none.
func (s *Section) item(word string) (row *Row, value string) {
	name, value, given := strings.Cut(word, "=")
	if row = s.row(name); row == nil {
		return s.rest(), word
	}
	if given {
		value = row.oneIfEmpty(value)
	}
	return row, value
}

// Target takes the argument that names the target.
func (p *Parser) Target(path string) {
	s := p.section('d')
	p.line = append(p.line, func() { p.take(s, s.row("name"), path, commandLine) })
}

// CommandLine takes what Option, Target and ImageSize were given, in that order.
func (p *Parser) CommandLine() {
	for _, take := range p.line {
		take()
	}
	p.line = nil
}

// Defaults takes options that all others go before, whether they were given
// already or not, from a file in the form that Config reads. As with the
// reference, stripes cannot be given that way: they are dropped, and units not
// even looked at.
func (p *Parser) Defaults(path, content string) {
	p.defaultsFile = true
	p.layer(func() { p.Config(path, content) })
	p.defaultsFile = false
	spec := &p.Request.Spec
	spec.Data.StripeUnit512, spec.Data.StripeWidth512, spec.Data.StripeWidth = geometry.Opt[int64]{},
		geometry.Opt[int64]{}, geometry.Opt[int64]{}
	spec.Log.StripeUnit512, spec.Data.StripeUnit, spec.Log.StripeUnit = geometry.Opt[int64]{},
		geometry.Opt[geometry.Size]{}, geometry.Opt[geometry.Size]{}
}

// Preset takes one suboption that everything else goes before. Weak ones are
// defaults, which are dropped where they do not fit.
func (p *Parser) Preset(flag byte, name, value string, weak bool) {
	s := p.section(flag)
	p.layer(func() {
		p.Request.defaults = weak
		p.take(s, s.row(name), value, "by a preset")
	})
}

// layer takes options as defaults: others may be given again, and exclude them.
func (p *Parser) layer(take func()) {
	above := p.seen
	p.seen, p.Request.defaults = map[string]string{}, true
	take()
	p.seen, p.Request.defaults = above, false
}

// take sets one suboption, unless it was given before or conflicts with one that was.
func (p *Parser) take(s *Section, r *Row, value, where string) {
	id := string(s.Flag) + " " + r.Name
	key := "-" + id
	p.given[id] = true
	if r.free != nil && r.free(value) {
		p.set(r, key, value, where)
		return
	}
	if before, twice := p.seen[id]; twice && !r.again {
		text := fmt.Sprintf("is given %s and again %s", before, where)
		if before == where {
			text = "is given twice " + where
		}
		if r.rest {
			text += fmt.Sprintf(", now as %q; what is none of %s stands for it too", value, s.names())
		}
		p.Fault(fault(key, "%s", text))
		return
	}
	p.seen[id] = where
	for other := range p.seen {
		if p.not[[2]string{id, other}] {
			p.Fault(fault(key, "does not go together with -%s", other))
			return
		}
	}
	if value == "" && !r.bare {
		p.Fault(fault(key, "needs a value, as %s=...", r.Name))
		return
	}
	p.set(r, key, value, where)
}

func (p *Parser) set(r *Row, key, value, where string) {
	if r.dropped && p.defaultsFile {
		return
	}
	if err := r.set(&p.Request, key, value); err != nil {
		if where != commandLine {
			err = fmt.Errorf("%w (%s)", err, where)
		}
		p.Fault(err)
	}
}

// exclusions has each pair of suboptions of which the first cannot follow the second.
func exclusions(table []Section) map[[2]string]bool {
	m := map[[2]string]bool{}
	for _, s := range table {
		for _, r := range s.Rows {
			for _, other := range r.not {
				id := string(s.Flag) + " " + r.Name
				m[[2]string{id, other}], m[[2]string{other, id}] = true, true
			}
			for _, other := range r.notAfter {
				m[[2]string{string(s.Flag) + " " + r.Name, other}] = true
			}
		}
	}
	return m
}

func (p *Parser) section(flag byte) *Section {
	for i := range p.table {
		if p.table[i].Flag == flag {
			return &p.table[i]
		}
	}
	panic(fmt.Sprintf("options: no section -%c", flag))
}

func (s *Section) row(name string) *Row {
	for i := range s.Rows {
		if s.Rows[i].Name == name {
			return &s.Rows[i]
		}
	}
	return nil
}

// rest is the row that takes what names no suboption, or nil.
func (s *Section) rest() *Row {
	for i := range s.Rows {
		if s.Rows[i].rest {
			return &s.Rows[i]
		}
	}
	return nil
}

// logarithms are suboptions of old releases of mkfs.xfs, which took the base-2
// logarithm of a size, and those that take the size.
var logarithms = map[string]string{"log": "size", "sectlog": "sectsize"}

// instead tells what could be meant by something that is no suboption: the main
// one's value alone, a logarithm, a name beside a blank, or one of them all.
func (s *Section) instead(item string) string {
	name, value, _ := strings.Cut(item, "=")
	bits, rest, ok := cnumber.Int(value)
	_, reason := parseSize(item)
	trimmed := strings.TrimSpace(name)
	size := s.row(logarithms[name])
	switch {
	case item == "":
		return "a comma has nothing before it"
	case s.row(trimmed) != nil:
		return fmt.Sprintf("the name is %s, without a blank", trimmed)
	case s.row("options") != nil && strings.HasSuffix(item, ".conf"):
		return fmt.Sprintf("-%c options=%s reads that file", s.Flag, item)
	case s.row("size") != nil && reason == "":
		return fmt.Sprintf("-%c size=%s is how to give a size", s.Flag, item)
	case size != nil && ok && rest == "" && bits > 0 && bits < 32:
		return fmt.Sprintf("-%c %s=%d is how to give a size", s.Flag, size.Name, 1<<bits)
	}
	return "there are " + s.names()
}

func (s *Section) names() string {
	names := make([]string, len(s.Rows))
	for i, r := range s.Rows {
		names[i] = r.Name
	}
	return strings.Join(names, ", ")
}

// Label takes the filesystem's label; given again, the last one counts.
func (p *Parser) Label(label string) {
	const most = 12
	if n := len(label); n > most {
		p.Fault(fault("-L", "%q has %d bytes; a label has at most %d", label, n, most))
	}
	p.Request.Spec.Label = label
}

// ImageSize takes the size of an image file, which the filesystem fills.
func (p *Parser) ImageSize(text string) {
	p.Request.Sized, p.Request.Spec.Data.Whole = true, true
	p.line = append(p.line, func() { p.imageSize(text) })
}

// PlanFor takes the size that the filesystem will grow to.
func (p *Parser) PlanFor(text string) {
	row := size("plan-for", "", 16*mib, maxSize, func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.PlanFor })
	if err := row.set(&p.Request, "--plan-for", text); err != nil {
		p.Fault(err)
	}
}

// asImageSize is where a size is given by --size.
const asImageSize = "as --size"

func (p *Parser) imageSize(text string) {
	if where, twice := p.seen["d size"]; twice {
		if where == asImageSize {
			p.Fault(fault("--size", "is given twice"))
		} else {
			p.Fault(fault("--size", "says the same as -d size, which is given %s", where))
		}
		return
	}
	p.seen["d size"], p.given["d size"] = asImageSize, true
	if err := p.section('d').row("size").set(&p.Request, "--size", text); err != nil {
		p.Fault(err)
	}
}
