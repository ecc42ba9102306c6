package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// proto is a prototype file as a source.
type proto struct {
	lines   []protoLine // the root first; a directory before what is in it
	slashes bool
	files   *tree // what its regular files are copies of
	head    string
	style   int
}

// protoLine is a file with its name. The directory of one is the last before it of a depth of one
// less.
type protoLine struct {
	depth int
	name  string // with slashes where there are spaces
	words string // what follows the name
}

// protoFile is the prototype file, in sourceDir.
const protoFile = "prototype"

func (p *proto) arg() string {
	return "../" + sourceDir + "/" + protoFile + option("slashes_are_spaces", p.slashes)
}

func (p *proto) parts() int { return len(p.lines) - 1 }

func (p *proto) without(keep func(i int) bool) source {
	smaller := *p
	smaller.lines = []protoLine{p.lines[0]}
	gone := len(p.lines) // a depth, below which all is left away
	for i, l := range p.lines[1:] {
		if l.depth > gone {
			continue
		}
		if gone = len(p.lines); keep(i) {
			smaller.lines = append(smaller.lines, l)
		} else {
			gone = l.depth
		}
	}
	return &smaller
}

func (p *proto) ready(dir string) error {
	if err := p.files.ready(dir); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sourceDir, protoFile), []byte(p.text()), 0o666)
}

// text is the prototype file.
func (p *proto) text() string {
	var b strings.Builder
	b.WriteString(p.head)
	depth := 0
	end := func(to int) {
		for ; depth > to; depth-- {
			b.WriteString(strings.Repeat("\t", depth) + "$\n")
		}
	}
	for i, l := range p.lines {
		end(l.depth)
		switch {
		case p.style == 1 && i%5 == 0:
			b.WriteString(": a comment $ ---644 0 0\n")
		case p.style == 2 && i%7 == 0:
			b.WriteString("\n \t\n")
		}
		indent, blank := strings.Repeat("\t", l.depth), " "
		if p.style == 3 {
			indent, blank = "", "\n"
		}
		words := strings.ReplaceAll(l.words, " ", blank)
		if i > 0 {
			words = l.name + blank + words
		}
		fmt.Fprintf(&b, "%s%s\n", indent, words)
		if strings.HasPrefix(l.words, "d") {
			depth = l.depth + 1
		}
	}
	end(0)
	return b.String()
}

func (p *proto) describe(w io.Writer) {
	if len(p.lines) <= described {
		for line := range strings.Lines(p.text()) {
			fmt.Fprintf(w, "    %q\n", line)
		}
		p.files.describe(w)
	}
	fmt.Fprintf(w, "  -p %s: %d files\n", p.arg(), len(p.lines))
}

// drawProto draws a prototype file, and files that it names.
func drawProto(r *rand.Rand, b bounds) *proto {
	files := &planter{Rand: r, bounds: b, t: &tree{}, names: map[string]bool{}, root: os.Geteuid() == 0, left: 20 << 20}
	files.add(file{path: ".", mode: unix.S_IFDIR | 0o755})
	for i := range 1 + r.IntN(10) {
		f := file{path: fmt.Sprint("f", i), mode: unix.S_IFREG | 0o644}
		files.fill(&f)
		files.add(files.dress(f))
	}
	heads := []string{"/boot\n0 0\n", "x 4872 110\n", ": first\n/stand/diskboot\n0x10 -1\n", "x\ny\nz\n"}
	d := &protoDrawer{files, &proto{slashes: r.IntN(3) == 0, files: files.t, head: heads[r.IntN(4)], style: r.IntN(6)}}
	d.lines = append(d.lines, protoLine{words: d.mode("d")})
	d.directory(1, []int{5, 30, 100, 1000}[r.IntN(4)])
	return d.proto
}

type protoDrawer struct {
	*planter
	*proto
}

// directory draws about so many files of a directory.
func (d *protoDrawer) directory(depth, n int) {
	taken := map[string]bool{}
	for n > 0 {
		name := d.entry()
		for key := name; ; key = name {
			if d.fold {
				key = strings.ToLower(name)
			}
			if !taken[key] {
				taken[key] = true
				break
			}
			name = fmt.Sprint(name[:min(len(name), 240)], d.IntN(1<<20))
		}
		words := d.words()
		d.lines = append(d.lines, protoLine{depth, name, words})
		n--
		if strings.HasPrefix(words, "d") && depth < 100 {
			inside := d.IntN(n + 1)
			d.directory(depth+1, inside)
			n -= inside
		}
	}
}

// entry draws a name that a prototype file can have.
func (d *protoDrawer) entry() string {
	b := []byte(d.planter.name())
	for i, c := range b {
		if c == ' ' || c == '\t' || c == '\n' {
			b[i] = '_'
		}
	}
	name := string(b)
	if strings.HasPrefix(name, ":") || name == "$" {
		name = "x" + name[1:]
	}
	if d.slashes && len(name) > 2 && d.IntN(2) == 0 {
		name = name[:1] + "/" + name[2:]
	}
	return name
}

// mode draws kind, permissions and owners.
func (d *protoDrawer) mode(kind string) string {
	return fmt.Sprintf("%s%c%c%03o %s %s", kind, "--u"[d.IntN(3)], "--g"[d.IntN(3)], d.Uint32N(0o1000), d.id(), d.id())
}

func (d *protoDrawer) id() string {
	n := []uint32{0, 0, 1, 1000, 1<<31 - 1, d.Uint32()}[d.IntN(6)]
	return fmt.Sprintf([]string{"%d", "%d", "%#x", "%#o", "+%d"}[d.IntN(5)], n)
}

// words draws what follows the name.
func (d *protoDrawer) words() string {
	switch d.IntN(12) {
	case 0:
		return d.mode("p")
	case 1:
		return d.mode("c") + d.numbers()
	case 2:
		return d.mode("b") + d.numbers()
	case 3, 4:
		return d.mode("d")
	case 5:
		return d.mode("l") + " " + strings.Repeat("target/x", 128)[:1+d.IntN(min(d.target, 1023))]
	case 6, 7:
		sizes := []string{"1", "4096", "5b", "3s", "64k", "2m", "100000", "1m", "0x3000", fmt.Sprint(1 + d.size())}
		return d.mode("r") + " " + sizes[d.IntN(len(sizes))]
	}
	return d.mode("-") + " ../" + sourceDir + "/" + d.files.files[1+d.IntN(len(d.files.files)-1)].path
}

// numbers are those of a device.
func (d *protoDrawer) numbers() string {
	return fmt.Sprintf(" %d %d", []int{0, 8, 255, 511, 300}[d.IntN(5)], []int{0, 17, 255, 256, 1 << 17, 1<<18 - 1}[d.IntN(6)])
}
