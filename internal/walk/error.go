package walk

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// ErrChanged tells that a file was replaced by another.
var ErrChanged = errors.New("it was replaced while the tree was walked")

func fail(what string, err error) error {
	if err == unix.ENOENT || err == unix.ESTALE {
		what = "it has vanished while the tree was walked"
	}
	return fmt.Errorf("%s: %w", what, err)
}

// denied tells an error of a file that somebody else could read.
func denied(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}

// legible is a path as a message shows it: quoted if it has what does not print.
func legible(path string) string {
	if !utf8.ValidString(path) {
		return strconv.Quote(path)
	}
	for _, r := range path {
		if !strconv.IsPrint(r) {
			return strconv.Quote(path)
		}
	}
	return path
}
