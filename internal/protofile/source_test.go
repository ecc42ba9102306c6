package protofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/hostfile"
	"mkfs/internal/tree"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// find goes to the entry with a name.
func find(t *testing.T, s tree.Source, name string) *tree.Entry {
	t.Helper()
	for {
		e, err := s.Next()
		must(t, err)
		if e.Name == name {
			return e
		}
	}
}

// Copies have the contents, holes, attributes and length of their sources; what is no regular file
// gives an empty one.
func TestCopies(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("small", []byte("hello"), 0o600))
	must(t, os.Chtimes("small", time.Unix(1, 2), time.Unix(3, 4)))
	must(t, os.Symlink("small", "link"))
	must(t, os.WriteFile("empty", nil, 0o600))
	f, err := os.Create("sparse")
	must(t, err)
	must(t, f.Truncate(8<<30))
	_, err = f.WriteAt([]byte("x"), 5<<30)
	must(t, err)
	must(t, f.Close())
	attributes := true
	if err := unix.Setxattr("small", "user.colour", []byte("red"), 0); errors.Is(err, unix.EOPNOTSUPP) {
		attributes = false
	} else {
		must(t, err)
		must(t, unix.Setxattr("small", "user.empty", nil, 0))
	}
	write(t, root+"a ---644 3 4 small b ---644 0 0 link\nc ---644 0 0 sparse d ---644 0 0 empty\n"+
		"e ---644 0 0 /dev/null f ---644 0 0 .\n")
	p := New("proto", Options{})
	survey, err := p.Survey(context.Background(), 4096, nil)
	must(t, err)
	defer survey.Close()
	open, err := p.Open(context.Background())
	must(t, err)
	defer open.Close()
	for _, c := range []struct {
		name           string
		size, stored   int64
		pieces         int
		first, content string
		attr           bool
	}{
		{"a", 5, 4096, 1, "0 5", "hello", true},
		{"b", 5, 4096, 1, "0 5", "hello", true},
		{"c", 8 << 30, 4096, 1, "5368709120 5368713216", "x\x00\x00", false},
		{"d", 0, 0, 0, "EOF", "", false},
		{"e", 0, 0, 0, "", "", false},
		{"f", 0, 0, 0, "", "", false},
	} {
		e := find(t, survey, c.name)
		if e.Size != c.size || e.Stored != c.stored || e.Pieces != c.pieces || e.Data != nil {
			t.Errorf("%s: surveyed as %+v", c.name, e)
		}
		e = find(t, open, c.name)
		if e.Size != c.size || e.Modified.Given || e.Accessed.Given {
			t.Errorf("%s: opened as %+v", c.name, e)
		}
		if want := c.attr && attributes; want != (len(e.Attrs) == 1) || want && fmt.Sprint(e.Attrs) != "[{user.colour [114 101 100]}]" {
			t.Errorf("%s: attributes %v", c.name, e.Attrs)
		}
		if got := first(t, e.Data, len(c.content)); got != c.first+c.content {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// first tells the first piece of data, and how it begins.
func first(t *testing.T, d tree.Data, n int) string {
	t.Helper()
	if d == nil {
		return ""
	}
	start, end, err := d.Next(0)
	if err == io.EOF {
		return "EOF"
	}
	must(t, err)
	b := make([]byte, n)
	must(t, d.ReadAt(b, start))
	if _, _, err := d.Next(end); err != io.EOF {
		t.Errorf("behind the first piece: %v", err)
	}
	return fmt.Sprintf("%d %d%s", start, end, b)
}

// Sources that cannot be read are told with the line, and where they are and were to be. A survey
// leaves them out if it is asked to, and so does what is opened after it.
func TestUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("good", []byte("x"), 0o600))
	must(t, unix.Mkfifo("fifo", 0o600))
	must(t, os.Symlink("loop", "loop"))
	for _, c := range []struct{ source, want string }{
		{"missing", "missing: it cannot be opened: no such file or directory"},
		{"fifo", "fifo: it is a fifo, which would be waited for; a copy needs a file that is there as a whole"},
		{"loop", "loop: it cannot be opened: too many levels of symbolic links"},
		{"good/x", "good/x: it cannot be opened: not a directory"},
		{strings.Repeat("n", 300), strings.Repeat("n", 300) + ": it cannot be opened: file name too long"},
		{"/proc/version", "/proc/version: looking for data and holes: invalid argument"},
		{"\x01", `"\x01": it cannot be opened: no such file or directory`},
	} {
		write(t, root+"d d--755 0 0\na ---644 0 0 good b ---644 0 0 "+c.source+"\nc ---644 0 0 good $\n")
		p := New("proto", Options{})
		want := "proto:4: " + c.want
		if _, err := entries(p.Survey(context.Background(), 4096, nil)); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if _, err := entries(p.Open(context.Background())); c.source != "/proc/version" && (err == nil || err.Error() != want) {
			t.Errorf("opened: %v\nwant %s", err, want)
		}
		var told []string
		list, err := entries(p.Survey(context.Background(), 4096, func(path string, err error) {
			told = append(told, path+": "+err.Error())
		}))
		const left = "[proto:2: / 0 040755 0:0 proto:3: /d 1 040755 0:0 proto:4: /d/a 2 0100644 0:0 1 proto:5: /d/c 2 0100644 0:0 1]"
		if err != nil || fmt.Sprint(list) != left || fmt.Sprint(told) != "[proto:4: /d/b: "+c.want+"]" {
			t.Errorf("%s: %q, %v; told %q", c.source, list, err, told)
		}
		if c.source == "/proc/version" {
			continue // it can be opened, and has nothing then
		}
		if list, err := entries(p.Open(context.Background())); err != nil || fmt.Sprint(list) != left {
			t.Errorf("opened after a survey: %q, %v", list, err)
		}
	}
}

