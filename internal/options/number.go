package options

import (
	"fmt"

	"mkfs/internal/cnumber"
	"mkfs/internal/geometry"
)

// units are those of sizes.
var units = map[cnumber.Unit]geometry.Unit{
	cnumber.Bytes: geometry.UnitBytes, cnumber.Sectors: geometry.UnitSectors, cnumber.Blocks: geometry.UnitBlocks,
}

// parseSize reads a size. reason tells what is wrong.
func parseSize(text string) (size geometry.Size, reason string) {
	count, unit, reason := cnumber.Size(text)
	return geometry.Size{Count: count, Unit: units[unit], Text: text}, reason
}

// ParseBytes reads a size in bytes, as parseSize does, without sectors and blocks.
func ParseBytes(text string) (int64, error) {
	size, reason := parseSize(text)
	switch {
	case reason != "":
		return 0, fmt.Errorf("%q %s", text, reason)
	case size.Unit != geometry.UnitBytes:
		return 0, fmt.Errorf("%q is in sectors or blocks; only bytes, k, m, g, t, p and e make sense here", text)
	case size.Count < 0:
		return 0, fmt.Errorf("%q is negative", text)
	}
	return size.Count, nil
}
