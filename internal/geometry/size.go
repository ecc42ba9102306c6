package geometry

import (
	"fmt"
	"math/bits"
)

// Unit is what a number in an option counts.
type Unit byte

// An option's number counts bytes (with k, m, g... already multiplied in),
// sectors (suffix s) or filesystem blocks (suffix b). The last two can be
// turned into bytes only when those sizes are known.
const (
	UnitBytes Unit = iota
	UnitSectors
	UnitBlocks
)

// Size is a length as it was asked for. Its zero value is 0 bytes without limits.
type Size struct {
	Count  int64
	Unit   Unit
	Text   string // as it was given, for messages
	Bad    string // why the text is no length, "" if it is one
	Limits Limits
}

// Limits bound an option's value.
type Limits struct {
	Option   string // "-d size", for messages
	Min, Max int64
	Power2   bool
}

// Check tells whether v, given as text, is within the limits.
func (l Limits) Check(v int64, text string) error {
	switch {
	case v < l.Min:
		return refuse(l.Option, "%s is too small; the least is %d", text, l.Min)
	case v > l.Max:
		return refuse(l.Option, "%s is too large; the most is %d", text, l.Max)
	case l.Power2 && bits.OnesCount64(uint64(v)) > 1:
		return refuse(l.Option, "%s is no power of two", text)
	}
	return nil
}

// bytes is the length in bytes, within its limits.
func (s Size) bytes(sector, block int64) (Bytes, error) {
	if s.Bad != "" {
		return 0, refuse(s.Limits.Option, "%q %s", s.Text, s.Bad)
	}
	unit := int64(1)
	switch s.Unit {
	case UnitSectors:
		unit = sector
	case UnitBlocks:
		unit = block
	}
	hi, lo := bits.Mul64(uint64(max(s.Count, 0)), uint64(unit))
	if hi != 0 || lo > 1<<63-1 {
		return 0, refuse(s.Limits.Option, "%s is not less than 8 EiB", s.Text)
	}
	v := int64(lo)
	if s.Count < 0 {
		v = s.Count
	}
	return Bytes(v), s.Limits.Check(v, s.Text)
}

// On is the length on a filesystem, in bytes.
func (s Size) On(g *Geometry) Bytes {
	n, _ := s.bytes(int64(g.SectorSize), int64(g.BlockSize)) // which Plan has checked
	return n
}

// Refusal is an error in what was asked: an option and what is wrong with it.
type Refusal struct {
	Option string // "-d agcount", or "" where no single option is at fault
	Reason string
	// Line says that Reason is a whole line, by whose beginning scripts know the
	// refusal: nothing stands before it, neither the option nor a program's name.
	Line bool
}

func (r *Refusal) Error() string {
	if r.Option == "" || r.Line {
		return r.Reason
	}
	return r.Option + ": " + r.Reason
}

// Refuse makes a Refusal.
func Refuse(option, format string, args ...any) error { return refuse(option, format, args...) }

func refuse(option, format string, args ...any) error {
	return &Refusal{Option: option, Reason: fmt.Sprintf(format, args...)}
}
