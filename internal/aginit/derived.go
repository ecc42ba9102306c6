package aginit

import (
	"crypto/sha256"
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// DerivedUUID is a UUID that follows from a seed and all that the superblock says: sizes,
// features and the label. It is of version 8, for UUIDs of one's own making.
func DerivedUUID(g *geometry.Geometry, seed string, generation func() uint32) ondisk.UUID {
	sum := sha256.New()
	fmt.Fprintf(sum, "mkfs --reproducible=%d:%s\n", len(seed), seed)
	sum.Write(New(g, Identity{Generation: generation}).Primary())
	id := ondisk.UUID(sum.Sum(nil)[:16])
	id[6] = id[6]&0x0f | 0x80 // version
	id[8] = id[8]&0x3f | 0x80 // variant
	return id
}
