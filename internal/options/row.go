package options

import (
	"fmt"
	"math"
	"strings"

	"mkfs/internal/geometry"
)

// Row is one suboption.
type Row struct {
	Name string
	Help string
	// not lists other suboptions, as "d agsize", that it cannot go with.
	not []string
	// notAfter lists those that it cannot follow, though they may follow it.
	notAfter []string
	// bare says that the suboption may stand without a value.
	bare bool
	// again says that it may be given more than once; the last one counts.
	again bool
	// set takes the value, "" for none, into a request. key is "-d agsize".
	set func(q *Request, key, value string) error
}

// Not adds suboptions that the row cannot go with.
func (r Row) excludes(keys ...string) Row {
	r.not = append(r.not, keys...)
	return r
}

// cannotFollow adds suboptions that the row cannot come after.
func (r Row) cannotFollow(keys ...string) Row {
	r.notAfter = append(r.notAfter, keys...)
	return r
}

func fault(key, format string, args ...any) error {
	return &geometry.Refusal{Option: key, Reason: fmt.Sprintf(format, args...)}
}

// field is the place in a request that a row fills.
type field[T any] func(*Request) *geometry.Opt[T]

// number is a plain number without a suffix.
func number(name, help string, least, most int64, at field[int64]) Row {
	return Row{Name: name, Help: help, set: func(q *Request, key, value string) error {
		v, err := plain(key, value, geometry.Limits{Option: key, Min: least, Max: most})
		*at(q) = geometry.Given(v)
		return err
	}}
}

// power2 is a number without a suffix that is a power of two.
func power2(name, help string, least, most int64, at field[int64]) Row {
	return Row{Name: name, Help: help, set: func(q *Request, key, value string) error {
		v, err := plain(key, value, geometry.Limits{Option: key, Min: least, Max: most, Power2: true})
		*at(q) = geometry.Given(v)
		return err
	}}
}

func plain(key, value string, limits geometry.Limits) (int64, error) {
	v, rest, ok := parseInt(value)
	switch {
	case !ok:
		return 0, fault(key, "%q is no number", value)
	case rest != "":
		return 0, fault(key, "%q is a number with %q behind it; it takes no unit", value, rest)
	}
	return v, limits.Check(v, value)
}

// number32 is a number of 32 bits.
func number32(name, help string, at field[uint32]) Row {
	return Row{Name: name, Help: help, set: func(q *Request, key, value string) error {
		v, err := plain(key, value, geometry.Limits{Option: key, Max: math.MaxUint32})
		*at(q) = geometry.Given(uint32(v))
		return err
	}}
}

// boolean is 0 or 1, and 1 where no value is given.
func boolean(name, help string, at field[bool]) Row {
	return Row{Name: name, Help: help, bare: true, set: func(q *Request, key, value string) error {
		on, err := zeroOne(key, value)
		*at(q) = geometry.Given(on)
		return err
	}}
}

func zeroOne(key, value string) (bool, error) {
	if value == "" {
		return true, nil
	}
	v, err := plain(key, value, geometry.Limits{Option: key, Max: 1})
	return v == 1, err
}

// unit is a power of two in bytes that other sizes may be counted in, so that
// it cannot be counted in those itself.
func unit(name, help string, least, most int64, at field[int64]) Row {
	return Row{Name: name, Help: help, set: func(q *Request, key, value string) error {
		size, reason := parseSize(value)
		if reason == "" && size.Unit != geometry.UnitBytes {
			reason = "counts in units that depend on it"
		}
		if reason != "" {
			return fault(key, "%q %s", value, reason)
		}
		*at(q) = geometry.Given(size.Count)
		return geometry.Limits{Option: key, Min: least, Max: most, Power2: true}.Check(size.Count, value)
	}}
}

// size is a length; its limits are checked when sectors and blocks are known.
func size(name, help string, least, most int64, at field[geometry.Size]) Row {
	return sized(name, help, geometry.Limits{Min: least, Max: most}, at)
}

func sized(name, help string, limits geometry.Limits, at field[geometry.Size]) Row {
	return Row{Name: name, Help: help, set: func(q *Request, key, value string) error {
		v, reason := parseSize(value)
		if reason != "" {
			return fault(key, "%q %s", value, reason)
		}
		v.Limits = limits
		v.Limits.Option = key
		*at(q) = geometry.Given(v)
		return nil
	}}
}

// text is a name.
func text(name, help string, at field[string]) Row {
	return Row{Name: name, Help: help, set: func(q *Request, _, value string) error {
		*at(q) = geometry.Given(value)
		return nil
	}}
}

// threads is a number of threads; 1, nr_cpus or no value stand for the number of CPUs.
func threads(name, help string, at field[int64]) Row {
	return Row{Name: name, Help: help, bare: true, set: func(q *Request, key, value string) error {
		n := int64(1)
		var err error
		if value != "" && value != "nr_cpus" {
			n, err = plain(key, value, geometry.Limits{Option: key, Max: math.MaxInt32})
		}
		*at(q) = geometry.Given(n)
		return err
	}}
}

// quota turns kinds of quota on; 0 leaves them as they are.
func quota(name, help string, flags geometry.QuotaFlags) Row {
	return Row{Name: name, Help: help, bare: true, set: func(q *Request, key, value string) error {
		on, err := zeroOne(key, value)
		if err == nil && on {
			q.Spec.Features.Quota |= flags
		}
		return err
	}}
}

// missing is a suboption that does not exist yet.
func missing(name, help string) Row {
	return Row{Name: name, Help: help + " (not supported yet)", bare: true, set: func(_ *Request, key, _ string) error {
		return fault(key, "is not supported yet")
	}}
}

// autofsck is a word, or 0 or 1.
func autofsck(q *Request, key, value string) error {
	at := &q.Spec.Features.Autofsck
	switch word := geometry.Autofsck(value); word {
	case geometry.AutofsckNone, geometry.AutofsckCheck, geometry.AutofsckOptimize, geometry.AutofsckRepair:
		*at = geometry.Given(word)
		return nil
	}
	if value != "" && (value[0] < '0' || value[0] > '9') {
		return fault(key, "%q is none of none, check, optimize and repair", value)
	}
	on, err := zeroOne(key, value)
	q.Spec.Features.AutofsckSwitch = true
	*at = geometry.Given(geometry.AutofsckNone)
	if on {
		*at = geometry.Given(geometry.AutofsckRepair)
	}
	return err
}

// namingVersion is 2, or ci for names without case.
func namingVersion(q *Request, key, value string) error {
	if strings.EqualFold(value, "ci") {
		q.Spec.Features.CaseFold = geometry.Given(true)
		return nil
	}
	_, err := plain(key, value, geometry.Limits{Option: key, Min: 2, Max: 2})
	return err
}
