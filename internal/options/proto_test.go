package options

import (
	"fmt"
	"strings"
	"testing"
)

// What -p takes is what mkfs.xfs 7.2.0 takes, tried by hand: anything that is no suboption is the
// file, and only one file is taken, wherever it is given. It dies on a bare "file" and on no name.
func TestProto(t *testing.T) {
	const twice = "-p file: is given twice on the command line, now as "
	for _, c := range []struct{ args, want string }{
		{"a", "a"},
		{"file=a", "a"},
		{"./file", "./file"},
		{"a,", "a"},
		{"a=b", "a=b"},
		{"file=a=b", "a=b"},
		{" a", " a"},
		{"dir/", "dir/"},
		{"", ""},
		{"bogus=1", "bogus=1"},
		{"a,slashes_are_spaces=1", "a spaces"},
		{"slashes_are_spaces=1,file=a", "a spaces"},
		{"slashes_are_spaces=1,a", "a spaces"},
		{"slashes_are_spaces,file=a", "a spaces"},
		{"slashes_are_spaces=,file=a", "a spaces"},
		{"slashes_are_spaces=0x1,file=a", "a spaces"},
		{"slashes_are_spaces=0,file=a", "a"},
		{"slashes_are_spaces=1", " spaces"},
		{"slashes_are_spaces=1 -p a", "a spaces"},
		{"a -p slashes_are_spaces=1", "a spaces"},
		{"atime=1,file=a", "a atime"},
		{"atime,a -p slashes_are_spaces", "a spaces atime"},
		{"file", "-p file: needs a value"},
		{"file=", "-p file: needs a value"},
		{",", "-p file: needs a value"},
		{"file=a,file=a", twice + `"a"`},
		{"file=a -p file=b", twice + `"b"`},
		{"a,b", twice + `"b"; what is none of file, slashes_are_spaces, atime stands for it too`},
		{"slash_are_spaces=1,file=a", twice},
		{",a", twice},
		{"slashes_are_spaces=2,file=a", "-p slashes_are_spaces: 2 is too large"},
		{"slashes_are_spaces=foo,file=a", `-p slashes_are_spaces: "foo" is no number; it is 0 or 1`},
		{"slashes_are_spaces=1k,file=a", "it takes no unit"},
		{"slashes_are_spaces=0,slashes_are_spaces=1,a", "-p slashes_are_spaces: is given twice"},
		{"atime=2,a", "-p atime: 2 is too large"},
		{"atime=1,atime=1,a", "-p atime: is given twice"},
	} {
		got := protoOf(func(p *Parser) {
			for _, arg := range strings.Split(c.args, " -p ") {
				p.Option('p', arg)
			}
			p.CommandLine()
		})
		if refused := strings.HasPrefix(c.want, "-p") || strings.HasPrefix(c.want, "it "); refused &&
			!strings.Contains(got, c.want) || !refused && got != c.want {
			t.Errorf("-p %s: %q, want %q", c.args, got, c.want)
		}
	}
}

// A configuration file has the suboptions by their names only. Its file goes together with the
// command line's flags, but not with another file; a file of defaults yields, as with all else.
// (mkfs.xfs refuses a second file even beside defaults.)
func TestProtoInFiles(t *testing.T) {
	for _, c := range []struct{ defaults, line, file, want string }{
		{"", "", "file=a\nslashes_are_spaces=1", "a spaces"},
		{"", "slashes_are_spaces=1", "file=a", "a spaces"},
		{"", "a", "slashes_are_spaces=1", "a spaces"},
		{"", "", "FILE = a,b", "a,b"},
		{"", "", "atime=1\nfile=dir", "dir atime"},
		{"", "a", "file=a", "-p file: is given on the command line and again in conf, line 2, now as"},
		{"", "", "bogus=1", "section [proto] has no option bogus"},
		{"", "", "a", `conf:2: "a" is neither a section nor name=value`},
		{"", "", "file=", "-p file: needs a value"},
		{"", "slashes_are_spaces=1", "slashes_are_spaces=1", "-p slashes_are_spaces: is given"},
		{"file=a\nslashes_are_spaces=1", "", "", "a spaces"},
		{"file=a\nslashes_are_spaces=1", "slashes_are_spaces=0", "", "a"},
		{"file=a", "b", "", "b"},
	} {
		got := protoOf(func(p *Parser) {
			p.Defaults("defaults", "[proto]\n"+c.defaults)
			p.Option('p', c.line)
			p.CommandLine()
			p.Config("conf", "[proto]\n"+c.file)
		})
		if got != c.want && (len(c.want) < 12 || !strings.Contains(got, c.want)) {
			t.Errorf("%q, %q, %q: %q, want %q", c.defaults, c.line, c.file, got, c.want)
		}
	}
}

// protoOf is what -p came to, or why not.
func protoOf(take func(*Parser)) string {
	p := NewParser()
	take(p)
	if err := p.Err(); err != nil {
		return err.Error()
	}
	q := p.Request.Proto
	got := q.Path.Value
	if q.SlashesAreSpaces.Value {
		got += " spaces"
	}
	if q.AccessTimes.Value {
		got += " atime"
	}
	if given := q.Path.Given; given != (q.Path.Value != "") {
		return fmt.Sprintf("%q, given: %v", got, given)
	}
	return got
}
