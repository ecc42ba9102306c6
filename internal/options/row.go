package options

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mkfs/internal/cnumber"
	"mkfs/internal/geometry"
)

// Row is one suboption. What is parsed, the help, the man page and completion
// all come from it.
type Row struct {
	Name string
	Help string
	// Arg is what its value looks like: SIZE, N, PATH... It is "" where Values
	// lists all there are.
	Arg    string
	Values []string
	// not lists other suboptions, as "d agsize", that it cannot go with.
	not []string
	// notAfter lists those that it cannot follow, though they may follow it.
	notAfter []string
	// bare says that the suboption may stand without a value.
	bare bool
	// again says that it may be given more than once; the last one counts.
	again bool
	// free tells of values that are taken whatever was given before, and after
	// which the suboption may be given again, as the reference has it.
	free func(value string) bool
	// rest says that it takes what names no suboption of its section, as its value.
	rest bool
	// dropped says that a file of defaults cannot give the suboption, and that its
	// value there is not looked at.
	dropped bool
	// set takes the value, "" for none, into a request. key is "-d agsize".
	set func(q *Request, key, value string) error
}

// Not adds suboptions that the row cannot go with.
func (r Row) excludes(keys ...string) Row {
	r.not = append(r.not, keys...)
	return r
}

// takesRest makes the row that of what names no suboption.
func (r Row) takesRest() Row {
	r.rest = true
	return r
}

// noDefault keeps files of defaults from the row.
func (r Row) noDefault() Row {
	r.dropped = true
	return r
}

// readLate makes a length that is none count only where it is used, as the
// reference has it.
func (r Row) readLate() Row {
	set := r.set
	r.set = func(q *Request, key, value string) error {
		set(q, key, value) // which keeps the reason
		return nil
	}
	return r
}

// cannotFollow adds suboptions that the row cannot come after.
func (r Row) cannotFollow(keys ...string) Row {
	r.notAfter = append(r.notAfter, keys...)
	return r
}

// oneIfEmpty is what an empty value behind an equals sign stands for, where it
// is not the same as none.
func (r *Row) oneIfEmpty(value string) string {
	if r.free != nil && value == "" {
		return "1"
	}
	return value
}

func fault(key, format string, args ...any) error {
	return &geometry.Refusal{Option: key, Reason: fmt.Sprintf(format, args...)}
}

// given is a value that was given, as a default or for good.
func given[T any](q *Request, v T) geometry.Opt[T] {
	return geometry.Opt[T]{Value: v, Given: true, Default: q.defaults}
}

// field is the place in a request that a row fills.
type field[T any] func(*Request) *geometry.Opt[T]

// number is a plain number without a suffix.
func number(name, help string, least, most int64, at field[int64]) Row {
	return Row{Name: name, Help: help, Arg: "N", set: func(q *Request, key, value string) error {
		v, err := plain(key, value, geometry.Limits{Option: key, Min: least, Max: most})
		*at(q) = given(q, v)
		return err
	}}
}

// power2 is a number without a suffix that is a power of two.
func power2(name, help string, least, most int64, at field[int64]) Row {
	return Row{Name: name, Help: help, Arg: "N", set: func(q *Request, key, value string) error {
		v, err := plain(key, value, geometry.Limits{Option: key, Min: least, Max: most, Power2: true})
		*at(q) = given(q, v)
		return err
	}}
}

func plain(key, value string, limits geometry.Limits) (int64, error) {
	v, rest, ok := cnumber.Int(value)
	switch {
	case !ok:
		return 0, fault(key, "%q is no number", value)
	case rest != "":
		return 0, fault(key, "%q is a number with %q behind it; it takes no unit", value, rest)
	}
	return v, limits.Check(v, value)
}

// parser reads the text of a number within limits.
type parser func(key, value string, limits geometry.Limits) (int64, error)

// withUnit reads a number with a suffix that is a power of 1024, as in 1k.
func withUnit(key, value string, limits geometry.Limits) (int64, error) {
	n, err := ParseBytes(value)
	if err != nil {
		return 0, fault(key, "%v", err)
	}
	return n, limits.Check(n, value)
}

// number32 is a number of 32 bits.
func number32(name, help string, at field[uint32]) Row {
	return Row{Name: name, Help: help, Arg: "N", set: func(q *Request, key, value string) error {
		v, err := plain(key, value, geometry.Limits{Option: key, Max: math.MaxUint32})
		*at(q) = given(q, uint32(v))
		return err
	}}
}

// boolean is 0 or 1, and 1 where no value is given.
func boolean(name, help string, at field[bool]) Row {
	return Row{Name: name, Help: help, Values: zeroAndOne, bare: true, set: func(q *Request, key, value string) error {
		on, err := zeroOne(key, value)
		*at(q) = given(q, on)
		return err
	}}
}

var zeroAndOne = []string{"0", "1"}

