package ialloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
)

// FinobtBlocks counts the blocks of an AG's finobt.
func FinobtBlocks(t *live.Trans, agno geometry.AGNumber) (geometry.Blocks, error) {
	g, err := open(t, agno)
	if err != nil {
		return 0, err
	}
	return g.fino.Blocks(t)
}
