package protofile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/tree"
)

// root begins the prototype files of most tests: what is behind it begins in line 3.
const root = "x 1 1\nd--755 0 0\n"

// write makes a prototype file named proto in the working directory, which is a new one.
func write(t testing.TB, content string) {
	t.Helper()
	if err := os.WriteFile("proto", []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// entries goes through a source, and tells each entry in a line.
func entries(s tree.Source, err error) (list []string, _ error) {
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for {
		e, err := s.Next()
		if err == io.EOF {
			_, again := s.Next()
			if again != io.EOF {
				return list, fmt.Errorf("behind the end: %w", again)
			}
			return list, s.Close()
		}
		if err != nil {
			if _, again := s.Next(); again != err {
				return list, fmt.Errorf("%w, and then %w", err, again)
			}
			return list, err
		}
		list = append(list, tell(s, e))
	}
}

func tell(s tree.Source, e *tree.Entry) string {
	text := fmt.Sprintf("%s %d %#o %d:%d", s.Path(), e.Depth, e.Mode, e.UID, e.GID)
	switch {
	case e.Mode&tree.TypeMask == tree.TypeSymlink:
		text += " " + e.Target
	case e.Major+e.Minor > 0:
		text += fmt.Sprintf(" %d,%d", e.Major, e.Minor)
	case e.Size > 0:
		text += fmt.Sprintf(" %d", e.Size)
	}
	if e.Reserve {
		text += " reserved"
	}
	return text
}

// both surveys and opens a prototype file: the entries have to be the same.
func both(t testing.TB, content string, o Options) (list []string, err error) {
	t.Helper()
	write(t, content)
	p := New("proto", o)
	p.Units(512, 4096)
	list, err = entries(p.Survey(context.Background(), 4096, nil))
	opened, openErr := entries(p.Open(context.Background()))
	if fmt.Sprint(list, err) != fmt.Sprint(opened, openErr) {
		t.Errorf("%q: a survey has\n%q, %v\nand without one there are\n%q, %v", content, list, err, opened, openErr)
	}
	return list, err
}

func TestEntries(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		name, content string
		o             Options
		want          []string
	}{
		{"an empty root", root + "$\n", Options{}, []string{"proto:2: / 0 040755 0:0"}},
		{"no $", root, Options{}, []string{"proto:2: / 0 040755 0:0"}},
		{"two are missing", root + "a d--755 0 0\nb p--644 0 0\n", Options{}, []string{
			"proto:2: / 0 040755 0:0", "proto:3: /a 1 040755 0:0", "proto:4: /a/b 2 010644 0:0",
		}},
		{"all types", root + "b b--600 1 2 8 17\nc c--600 0 0 1 3 d dug711 -1 0x10\n l l--777 010 4294967295 ../t\n" +
			"p p--000 0 0\n$ r r--644 0 0 10k\n$\n", Options{}, []string{
			"proto:2: / 0 040755 0:0", "proto:3: /b 1 060600 1:2 8,17", "proto:4: /c 1 020600 0:0 1,3",
			"proto:4: /d 1 046711 4294967295:16", "proto:5: /d/l 2 0120777 8:4294967295 ../t",
			"proto:6: /d/p 2 010000 0:0", "proto:7: /r 1 0100644 0:0 10240 reserved",
		}},
		{"sizes", root + "a r--644 0 0 2b b r--644 0 0 3S c r--644 0 0 010 d r--644 0 0 0x10\n", Options{}, []string{
			"proto:2: / 0 040755 0:0", "proto:3: /a 1 0100644 0:0 8192 reserved", "proto:3: /b 1 0100644 0:0 1536 reserved",
			"proto:3: /c 1 0100644 0:0 8 reserved", "proto:3: /d 1 0100644 0:0 16 reserved",
		}},
		{"bits that reserving takes away", root + "a rug777 0 0 1 b rug767 0 0 1\n", Options{}, []string{
			"proto:2: / 0 040755 0:0", "proto:3: /a 1 0100777 0:0 1 reserved", "proto:3: /b 1 0102767 0:0 1 reserved",
		}},
		{"comments", ": c\nx : \xff d--755\n1 1\n:\nd--755 0 :0 1\n0 a:b p--644 0 0\n :$\n", Options{}, []string{
			"proto:5: / 0 040755 0:0", "proto:6: /a:b 1 010644 0:0",
		}},
		{"what is behind a mode", "x 1 1\nd--7555 0 0 a p--644x 0 0\n$\n", Options{}, []string{
			"proto:2: / 0 040755 0:0", "proto:2: /a 1 010644 0:0",
		}},
		{"behind the end", root + "$\nwhatever 1 2\n$ $\n", Options{}, []string{"proto:2: / 0 040755 0:0"}},
		{"one line", "x 1 1 d--755 0 0 $\n", Options{}, []string{"proto:1: / 0 040755 0:0"}},
		{"tabs", "x\t1\t1\td--755\t0\t0\n\ta\tp--644\t0\t0\n", Options{}, []string{
			"proto:1: / 0 040755 0:0", "proto:2: /a 1 010644 0:0",
		}},
		{"slashes", root + "a/b/ p--644 0 0\n/ d--755 0 0\n/$ l--777 0 0 a/b\n", Options{Slashes: true}, []string{
			"proto:2: / 0 040755 0:0", "proto:3: /a b  1 010644 0:0", "proto:4: /  1 040755 0:0",
			"proto:5: / / $ 2 0120777 0:0 a/b",
		}},
		{"one name in two directories", root + "a d--755 0 0 a p--644 0 0 $ b d--755 0 0 a p--644 0 0\n", Options{}, []string{
			"proto:2: / 0 040755 0:0", "proto:3: /a 1 040755 0:0", "proto:3: /a/a 2 010644 0:0",
			"proto:3: /b 1 040755 0:0", "proto:3: /b/a 2 010644 0:0",
		}},
		{"bytes", root + "\xff\x01 p--644 0 0\n", Options{}, []string{
			"proto:2: / 0 040755 0:0", `proto:3: "/\xff\x01" 1 010644 0:0`,
		}},
	} {
		if list, err := both(t, c.content, c.o); err != nil || !slices.Equal(list, c.want) {
			t.Errorf("%s: %q, %v\nwant %q", c.name, list, err, c.want)
		}
	}
}

// Faults are told with file, line and word.
func TestFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("n", tree.MaxName+1)
	target := strings.Repeat("t", tree.MaxTarget+1)
	for _, c := range []struct{ content, want string }{
		{"", "proto:1: the prototype file is empty; the least is x 0 0 d--755 0 0 $"},
		{"\n", "proto:1: the file ends where a word that means nothing should be, before the root directory"},
		{"x\n", "proto:1: the file ends where another should be, before the root directory"},
		{"x 1 1\n", `proto:1: the file ends where a mode should be; the entry "/" begins in line 1`},
		{"x 1 1\nd--755\n", `proto:2: the file ends where the number of a user should be; the entry "/" begins in line 2`},
		{"x 1 1\nd--755 0\n", `proto:2: the file ends where the number of a group should be; the entry "/" begins in line 2`},
		{"x 1 1\nd--755 0 0", "proto:2: the last line has no end; the file may be cut short"},
		{root + "$", "proto:3: the last line has no end; the file may be cut short"},
		{"x 1 1\n---644 0 0 f\n", `proto:2: "---644" makes the root no directory; its mode begins with d`},
		{"x 1 1\nx--644 0 0\n", `proto:2: "x--644" is no mode: it begins with the letter of a type: - r b c d l p`},
		{"x 1 1\nd--75 0 0\n", `proto:2: "d--75" is no mode: it has six characters, as d--755 or -ug644`},
		{"x 1 1\nd--758 0 0\n", `proto:2: "d--758" is no mode: three octal digits end it`},
		{"x 1 1\ndg-755 0 0\n", `proto:2: "dg-755" is no mode: its character 2 is u or -`},
		{"x 1 1\nd-u755 0 0\n", `proto:2: "d-u755" is no mode: its character 3 is g or -`},
		{"x 1 1\nd--755 root 0\n", `proto:2: "root" is not the number of a user`},
		{"x 1 1\nd--755 0 0x\n", `proto:2: "0x" is not the number of a group`},
		{"x 1 1\nd--755 0\n\n08\n", `proto:4: "08" is not the number of a group`},
		{"x 1 1\nd--755 4294967296 0\n", `proto:2: "4294967296" is not the number of a user, which is -2147483648 to 4294967295`},
		{"x 1 1\r\nd--755 0 0\r\n", `proto:2: "0\r" is not the number of a group`},
		{root + "a\n", `proto:3: the file ends where a mode should be; the entry "/a" begins in line 3`},
		{root + "a p--644\n0\n\n", `proto:5: the file ends where the number of a group should be; the entry "/a" begins in line 3`},
		{root + "a ---644 0 0\n", `proto:3: the file ends where the path of a file to copy should be; the entry "/a" begins in line 3`},
		{root + "a l--777 0 0\n", `proto:3: the file ends where the target of a symbolic link should be; the entry "/a" begins in line 3`},
		{root + "a r--644 0 0\n", `proto:3: the file ends where a size should be; the entry "/a" begins in line 3`},
		{root + "a b--644 0 0 1\n", `proto:3: the file ends where the minor number of a device should be; the entry "/a" begins in line 3`},
		{root + "a b--644 0 0 x 1\n", `proto:3: "x" is not the major number of a device`},
		{root + "a b--644 0 0 1 -1\n", `proto:3: "-1" is not the minor number of a device, which is 0 to 262143`},
		{root + "a c--644 0 0 16384 1\n", `proto:3: "16384" is not the major number of a device, which is 0 to 16383`},
		{root + "a r--644 0 0 much\n", `proto:3: "much" is no size: it is no number`},
		{root + "a r--644 0 0 1kx\n", `proto:3: "1kx" is no size: it has more than a suffix of one letter: s, b, k, m, g, t, p or e`},
		{root + "a r--644 0 0 8e\n", `proto:3: "8e" is no size: it is not less than 8 EiB`},
		{root + "a r--644 0 0 9223372036854775807b\n", `proto:3: "9223372036854775807b" is not less than 8 EiB`},
		{root + "a r--644 0 0 9223372036854775807s\n", `proto:3: "9223372036854775807s" is not less than 8 EiB`},
		{root + "a r--644 0 0 -5\n", `proto:3: "-5" is no size to reserve; the least is 1`},
		{root + "a r--644 0 0 0\n", `proto:3: "0" is no size to reserve; the least is 1`},
		{root + "d d--755 0 0\na/b p--644 0 0\n", `proto:4: "a/b" has a slash in it, which no name has; with slashes_are_spaces=1 it is a blank`},
		{root + ". p--644 0 0\n", `proto:3: "." is a name that each directory has anyway`},
		{root + ".. p--644 0 0\n", `proto:3: ".." is a name that each directory has anyway`},
		{root + "a p--644 0 0\nb p--644 0 0\na d--644 0 0\n", `proto:5: this directory has an entry "a" already`},
		{root + "a d--755 0 0 $\na d--644 0 0\n", `proto:4: this directory has an entry "a" already`},
		{root + "name with blanks p--644 0 0\n", `proto:3: "with" is no mode: it begins with the letter of a type: - r b c d l p`},
		{root + long + " p--644 0 0\n", `proto:3: the name "` + long + `" has 256 bytes; the most is 255`},
		{root + "a l--777 0 0 " + target + "\n", `proto:3: the target "` + target + `" has 1024 bytes; the most is 1023`},
		{root + "a p--644 0 0\n\x00\n", "proto:4: there is a byte of value 0; this is no text file"},
		{root + "a\x00 p--644 0 0\n", "proto:3: there is a byte of value 0; this is no text file"},
		{root + strings.Repeat("w", maxWord+1) + "\n", "proto:3: a word has more than 65536 bytes"},
	} {
		_, err := both(t, c.content, Options{})
		var e *Error
		if err == nil || err.Error() != c.want || !errors.As(err, &e) {
			t.Errorf("%.100q: %.300v\nwant %s", c.content, err, c.want)
		}
	}
}

