// Package identity gathers what is neither geometry nor asked for: the time, the UUID and
// random numbers. The environment may fix them, or a seed all at once, so that equal inputs give
// equal bytes.
package identity

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
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

// Seed is the value of --reproducible, any text. It is a flag's value.
type Seed struct {
	Text  string
	Given bool
}

func (s *Seed) Set(text string) error { s.Text, s.Given = text, true; return nil }
func (s *Seed) String() string        { return "" }
func (s *Seed) Type() string          { return "seed" }

// Request is what an identity follows from.
type Request struct {
	UUID geometry.Opt[[16]byte]
	Seed Seed
	Env  func(name string) string
	Warn func(text string) // of a clock in the environment that is none
}

// New is an identity for a filesystem of a geometry.
func (q Request) New(g *geometry.Geometry) (aginit.Identity, error) {
	id, seed := q.UUID, q.Seed
	now := time.Now()
	if seed.Given {
		now = time.Unix(0, 0)
	}
	who := aginit.Identity{Seconds: now.Unix(), Nanos: uint32(now.Nanosecond()), Generation: q.generation()}
	if text := q.Env("SOURCE_DATE_EPOCH"); text != "" {
		sec, err := strconv.ParseInt(strings.TrimLeft(text, " \t\n\v\f\r"), 10, 64)
		switch {
		case err == nil:
			who.Seconds, who.Nanos = sec, 0
		case seed.Given:
			return who, fmt.Errorf("--reproducible: SOURCE_DATE_EPOCH: %q is no number of seconds", text)
		default:
			q.Warn(fmt.Sprintf("SOURCE_DATE_EPOCH: %q is no number of seconds; using the current time", text))
		}
	}
	switch {
	case id.Given:
		who.UUID = ondisk.UUID(id.Value)
	case seed.Given:
		var err error
		who.UUID, err = format.DerivedUUID(g, seed.Text)
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

func (q Request) generation() func() uint32 {
	if q.Seed.Given || q.Env("DETERMINISTIC_SEED") == "1" {
		return func() uint32 { return seedGeneration }
	}
	var drawn [64 * 4]byte // many at a time, as asking takes longer than a number
	left := drawn[:0]
	return func() uint32 {
		if len(left) == 0 {
			left = drawn[:]
			rand.Read(left) // never fails
		}
		n := binary.NativeEndian.Uint32(left)
		left = left[4:]
		return n
	}
}
