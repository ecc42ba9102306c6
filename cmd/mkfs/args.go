package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// getopt rewrites arguments such that pflag reads options of one letter as
// getopt does: what follows the letter is the value, "=" included, and one
// that takes no value cannot have any. What is no option goes behind a "--", so
// that cobra takes none for a command of its own: a target may have any name.
func getopt(fs *pflag.FlagSet, args []string) []string {
	var list, operands []string
	wants := false // the last option has no value
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
			continue
		case len(arg) < 2 || arg[0] != '-':
			operands = append(operands, arg)
			continue
		case strings.HasPrefix(arg, "--"):
			list = append(list, arg)
			name, _, given := strings.Cut(arg[2:], "=")
			if f := fs.Lookup(name); f != nil && f.NoOptDefVal == "" && !given {
				if i++; i < len(args) {
					list = append(list, args[i])
				} else {
					wants = true
				}
			}
			continue
		}
		for rest := arg[1:]; rest != ""; rest = rest[1:] {
			list = append(list, "-"+rest[:1])
			f := fs.ShorthandLookup(rest[:1])
			if f == nil || f.NoOptDefVal != "" {
				continue
			}
			if rest = rest[1:]; rest == "" && i+1 < len(args) {
				i++
				rest = args[i]
				list = append(list, rest)
			} else if rest != "" {
				list = append(list, rest)
			} else {
				wants = true
			}
			break
		}
	}
	if wants { // nothing may follow it that would be taken for one
		return list
	}
	return append(append(list, "--"), operands...)
}

// flagError is a fault in the arguments that keeps the rest from being read.
type flagError struct{ error }

func (f flagError) Unwrap() error { return f.error }

// kinds are names for types of values, where the type's own says little.
var kinds = map[string]string{"int": "number", "duration": "time, such as 30s or 5m"}

// newFlagError says what pflag found in our words.
func newFlagError(err error) error {
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		kind := value.GetFlag().Value.Type()
		cause := errors.Unwrap(value)
		err = fmt.Errorf("--%s: %q is no %s", value.GetFlag().Name, value.GetValue(), cmp.Or(kinds[kind], kind))
		if kind == "bytes" && cause != nil { // which quotes the value
			err = fmt.Errorf("--%s: %w", value.GetFlag().Name, cause)
		}
	case errors.As(err, &missing):
		err = fmt.Errorf("%s needs a value", dashed(missing.GetSpecifiedName()))
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if err = fmt.Errorf("there is no option %s", dashed(name)); name == "t" {
			err = fmt.Errorf("%w; this mkfs makes XFS only: the one of your system that takes -t TYPE may be /sbin/mkfs", err)
		}
	}
	return flagError{usageError{err}}
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
