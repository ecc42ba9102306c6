// Package rule checks structures by tables: a row names a field and says what
// is wrong with it. The predicates return what follows the name of a field in
// a message, or nothing if all is well.
package rule

import "fmt"

// Rule is a check of a structure S within a context C. Bad returns what is
// wrong, to follow the name of the field in a message, or nothing.
type Rule[C, S any] struct {
	Name string
	Bad  func(c C, s *S) string
}

// Of makes a row of a table.
func Of[C, S any](name string, bad func(c C, s *S) string) Rule[C, S] { return Rule[C, S]{name, bad} }

// Apply runs a table of rules over a structure and tells of each that is broken.
func Apply[C, S any](rules []Rule[C, S], c C, s *S, tell func(message string)) (broken int) {
	for i := range rules {
		if text := rules[i].Bad(c, s); text != "" {
			broken++
			tell(rules[i].Name + " " + text)
		}
	}
	return broken
}

// Is wants a value.
func Is[T comparable](got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %v, not %v", got, want)
}

// Hex wants a value that is read in hexadecimal.
func Hex[T ~uint16 | ~uint32](got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %#x, not %#x", got, want)
}

// Within wants a value of a range.
func Within[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int](got, least, most T) string {
	if least <= got && got <= most {
		return ""
	}
	return fmt.Sprintf("is %d, not %d to %d", got, least, most)
}

// Against wants the value that another structure has.
func Against[T ~uint32 | ~uint64](got, want T, whose string) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %d, %s %d", got, whose, want)
}

// Unless says text if it is not ok.
func Unless(ok bool, text string) string {
	if ok {
		return ""
	}
	return text
}

// IsUUID wants a UUID.
func IsUUID[T ~[16]byte](got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %s, not %s", UUID(got), UUID(want))
}

// UUID is a UUID as text.
func UUID[T ~[16]byte](u T) string {
	b := [16]byte(u)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// NoneBut wants no bits but the known ones.
func NoneBut[T ~uint32](have, known T) string {
	if have&^known == 0 {
		return ""
	}
	return fmt.Sprintf("are %#x, of which %#x are unknown", have, have&^known)
}
