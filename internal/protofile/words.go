package protofile

import (
	"errors"
	"fmt"
	"io"
)

// maxWord is more bytes than any word has that is of use: a path of the host is shorter.
const maxWord = 64 << 10

// words takes a file apart.
type words struct {
	r    io.Reader
	buf  []byte // what was read of it
	next int    // first byte of buf that was not looked at
	line int    // that the next byte is in; the first is 1
	word []byte // the last word
	at   int    // the line that it is in
}

// newWords begins with a file. buf is memory to read into.
func newWords(r io.Reader, buf []byte) words { return words{r: r, buf: buf[:0], line: 1} }

var (
	errZero = errors.New("there is a byte of value 0; this is no text file")
	errLong = fmt.Errorf("a word has more than %d bytes", maxWord)
)

// take takes the next word, which is good until the next call; io.EOF behind the last. Errors are
// about line at.
func (w *words) take() ([]byte, error) {
	c, err := w.skip()
	w.at = w.line
	if err == io.EOF {
		w.at = max(1, w.line-1) // the last line, which has an end
	}
	if err != nil {
		return nil, err
	}
	w.word = w.word[:0]
	for !blank(c) {
		switch {
		case c == 0:
			return nil, errZero
		case len(w.word) == maxWord:
			return nil, errLong
		}
		w.word = append(w.word, c)
		if c, err = w.byte(); err == io.EOF {
			return w.word, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return w.word, nil
}

// skip goes to the first byte of a word, over blanks and comments.
func (w *words) skip() (byte, error) {
	for comment := false; ; {
		c, err := w.byte()
		switch {
		case err != nil:
			return 0, err
		case c == 0:
			return 0, errZero
		case c == '\n':
			comment = false
		case comment || blank(c):
		case c == ':':
			comment = true
		default:
			return c, nil
		}
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// byte gives the next byte, and counts lines.
func (w *words) byte() (byte, error) {
	if w.next == len(w.buf) {
		n, err := io.ReadAtLeast(w.r, w.buf[:cap(w.buf)], 1)
		w.buf, w.next = w.buf[:n], 0
		if err != nil {
			return 0, err
		}
	}
	c := w.buf[w.next]
	w.next++
	if c == '\n' {
		w.line++
	}
	return c, nil
}
