package main

import (
	"strconv"

	"github.com/spf13/pflag"

	"mkfs/internal/options"
	"mkfs/internal/source"
)

// partitionNumber is the value of an option.
type partitionNumber struct{ *source.Number }

func (p partitionNumber) Set(text string) error {
	n, err := strconv.Atoi(text)
	*p.Number = source.Number{N: int64(n), Given: true}
	return err
}
func (p partitionNumber) String() string { return "" }
func (p partitionNumber) Type() string   { return "number" }

// byteCount is the value of an option, in bytes.
type byteCount struct{ *source.Number }

func (b byteCount) Set(text string) error {
	n, err := options.ParseBytes(text)
	*b.Number = source.Number{N: n, Given: true}
	return err
}
func (b byteCount) String() string { return "" }
func (b byteCount) Type() string   { return "bytes" }

// partFlags are options that say which part of a target is meant.
func partFlags(fs *pflag.FlagSet, p *source.Part) {
	fs.Var(partitionNumber{&p.Partition}, "partition", "use only partition `NUMBER` of a disk or disk image, as Linux counts")
	fs.Var(byteCount{&p.Offset}, "offset", "use only what begins `BYTES` behind the target's start")
	fs.Var(byteCount{&p.Length}, "length", "use only `BYTES` from --offset on; without it, all that follow")
}

// locate looks for the filesystem that is meant, see source.Part.
func locate(part *source.Part, path string, sole func(note string)) (source.Located, error) {
	if err := part.Fault(); err != nil {
		return source.Located{}, usageError{err}
	}
	return part.Locate(path, sole)
}
