package protofile

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"mkfs/internal/hostfile"
	"mkfs/internal/tree"
)

// source goes through a prototype file. It is a tree.Source.
type source struct {
	t        *Tree
	ctx      context.Context
	file     *os.File
	words    words
	left     int64 // bytes of the file that were not read
	survey   bool
	block    int64                // of the filesystem, in a survey
	leaveOut func(err error) bool // takes or declines an entry whose source cannot be read

	begun  bool
	line   int // of the entry
	number int // of the entry, from 0
	name   string
	depth  int
	open   []directory // on the way to the entry, from the root
	entry  tree.Entry
	data   hostfile.Data
	attrs  hostfile.Attrs
	fd     int   // the entry's source, or -1
	err    error // of all further calls of Next

	seeds [2]maphash.Seed
	spare []names
}

// directory is one whose entries are being read.
type directory struct {
	name  string
	names names
}

// names are hashes of those that a directory has so far: of so many bits that no two names share one.
type names map[[2]uint64]struct{}

// maxSpare is how many names a set may have had that is used again.
const maxSpare = 1024

func newSource(ctx context.Context, t *Tree, file *os.File, size int64) *source {
	s := &source{t: t, ctx: ctx, file: file, left: size, fd: -1, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	s.words = newWords(reader{s}, make([]byte, maxWord))
	return s
}

// reader reads as much of the file as there was at first: it is an error if that has become less.
type reader struct{ s *source }

func (r reader) Read(p []byte) (int, error) {
	s := r.s
	if s.left == 0 {
		return 0, io.EOF
	}
	n, err := s.file.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if err == io.EOF && s.left > 0 {
		err = ErrChanged
	}
	return n, err
}

// Next is that of tree.Source.
func (s *source) Next() (*tree.Entry, error) {
	for s.err == nil {
		s.done()
		if s.err = s.ctx.Err(); s.err != nil {
			break
		}
		if s.err = s.advance(); s.err != nil {
			break
		}
		err, unreadable := s.parse(), (*unreadableError)(nil)
		switch {
		case err == nil:
			return &s.entry, nil
		case !errors.As(err, &unreadable):
			s.err = s.fault(err)
		case s.leaveOut == nil || !s.leaveOut(err):
			s.err = &Error{s.t.path, s.line, err}
		}
	}
	return nil, s.err
}

// unreadableError is an error of the source of an entry, rather than of the prototype file.
type unreadableError struct {
	path string
	err  error
}

func (u *unreadableError) Error() string { return fmt.Sprintf("%s: %v", legible(u.path), u.err) }
func (u *unreadableError) Unwrap() error { return u.err }

// fault is an error at the last word. That the file has ended is none.
func (s *source) fault(err error) error {
	if err == io.EOF {
		return err
	}
	return &Error{s.t.path, s.words.at, err}
}

// advance goes to the next entry, and reads its name.
func (s *source) advance() error {
	if !s.begun {
		return s.begin()
	}
	for len(s.open) > 0 {
		word, err := s.words.take()
		if err != nil {
			return s.fault(err) // io.EOF: what is still open ends here
		}
		if string(word) != "$" {
			s.number, s.line, s.depth = s.number+1, s.words.at, len(s.open)
			if err := s.take(word); err != nil {
				return s.fault(err)
			}
			return nil
		}
		s.leaveDirectory()
	}
	return io.EOF
}

// begin skips what is before the root directory.
func (s *source) begin() error {
	s.begun = true
	for _, what := range []string{"a word that means nothing", "another", "a third"} {
		if _, err := s.word(what); err != nil {
			return s.fault(err)
		}
	}
	s.line = s.words.at
	return nil
}

// take takes the name of an entry.
func (s *source) take(word []byte) error {
	slash := false
	for i, c := range word {
		if c == '/' && s.t.options.Slashes {
			word[i] = ' '
		} else if c == '/' {
			slash = true
		}
	}
	switch {
	case slash:
		return fmt.Errorf("%q has a slash in it, which no name has; with slashes_are_spaces=1 it is a blank", word)
	case len(word) > tree.MaxName:
		return fmt.Errorf("the name %q has %d bytes; the most is %d", word, len(word), tree.MaxName)
	case string(word) == "." || string(word) == "..":
		return fmt.Errorf("%q is a name that each directory has anyway", word)
	}
	key := [2]uint64{maphash.Bytes(s.seeds[0], word), maphash.Bytes(s.seeds[1], word)}
	d := &s.open[len(s.open)-1]
	if _, twice := d.names[key]; twice {
		return fmt.Errorf("this directory has an entry %q already", word)
	}
	if d.names == nil {
		d.names = s.emptyNames()
	}
	d.names[key] = struct{}{}
	s.name = string(word)
	return nil
}

func (s *source) emptyNames() names {
	n := len(s.spare)
	if n == 0 {
		return names{}
	}
	last := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return last
}

// enter makes the entry the directory that the next ones are in.
func (s *source) enter() { s.open = append(s.open, directory{name: s.name}) }

func (s *source) leaveDirectory() {
	last := len(s.open) - 1
	if set := s.open[last].names; set != nil && len(set) <= maxSpare && len(s.spare) < maxSpare {
		clear(set)
		s.spare = append(s.spare, set)
	}
	s.open[last] = directory{}
	s.open = s.open[:last]
}

// word takes a word that has to be there.
func (s *source) word(what string) ([]byte, error) {
	word, err := s.words.take()
	if err != io.EOF {
		return word, err
	}
	if s.line == 0 {
		return nil, fmt.Errorf("the file ends where %s should be, before the root directory", what)
	}
	return nil, fmt.Errorf("the file ends where %s should be; the entry %q begins in line %d", what, s.path(), s.line)
}

// Path is that of tree.Source: the line of the entry and where in the new filesystem it is.
func (s *source) Path() string { return fmt.Sprintf("%s:%d: %s", s.t.path, s.line, legible(s.path())) }

// path is the place of the entry in the new filesystem.
func (s *source) path() string {
	if s.depth == 0 {
		return "/"
	}
	var b strings.Builder
	for _, d := range s.open[1:s.depth] {
		b.WriteString("/" + d.name)
	}
	b.WriteString("/" + s.name)
	return b.String()
}

// legible is a path as a message shows it: quoted if it has what does not print.
func legible(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return path
	}
	return strconv.Quote(path)
}

// done closes the source of the last entry.
func (s *source) done() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd) // nothing was written
		s.fd = -1
	}
}

// Close is that of tree.Source.
func (s *source) Close() error {
	s.done()
	if s.err == nil {
		s.err = os.ErrClosed
	}
	return s.file.Close()
}
