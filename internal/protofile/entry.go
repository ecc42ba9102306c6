package protofile

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"mkfs/internal/cnumber"
	"mkfs/internal/hostfile"
	"mkfs/internal/tree"
)

// kind is a type of entries: what its letter stands for, and what reads the words behind the owner.
type kind struct {
	letter byte
	mode   uint16
	rest   func(*source) error
}

var kinds = []kind{
	{'-', tree.TypeRegular, (*source).regular},
	{'r', tree.TypeRegular, (*source).reserved},
	{'b', tree.TypeBlock, (*source).device},
	{'c', tree.TypeCharacter, (*source).device},
	{'d', tree.TypeDirectory, (*source).directory},
	{'l', tree.TypeSymlink, (*source).symlink},
	{'p', tree.TypeFIFO, func(*source) error { return nil }},
}

// Bits of a mode.
const (
	setUID     = 0o4000
	setGID     = 0o2000
	groupRuns  = 0o010
	modeLength = 6
)

// parse reads the words of the entry behind its name.
func (s *source) parse() error {
	s.entry = tree.Entry{Depth: s.depth, Name: s.name}
	word, err := s.word("a mode")
	if err != nil {
		return err
	}
	if s.depth == 0 {
		s.line = s.words.at
	}
	k, bits, err := mode(word)
	if err != nil {
		return err
	}
	if s.depth == 0 && k.mode != tree.TypeDirectory {
		return fmt.Errorf("%q makes the root no directory; its mode begins with d", word)
	}
	s.entry.Mode = k.mode | bits
	if s.entry.UID, err = s.owner("the number of a user"); err != nil {
		return err
	}
	if s.entry.GID, err = s.owner("the number of a group"); err != nil {
		return err
	}
	return k.rest(s)
}

// mode reads a mode.
func mode(word []byte) (k *kind, bits uint16, err error) {
	bad := func(format string, args ...any) (*kind, uint16, error) {
		return nil, 0, fmt.Errorf("%q is no mode: %s", word, fmt.Sprintf(format, args...))
	}
	for i := range kinds {
		if kinds[i].letter == word[0] {
			k = &kinds[i]
		}
	}
	if k == nil {
		return bad("it begins with the letter of a type: - r b c d l p")
	}
	if len(word) < modeLength {
		return bad("it has six characters, as d--755 or -ug644")
	}
	for i, letter := range []byte{'u', 'g'} {
		switch word[1+i] {
		case letter:
			bits |= []uint16{setUID, setGID}[i]
		case '-':
		default:
			return bad("its character %d is %c or -", 2+i, letter)
		}
	}
	permissions := uint16(0)
	for _, c := range word[3:modeLength] {
		if c < '0' || c > '7' {
			return bad("three octal digits end it")
		}
		permissions = permissions*8 + uint16(c-'0')
	}
	return k, bits | permissions, nil
}

// integer takes a number within limits.
func (s *source) integer(what string, least, most int64) (int64, error) {
	word, err := s.word(what)
	if err != nil {
		return 0, err
	}
	n, rest, ok := cnumber.Int(string(word))
	switch {
	case !ok || rest != "":
		return 0, fmt.Errorf("%q is not %s", word, what)
	case n < least || n > most:
		return 0, fmt.Errorf("%q is not %s, which is %d to %d", word, what, least, most)
	}
	return n, nil
}

// owner takes a number of 32 bits, which may also be written as a negative one.
func (s *source) owner(what string) (uint32, error) {
	n, err := s.integer(what, math.MinInt32, math.MaxUint32)
	return uint32(n), err
}

// Numbers of devices have so many bits on disk. (IRIX_MKDEV)
const (
	majorBits = 14
	minorBits = 18
)

func (s *source) device() error {
	major, err := s.integer("the major number of a device", 0, 1<<majorBits-1)
	if err != nil {
		return err
	}
	minor, err := s.integer("the minor number of a device", 0, 1<<minorBits-1)
	s.entry.Major, s.entry.Minor = uint32(major), uint32(minor)
	return err
}

func (s *source) directory() error {
	s.enter()
	return nil
}

func (s *source) symlink() error {
	word, err := s.word("the target of a symbolic link")
	if err != nil {
		return err
	}
	if len(word) > tree.MaxTarget {
		return fmt.Errorf("the target %q has %d bytes; the most is %d", word, len(word), tree.MaxTarget)
	}
	s.entry.Target = string(word)
	return nil
}

// reserved reads the size of a file with space that is not written. Allocating space for a file takes
// away the bits by which it runs as somebody else. (rsvfile)
func (s *source) reserved() error {
	word, err := s.word("a size")
	if err != nil {
		return err
	}
	count, unit, reason := cnumber.Size(string(word))
	each := map[cnumber.Unit]int64{cnumber.Bytes: 1, cnumber.Sectors: s.t.sector, cnumber.Blocks: s.t.block}[unit]
	switch {
	case reason != "":
		return fmt.Errorf("%q is no size: it %s", word, reason)
	case count <= 0:
		return fmt.Errorf("%q is no size to reserve; the least is 1", word)
	case each == 0:
		return fmt.Errorf("%q counts in sectors or blocks, of which nobody knows how long they are", word)
	case count > math.MaxInt64/each:
		return fmt.Errorf("%q is not less than 8 EiB", word)
	}
	e := &s.entry
	e.Size, e.Reserve = count*each, true
	e.Mode &^= setUID
	if e.Mode&groupRuns != 0 {
		e.Mode &^= setGID
	}
	return nil
}

// regular reads the path of a source, and opens that.
func (s *source) regular() error {
	word, err := s.word("the path of a file to copy")
	if err != nil {
		return err
	}
	path := string(word)
	if err := s.copy(path); err != nil {
		s.done()
		return &unreadableError{path, err}
	}
	return nil
}

var errFIFO = errors.New("it is a fifo, which would be waited for; a copy needs a file that is there as a whole")

// copy makes the entry a copy of a file of the host.
func (s *source) copy(path string) (err error) {
	if s.fd, err = hostfile.Open(unix.AT_FDCWD, path, 0); err != nil {
		return fmt.Errorf("it cannot be opened: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(s.fd, &st); err != nil {
		return fmt.Errorf("its status cannot be read: %w", err)
	}
	e := &s.entry
	if e.Attrs, err = s.attrs.OfFile(s.fd); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFIFO:
		return errFIFO
	default: // such are copied as empty files
		s.done()
		return nil
	}
	s.data.Reset(s.fd, st.Size)
	e.Size = st.Size
	if s.survey {
		e.Stored, e.Pieces, err = s.data.Count(s.block)
		s.done()
		return err
	}
	e.Data = &s.data
	held, err := s.data.Load()
	if held {
		s.done()
	}
	return err
}
