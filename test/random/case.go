package main

import (
	"fmt"
	"strings"
)

// place is where an option is given.
type place int

const (
	onLine place = iota
	inOptions
	inDefaults
)

// item is one suboption, or an option without suboptions.
type item struct {
	flag  string // "d", or "L"
	name  string // of the suboption, "" for none
	value string
	bare  bool // without "=value"
	at    place
}

// word is the argument of the option, "" if it takes none.
func (i item) word() string {
	switch {
	case i.name == "":
		return i.value
	case i.bare:
		return i.name
	}
	return i.name + "=" + i.value
}

// sectionOf names the section of a configuration file.
var sectionOf = map[string]string{
	"b": "block", "d": "data", "i": "inode", "l": "log", "m": "metadata", "n": "naming", "r": "realtime", "s": "sector",
}

// tryCase is one command line and what it runs on.
type tryCase struct {
	size, logSize, rtSize int64
	fill                  bool // the image holds old data
	items                 []item
	env                   []string // NAME=value
	style                 int      // how configuration files are written
	plan                  bool     // -N
	sectors               [3]int   // of the loop devices that img, log and rt are, 0 for files
	source                source   // of -p, nil for none
}

// files are the configuration files, by name.
func (c tryCase) files() map[string]string {
	files := map[string]string{}
	for name, at := range map[string]place{"options.conf": inOptions, "defaults.conf": inDefaults} {
		var b strings.Builder
		section, any := "", false
		for _, i := range c.items {
			if i.at != at {
				continue
			}
			any = true
			if s := sectionOf[i.flag]; s != section {
				section = s
				fmt.Fprintf(&b, "%s\n", c.styled("["+s+"]"))
			}
			b.WriteString(c.line(i))
		}
		if any {
			files[name] = b.String()
		}
	}
	return files
}

func (c tryCase) styled(name string) string {
	if c.style == 1 {
		return strings.ToUpper(name)
	}
	return name
}

func (c tryCase) line(i item) string {
	switch {
	case i.bare:
		return i.name + "\n"
	case c.style == 2:
		return fmt.Sprintf("# comment\n\n%s : %s  ; comment\n", i.name, i.value)
	case c.style == 3:
		return fmt.Sprintf("  %s\t=\t%s  \n", i.name, i.value)
	}
	return fmt.Sprintf("%s=%s\n", c.styled(i.name), i.value)
}

// args is the command line.
func (c tryCase) args() []string {
	args := []string{"-f", "-m", "uuid=01234567-89ab-cdef-0123-456789abcdef"}
	if c.plan {
		args = append(args, "-N")
	}
	for name := range c.files() {
		args = append(args, "-c", strings.TrimSuffix(name, ".conf")+"="+name)
	}
	last := ""
	for _, i := range c.items {
		switch {
		case i.at != onLine:
		case i.name != "" && i.flag == last:
			args[len(args)-1] += "," + i.word()
		case i.word() == "" && i.name == "" && i.bare:
			args = append(args, "-"+i.flag)
			last = ""
		default:
			args = append(args, "-"+i.flag, i.word())
			if last = ""; i.name != "" {
				last = i.flag
			}
		}
	}
	if c.source != nil {
		args = append(args, "-p", c.source.arg())
	}
	return append(args, "img")
}

// shell is commands that repeat the case.
func (c tryCase) shell(program string) string {
	var b strings.Builder
	if c.source != nil {
		c.source.describe(&b)
	}
	fmt.Fprintf(&b, "  truncate -s %d img", c.size)
	if c.fill {
		b.WriteString("; yes | head -c 64m | dd of=img conv=notrunc status=none")
	}
	if c.logSize > 0 {
		fmt.Fprintf(&b, "; truncate -s %d log", c.logSize)
	}
	if c.rtSize > 0 {
		fmt.Fprintf(&b, "; truncate -s %d rt", c.rtSize)
	}
	b.WriteString("\n")
	for i, name := range c.images() {
		if sector := c.sectors[i]; name != "" && sector > 0 {
			fmt.Fprintf(&b, "  mv %[1]s %[1]s.back; ln -s $(losetup -f --show -b %[2]d %[1]s.back) %[1]s\n", name, sector)
		}
	}
	for name, content := range c.files() {
		fmt.Fprintf(&b, "  printf %s >%s\n", quote(strings.ReplaceAll(strings.ReplaceAll(content, `\`, `\\`), "\n", `\n`)),
			name)
	}
	b.WriteString("  ")
	for _, e := range c.env {
		b.WriteString(e + " ")
	}
	b.WriteString(program)
	for _, arg := range c.args() {
		b.WriteString(" " + quote(arg))
	}
	return b.String()
}

func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,./+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
