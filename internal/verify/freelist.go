package verify

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
)

// freeList checks the AGFL: its header, which V4 does not have, and its
// entries. Those in use are known by the AGF.
func (c *checker) freeList() {
	size := int(c.fs.Geometry.SectorSize)
	b := c.header[int(placeAGFL)*size:][:size]
	if c.fs.V5 {
		if b = c.sector(placeAGFL, ondisk.AGFLMagic, ondisk.AGFLCRC); b == nil {
			return
		}
		a, _ := ondisk.DecodeAGFL(b)
		rule.Apply(agflRules, c, &a, c.teller(placeAGFL))
	}
	list := ondisk.FreeList(b, c.fs.V5)
	if c.fs.V5 { // V4 has anything in unused entries
		for i := range c.fs.listSize {
			if e := ondisk.FreeListEntry(list, int(i)); e != geometry.NullAGBlock &&
				uint64(e) >= uint64(c.fs.Geometry.AGBlocks) {
				c.tell(placeAGFL, fmt.Sprintf("entry %d is block %d, beyond the AG", i, e))
			}
		}
	}
	if c.fs.settled && c.hasAGF && c.agf.FreeFirst < c.fs.listSize {
		c.activeList(list, min(c.agf.FreeCount, c.fs.listSize))
	}
}

// activeList checks the n entries in use: each is a block of the AG, once, and
// neither free nor a root.
func (c *checker) activeList(list []byte, n uint32) {
	entry := func(i uint32) uint32 {
		return ondisk.FreeListEntry(list, int((c.agf.FreeFirst+i)%c.fs.listSize))
	}
	free := &c.tallies[rootBno]
	for i := range n {
		e := entry(i)
		wrong := ""
		switch {
		case !c.isExtent(e, 1):
			wrong = "is no block of the AG"
		case free.known && c.isFree(e):
			wrong = "is free as well, says the bnobt"
		case c.isRoot(e):
			wrong = "is a btree root"
		}
		for j := uint32(0); j < min(i, maxTwice) && wrong == ""; j++ {
			if entry(j) == e {
				wrong = "is there twice"
			}
		}
		if wrong != "" {
			c.tell(placeAGFL, fmt.Sprintf("entry %d is block %d, which %s", i, e, wrong))
		}
	}
}

// maxTwice bounds the search for entries that are there twice. Lists have a
// few dozen entries at most.
const maxTwice = 64

// isFree looks for a block in the bnobt's leaf.
func (c *checker) isFree(agbno uint32) bool {
	leaf := &c.bnobt
	lo, hi := 0, int(leaf.Records) // the first record that ends behind the block
	for lo < hi {
		mid := (lo + hi) / 2
		if r := leaf.extent(mid); r.Start+r.Blocks <= agbno {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < int(leaf.Records) && leaf.extent(lo).Start <= agbno
}

func (c *checker) isRoot(agbno uint32) bool {
	for i := range rootRows {
		if at, _ := rootRows[i].at(&c.agf, &c.agi); c.roots[i] != nil && at == agbno {
			return true
		}
	}
	return false
}
