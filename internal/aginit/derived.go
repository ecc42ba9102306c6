package aginit

import (
	"crypto/sha256"
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// DerivedUUID is a UUID that follows from a seed and all that the superblock says: sizes,
// features, the label and what is in the filesystem. It is of version 8, for UUIDs of
// one's own making.
func DerivedUUID(g *geometry.Geometry, seed string, made Made) ondisk.UUID {
	sum := sha256.New()
	fmt.Fprintf(sum, "mkfs --reproducible=%d:%s\n", len(seed), seed)
	sum.Write(New(g, Identity{}).Primary(made))
	id := ondisk.UUID(sum.Sum(nil)[:16])
	id[6] = id[6]&0x0f | 0x80 // version
	id[8] = id[8]&0x3f | 0x80 // variant
	return id
}
