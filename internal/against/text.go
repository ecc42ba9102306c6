package against

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// legible is a path as a message shows it: quoted if it has what does not print.
func legible(path string) string {
	for _, r := range path {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.Quote(path)
		}
	}
	return path
}

// shown is how many bytes of a value a message shows.
const shown = 40

// quoted is a value as a message shows it.
func quoted[T string | []byte](value T) string {
	if len(value) <= shown {
		return strconv.Quote(string(value))
	}
	return fmt.Sprintf("%q... of %d bytes", string(value[:shown]), len(value))
}
