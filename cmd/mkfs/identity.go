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
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// seedGeneration is the generation of all inodes with DETERMINISTIC_SEED=1: "SEED".
const seedGeneration = 0x53454544

// identity gathers what is neither geometry nor asked for: the time, the
// UUID and random numbers. The environment may fix them, so that equal
// inputs give equal bytes.
func identity(id geometry.Opt[[16]byte], warn func(string)) (aginit.Identity, error) {
	now := time.Now()
	who := aginit.Identity{Seconds: now.Unix(), Nanos: uint32(now.Nanosecond()), Generation: generation()}
	if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" {
		sec, err := strconv.ParseInt(strings.TrimLeft(text, " \t\n\v\f\r"), 10, 64)
		if err != nil {
			warn(fmt.Sprintf("SOURCE_DATE_EPOCH: %q is no number of seconds; using the current time", text))
		} else {
			who.Seconds, who.Nanos = sec, 0
		}
	}
	if id.Given {
		who.UUID = ondisk.UUID(id.Value)
		return who, nil
	}
	random, err := uuid.NewRandom()
	who.UUID = ondisk.UUID(random)
	return who, err
}

func generation() func() uint32 {
	if os.Getenv("DETERMINISTIC_SEED") == "1" {
		return func() uint32 { return seedGeneration }
	}
	return func() uint32 {
		var b [4]byte
		rand.Read(b[:]) // never fails
		return binary.NativeEndian.Uint32(b[:])
	}
}
