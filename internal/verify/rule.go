package verify

import (
	"fmt"

	"mkfs/internal/ondisk"
)

// place is a kind of structure that can be at fault.
type place int

const (
	placeSuperblock place = iota
	placeAGF
	placeAGI
	placeAGFL
	placeLog
	placeRoots // the first of rootRows
)

// String is the structure's name in messages.
func (p place) String() string {
	if p >= placeRoots {
		return rootRows[p-placeRoots].name
	}
	return [...]string{"superblock", "AGF", "AGI", "AGFL", "log"}[p]
}

// rule is a check of a structure S within a context C. bad returns what is
// wrong, to follow the name of the field in a message, or nothing.
type rule[C, S any] struct {
	name string
	bad  func(c C, s *S) string
}

// apply runs a table of rules over a structure and tells of each that is broken.
func apply[C, S any](rules []rule[C, S], c C, s *S, tell func(message string)) (broken int) {
	for i := range rules {
		if text := rules[i].bad(c, s); text != "" {
			broken++
			tell(rules[i].name + " " + text)
		}
	}
	return broken
}

// The predicates of rules.

func is[T comparable](got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %v, not %v", got, want)
}

func hex[T ~uint16 | ~uint32](got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %#x, not %#x", got, want)
}

func within[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int](got, least, most T) string {
	if least <= got && got <= most {
		return ""
	}
	return fmt.Sprintf("is %d, not %d to %d", got, least, most)
}

func against[T ~uint32 | ~uint64](got, want T, whose string) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %d, %s %d", got, whose, want)
}

func unless(ok bool, text string) string {
	if ok {
		return ""
	}
	return text
}

func isUUID(got, want ondisk.UUID) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %s, not %s", uuidText(got), uuidText(want))
}

func uuidText(u ondisk.UUID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
