package protofile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"mkfs/internal/hostfile"
	"mkfs/internal/tree"
)

// Options say how a prototype file is read.
type Options struct {
	// Slashes: a slash in a name stands for a blank.
	Slashes bool
}

// Tree is what a prototype file tells. It is a tree.Tree.
type Tree struct {
	path    string
	options Options
	sector  int64 // bytes that sizes may be counted in; 0 if they may not
	block   int64
	seen    *version     // the file that was surveyed
	left    map[int]bool // entries that the survey left out, by their numbers
}

var _ tree.Tree = (*Tree)(nil)

// New takes a prototype file by its path. Nothing is opened. Paths of sources are relative to the
// working directory.
func New(path string, o Options) *Tree { return &Tree{path: path, options: o} }

// Units sets how many bytes a sector and a block have, in which sizes may be told: 8s, 2b.
func (t *Tree) Units(sector, block int64) { t.sector, t.block = sector, block }

// Name is that of tree.Tree.
func (t *Tree) Name() string { return t.path }

// Error is a fault of a prototype file.
type Error struct {
	File string
	Line int // the first is 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// ErrChanged tells that the file is not the one that was surveyed.
var ErrChanged = errors.New("it has changed since it was looked through")

// Forget is that of tree.Tree.
func (t *Tree) Forget() {}

// Survey is that of tree.Tree. A source that is missing is unreadable, too.
func (t *Tree) Survey(ctx context.Context, block int64, unreadable func(path string, err error)) (tree.Source, error) {
	t.seen, t.left = nil, map[int]bool{}
	s, v, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	t.seen = v
	s.survey, s.block = true, block
	if unreadable != nil {
		s.leaveOut = func(err error) bool {
			t.left[s.number] = true
			unreadable(s.Path(), err)
			return true
		}
	}
	return s, nil
}

// Open is that of tree.Tree. It returns ErrChanged for another file than that of the last survey.
func (t *Tree) Open(ctx context.Context) (tree.Source, error) {
	s, v, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	if t.seen != nil && *t.seen != *v {
		s.Close()
		return nil, fmt.Errorf("%s: %w", t.path, ErrChanged)
	}
	s.leaveOut = func(error) bool { return t.left[s.number] }
	return s, nil
}

// version tells files apart, and a file from what it was before it was written to.
type version struct {
	dev, ino   uint64
	size       int64
	mtim, ctim unix.Timespec
}

// start opens the file and sees whether it ends as it has to.
func (t *Tree) start(ctx context.Context) (*source, *version, error) {
	fd, err := hostfile.Open(unix.AT_FDCWD, t.path, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: opening the prototype file: %w", t.path, err)
	}
	file := os.NewFile(uintptr(fd), t.path)
	v, err := t.look(file)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return newSource(ctx, t, file, v.size), v, nil
}

// look checks that the file is one that can be gone through twice, and that its last line ends:
// else it was cut short, says mkfs.xfs.
func (t *Tree) look(file *os.File) (*version, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fmt.Errorf("%s: it is neither a directory nor a regular file", t.path)
	}
	if st.Size == 0 {
		return nil, &Error{t.path, 1, errors.New("the prototype file is empty; the least is x 0 0 d--755 0 0 $")}
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], st.Size-1); err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	if last[0] != '\n' {
		return nil, &Error{t.path, lastLine(file), errors.New("the last line has no end; the file may be cut short")}
	}
	return &version{uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}, nil //nolint:unconvert // 32 bits elsewhere
}

// lastLine is the number of the last line of a file, as far as it can be read.
func lastLine(file *os.File) int {
	w := newWords(io.NewSectionReader(file, 0, 1<<62), make([]byte, maxWord))
	for {
		if _, err := w.byte(); err != nil {
			return w.line
		}
	}
}
