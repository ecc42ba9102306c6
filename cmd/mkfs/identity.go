package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"mkfs/internal/aginit"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// seedGeneration is the generation of all inodes with DETERMINISTIC_SEED=1: "SEED".
const seedGeneration = 0x53454544

// seed is the value of --reproducible, any text.
type seed struct {
	text  string
	given bool
}

func (s *seed) Set(text string) error { s.text, s.given = text, true; return nil }
func (s *seed) String() string        { return "" }
func (s *seed) Type() string          { return "seed" }

// identity gathers what is neither geometry nor asked for: the time, the
// UUID and random numbers. The environment may fix them, or --reproducible all
// at once, so that equal inputs give equal bytes.
func (j *job) identity(g *geometry.Geometry) (aginit.Identity, error) {
	fixed := j.reproducible.given
	now := time.Now()
	if fixed {
		now = time.Unix(0, 0)
	}
	who := aginit.Identity{Seconds: now.Unix(), Nanos: uint32(now.Nanosecond()), Generation: generation(fixed)}
	if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" {
		sec, err := strconv.ParseInt(strings.TrimLeft(text, " \t\n\v\f\r"), 10, 64)
		switch {
		case err == nil:
			who.Seconds, who.Nanos = sec, 0
		case fixed:
			return who, fmt.Errorf("--reproducible: SOURCE_DATE_EPOCH: %q is no number of seconds", text)
		default:
			fmt.Fprintf(j.err, "%s: warning: SOURCE_DATE_EPOCH: %q is no number of seconds; using the current time\n", j.name,
				text)
		}
	}
	switch id := j.parser.Request.UUID; {
	case id.Given:
		who.UUID = ondisk.UUID(id.Value)
	case fixed:
		var err error
		who.UUID, err = format.DerivedUUID(g, j.reproducible.text)
		return who, err
	default:
		random, err := uuid.NewRandom()
		if err != nil {
			return who, err
		}
		who.UUID = ondisk.UUID(random)
	}
	return who, nil
}

func generation(fixed bool) func() uint32 {
	if fixed || os.Getenv("DETERMINISTIC_SEED") == "1" {
		return func() uint32 { return seedGeneration }
	}
	return func() uint32 {
		var b [4]byte
		rand.Read(b[:]) // never fails
		return binary.NativeEndian.Uint32(b[:])
	}
}