// Sizes in sectors and blocks need their lengths.
func TestNoUnits(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, root+"a r--644 0 0 2b\n")
	const want = `proto:3: "2b" counts in sectors or blocks, of which nobody knows how long they are`
	if _, err := entries(New("proto", Options{}).Open(context.Background())); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// FuzzEntries: whatever a file holds, a survey and what is read later say the same; faults have a
// line of the file; each entry but the root is in a directory that came before.
func FuzzEntries(f *testing.F) {
	for _, seed := range []string{
		"", "\n", root, root + "$\n", root + "a d--755 0 0\nb l--777 0 0 t\n$\n$\n", root + "a/b p--644 0x1 -1\n",
		root + "a r--644 0 0 8b : x\n$", root + "a b--644 0 0 1 2\na c-u644 0 0 1 2\n", root + "a ---644 0 0 none\n",
		": x\n\x00", root + "a ---644 0 0 /dev/null\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, content []byte, slashes bool) {
		if strings.Contains(string(content), "/") && !strings.Contains(string(content), "/dev/null") {
			t.Skip() // of all the files of the host none is to be opened
		}
		t.Chdir(t.TempDir())
		list, err := both(t, string(content), Options{Slashes: slashes})
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(string(content), "\n")) {
			t.Errorf("%q: %v", content, err)
		}
		if err == nil && len(list) == 0 {
			t.Errorf("%q: there is no root", content)
		}
	})
}

// The path of a prototype file is told as it was given.
func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "opening the prototype file: no such file or directory",
		dir:                        "it is neither a directory nor a regular file",
		"/dev/null":                "it is neither a directory nor a regular file",
	} {
		p := New(path, Options{})
		for _, open := range []func() (tree.Source, error){
			func() (tree.Source, error) { return p.Open(context.Background()) },
			func() (tree.Source, error) { return p.Survey(context.Background(), 4096, nil) },
		} {
			if _, err := open(); err == nil || err.Error() != path+": "+want || p.Name() != path {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
