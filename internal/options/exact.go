package options

import (
	"fmt"

	"mkfs/internal/geometry"
)

// What lines of a file that makes the same filesystem say, where that is more
// than the property of a suboption.

// oneSector tells whether data and log have sectors of the same size, which one
// option gives to both.
func oneSector(g *geometry.Geometry) bool { return g.SectorSize == g.Log.SectorSize }

func commonSector(g *geometry.Geometry) string {
	if !oneSector(g) {
		return ""
	}
	return fmt.Sprint(g.SectorSize)
}

func dataSector(g *geometry.Geometry) string {
	if oneSector(g) {
		return ""
	}
	return fmt.Sprint(g.SectorSize)
}

func logSector(g *geometry.Geometry) string {
	if oneSector(g) {
		return ""
	}
	return fmt.Sprint(g.Log.SectorSize)
}

// basicBlocks is a stripe in blocks of 512 bytes, or "" for none.
func basicBlocks(g *geometry.Geometry, n geometry.Blocks) string {
	return unlike(int64(g.Bytes(n)/geometry.BasicBlock), 0)
}

func logAG(g *geometry.Geometry) string {
	if g.Log.External {
		return ""
	}
	return fmt.Sprint(g.Log.AG)
}

// realtimeExtent says nothing where an allocation unit that is given is refused,
// whatever it is: in zones, and where blocks of the realtime section are shared.
func realtimeExtent(g *geometry.Geometry) string {
	if g.Features.Zoned || g.Features.Reflink && g.RT.Blocks > 0 {
		return ""
	}
	return fmt.Sprint(g.Bytes(g.RT.Extent))
}

// realtimeSize is the size of the realtime section without the zones that come
// on top of what is asked for.
func realtimeSize(g *geometry.Geometry) string {
	n := g.RT.Blocks
	if g.Features.Zoned {
		n -= min(n, geometry.ReservedZones*g.RT.GroupBlocks)
	}
	return unlike(int64(g.Bytes(n)), 0)
}

// groupSize is none without the metadata directory.
func groupSize(g *geometry.Geometry) string {
	return unlike(int64(g.Bytes(g.RT.GroupBlocks)), 0)
}