// What was readable in the survey is not left out.
func TestVanished(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("f", []byte("x"), 0o600))
	write(t, root+"a ---644 0 0 f\n")
	p := New("proto", Options{})
	_, err := entries(p.Survey(context.Background(), 4096, func(string, error) {}))
	must(t, err)
	must(t, os.Remove("f"))
	if _, err := entries(p.Open(context.Background())); !errors.Is(err, unix.ENOENT) {
		t.Error(err)
	}
}

// A file that shrinks while it is read.
func TestShrinks(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("f", make([]byte, 1<<20), 0o600))
	write(t, root+"a ---644 0 0 f\n")
	s, err := New("proto", Options{}).Open(context.Background())
	must(t, err)
	defer s.Close()
	e := find(t, s, "a")
	must(t, os.Truncate("f", 1000))
	if err := e.Data.ReadAt(make([]byte, 2000), 0); !errors.Is(err, hostfile.ErrShrunk) {
		t.Error(err)
	}
}

// The prototype file is to be the same that was surveyed, as long as it is read.
func TestChanged(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, root+strings.Repeat(": a comment\n", 10_000)+"$\n")
	p := New("proto", Options{})
	_, err := entries(p.Survey(context.Background(), 4096, nil))
	must(t, err)
	s, err := p.Open(context.Background())
	must(t, err)
	defer s.Close()
	_, err = s.Next()
	must(t, err)
	must(t, os.Truncate("proto", 70_000))
	if _, err := s.Next(); !errors.Is(err, ErrChanged) {
		t.Errorf("cut short while it is read: %v", err)
	}
	write(t, root+"a p--644 0 0\n")
	if _, err := p.Open(context.Background()); !errors.Is(err, ErrChanged) {
		t.Errorf("written anew: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, root+"a p--644 0 0\n")
	ctx, cancel := context.WithCancel(context.Background())
	s, err := New("proto", Options{}).Open(ctx)
	must(t, err)
	_, err = s.Next()
	must(t, err)
	cancel()
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(t, s.Close())
	if _, err := s.Next(); err == nil {
		t.Error("a closed source goes on")
	}
}

// Directories may be as deep as they like.
func TestDeep(t *testing.T) {
	const depth = 100_000
	t.Chdir(t.TempDir())
	write(t, root+strings.Repeat("a d--755 0 0\n", depth)+strings.Repeat("$\n", depth+1))
	s, err := New("proto", Options{}).Open(context.Background())
	must(t, err)
	defer s.Close()
	for n := 0; ; n++ {
		e, err := s.Next()
		if err == io.EOF {
			if n != depth+1 {
				t.Errorf("%d entries", n)
			}
			return
		}
		must(t, err)
		if e.Depth != n {
			t.Fatalf("entry %d is %d deep", n, e.Depth)
		}
		if n == depth {
			if path := s.Path(); len(path) != len("proto:100002: ")+2*depth {
				t.Errorf("a path of %d bytes: %.30s", len(path), path)
			}
		}
	}
}

// A million lines take memory for the names of one directory, and no more.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a million lines")
	}
	const lines, most = 1_000_000, 64 << 20
	t.Chdir(t.TempDir())
	var b bytes.Buffer
	b.WriteString(root)
	for i := range lines {
		fmt.Fprintf(&b, "a_name_of_some_length_%d p--644 0 0\n", i)
	}
	must(t, os.WriteFile("proto", b.Bytes(), 0o600))
	b = bytes.Buffer{}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := New("proto", Options{}).Open(context.Background())
	must(t, err)
	defer s.Close()
	for {
		if _, err := s.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > most {
		t.Errorf("%d bytes of memory more than before", grown)
	}
	runtime.KeepAlive(s)
}

// BenchmarkEntries tells the time for an entry: of a fifo, and of a copy of a small file.
func BenchmarkEntries(b *testing.B) {
	for name, rest := range map[string]string{"fifo": "p--644 0 0", "copy": "---644 0 0 src"} {
		b.Run(name, func(b *testing.B) {
			const lines = 10_000
			b.Chdir(b.TempDir())
			must(b, os.WriteFile("src", []byte("hello"), 0o600))
			var text strings.Builder
			text.WriteString(root)
			for i := range lines {
				fmt.Fprintf(&text, "a_name_of_some_length_%d %s\n", i, rest)
			}
			write(b, text.String())
			p := New("proto", Options{})
			b.ReportAllocs()
			for b.Loop() {
				s, err := p.Open(context.Background())
				must(b, err)
				for err == nil {
					_, err = s.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				s.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lines, "ns/entry")
		})
	}
}
