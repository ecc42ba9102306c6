package options

import (
	"slices"
	"strings"
	"testing"

	"mkfs/internal/geometry"
)

// Adding a suboption is one row: with it the parser takes it on the command line
// and in files, checks it, and help, manual and completion tell it.
func TestOneRow(t *testing.T) {
	table := slices.Clone(Sections)
	i := slices.IndexFunc(table, func(s Section) bool { return s.Flag == 'm' })
	var got geometry.Opt[int64]
	table[i].Rows = append(slices.Clone(table[i].Rows),
		number("shades", "shades of blue", 2, 9, func(*Request) *geometry.Opt[int64] { return &got }).excludes("m crc"))

	parse := func(take func(*Parser)) error {
		p := newParser(table)
		take(p)
		p.CommandLine()
		return p.Err()
	}
	for name, take := range map[string]func(*Parser){
		"command line": func(p *Parser) { p.Option('m', "shades=7") },
		"options file": func(p *Parser) { p.Config("file", "[Metadata]\nShades = 7\n") },
		"defaults":     func(p *Parser) { p.Defaults("file", "[metadata]\nshades=7\n") },
		"preset":       func(p *Parser) { p.Preset('m', "shades", "7", false) },
	} {
		got = geometry.Opt[int64]{}
		if err := parse(take); err != nil || got.Value != 7 || !got.Given {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	for want, take := range map[string]func(*Parser){
		"-m shades: 1 is too small; the least is 2": func(p *Parser) { p.Option('m', "shades=1") },
		"-m shades: needs a value, as shades=...":   func(p *Parser) { p.Option('m', "shades") },
		"-m shades: is given twice":                 func(p *Parser) { p.Option('m', "shades=2,shades=2") },
		"does not go together with":                 func(p *Parser) { p.Option('m', "crc=1,shades=2") },
		"there are crc, finobt, ":                   func(p *Parser) { p.Option('m', "shade=2") },
	} {
		if err := parse(take); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
	for name, text := range map[string]string{"help": describe(table), "section": table[i].Describe(), "manual": man(table)} {
		if !strings.Contains(text, "shades") || !strings.Contains(strings.ToLower(text), "shades of blue") {
			t.Errorf("%s does not tell it", name)
		}
	}
	if got := complete(table, 'm', "crc=0,sh"); len(got) != 1 || got[0] != (Completion{"crc=0,shades=", "shades of blue"}) {
		t.Errorf("completion: %v", got)
	}
}

func TestComplete(t *testing.T) {
	for arg, want := range map[string]string{
		"ag":               "agcount= agsize=",
		"agcount=4,ags":    "agcount=4,agsize=",
		"agcount=4,ag":     "agcount=4,agsize=",
		"noalign=":         "noalign=0 noalign=1",
		"su=4k,noalign=1":  "su=4k,noalign=1",
		"su=":              "",
		"nonsense=":        "",
		"nonsense":         "",
		"agcount=4,sw=1,,": "all but two",
	} {
		var got []string
		for _, c := range Complete('d', arg) {
			got = append(got, c.Text)
		}
		if want == "all but two" {
			if len(got) != len(dataRows)-2 {
				t.Errorf("%q: %v", arg, got)
			}
		} else if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", arg, got, want)
		}
	}
}