func zeroOne(key, value string) (bool, error) {
	if value == "" {
		return true, nil
	}
	v, err := plain(key, value, geometry.Limits{Option: key, Max: 1})
	if r := (*geometry.Refusal)(nil); errors.As(err, &r) && strings.HasSuffix(r.Reason, "is no number") {
		return false, fault(key, "%s; it is 0 or 1", r.Reason)
	}
	return v == 1, err
}

// unit is a power of two in bytes that other sizes may be counted in, so that
// it cannot be counted in those itself.
func unit(name, help string, least, most int64, at field[int64]) Row {
	return Row{Name: name, Help: help, Arg: "SIZE", set: func(q *Request, key, value string) error {
		size, reason := parseSize(value)
		if reason == "" && size.Unit != geometry.UnitBytes {
			reason = "counts in units that depend on it"
		}
		if reason != "" {
			return fault(key, "%q %s", value, reason)
		}
		*at(q) = given(q, size.Count)
		return geometry.Limits{Option: key, Min: least, Max: most, Power2: true}.Check(size.Count, value)
	}}
}

// size is a length; its limits are checked when sectors and blocks are known.
func size(name, help string, least, most int64, at field[geometry.Size]) Row {
	return sized(name, help, geometry.Limits{Min: least, Max: most}, at)
}

func sized(name, help string, limits geometry.Limits, at field[geometry.Size]) Row {
	return Row{Name: name, Help: help, Arg: "SIZE", set: func(q *Request, key, value string) error {
		v, reason := parseSize(value)
		v.Text, v.Bad, v.Limits = value, reason, limits
		v.Limits.Option = key
		*at(q) = given(q, v)
		if reason != "" {
			return fault(key, "%q %s", value, reason)
		}
		return nil
	}}
}

// text is a name.
func text(name, help string, at field[string]) Row {
	return Row{Name: name, Help: help, Arg: "PATH", set: func(q *Request, _, value string) error {
		*at(q) = given(q, value)
		return nil
	}}
}

// threads is a number of threads; 1, nr_cpus or no value stand for the number of
// CPUs. parse reads a number.
func threads(name, help string, parse parser, at field[int64]) Row {
	allCPUs := func(value string) bool { return value == "" || value == "nr_cpus" }
	return Row{Name: name, Help: help, Arg: "N", bare: true, free: allCPUs, set: func(q *Request, key,
		value string) error {
		n := int64(1)
		var err error
		if !allCPUs(value) {
			n, err = parse(key, value, geometry.Limits{Option: key, Max: math.MaxInt32})
		}
		*at(q) = given(q, n)
		at(q).Default = at(q).Default || allCPUs(value) // so it goes with a size
		return err
	}}
}

// quota turns kinds of quota on; 0 leaves them as they are.
func quota(name, help string, flags geometry.QuotaFlags) Row {
	return Row{Name: name, Help: help, Values: zeroAndOne, bare: true, set: func(q *Request, key, value string) error {
		on, err := zeroOne(key, value)
		if err == nil && on {
			q.Spec.Features.Quota |= flags
		}
		return err
	}}
}

// Usage is how the suboption is written: agcount=N, file=0|1. That some may
// stand without a value is not told by brackets: test-suites look for "file=".
func (r *Row) Usage() string {
	arg := r.Arg
	if arg == "" {
		arg = strings.Join(r.Values, "|")
	}
	return r.Name + "=" + arg
}

// Bare tells whether the suboption may stand without a value.
func (r *Row) Bare() bool { return r.bare }

// autofsckWords are the values of autofsck, but for 0 and 1.
var autofsckWords = []string{
	string(geometry.AutofsckNone), string(geometry.AutofsckCheck), string(geometry.AutofsckOptimize),
	string(geometry.AutofsckRepair),
}

func isAutofsckWord(value string) bool { return slices.Contains(autofsckWords, value) }

// autofsck is a word, or 0 or 1.
func autofsck(q *Request, key, value string) error {
	at := &q.Spec.Features.Autofsck
	if isAutofsckWord(value) {
		*at = given(q, geometry.Autofsck(value))
		return nil
	}
	if value != "" && (value[0] < '0' || value[0] > '9') {
		return fault(key, "%q is none of none, check, optimize and repair", value)
	}
	on, err := zeroOne(key, value)
	q.Spec.Features.AutofsckSwitch = !q.defaults
	*at = given(q, geometry.AutofsckNone)
	if on {
		*at = given(q, geometry.AutofsckRepair)
	}
	return err
}

// namingVersion is 2, or ci for names without case.
func namingVersion(q *Request, key, value string) error {
	if strings.EqualFold(value, "ci") {
		q.Spec.Features.CaseFold = given(q, true)
		return nil
	}
	_, err := plain(key, value, geometry.Limits{Option: key, Min: 2, Max: 2})
	return err
}
