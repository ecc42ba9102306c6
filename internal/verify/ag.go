package verify

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
	"mkfs/internal/super"
)

// checker checks one AG after the other, in memory that it uses again.
type checker struct {
	*verifier
	no     geometry.AGNumber
	length uint32

	header []byte                // from the AG's start to where the last btree root usually is
	roots  [len(rootRows)][]byte // the blocks of the roots; nil where there is none to be had

	copy    ondisk.Superblock
	agf     ondisk.AGF
	agi     ondisk.AGI
	hasAGF  bool // agf was decoded from a sound sector
	hasAGI  bool
	tallies [len(rootRows)]tally
	bnobt   rootBlock // of the free list's check
	other   rootBlock // of all other checks

	tellers [placeRoots + place(len(rootRows))]func(string) // made once
}

func newChecker(v *verifier) *checker {
	c := &checker{verifier: v}
	for i := range c.tellers {
		c.tellers[i] = func(message string) { c.tell(place(i), message) }
	}
	return c
}

// agRule is a check of a structure S within an AG.
type agRule[S any] = rule.Rule[*checker, S]

var agfRules = []agRule[ondisk.AGF]{
	rule.Of("sequence number", func(c *checker, a *ondisk.AGF) string { return rule.Is(a.Seqno, uint32(c.no)) }),
	rule.Of("UUID", func(c *checker, a *ondisk.AGF) string { return c.isMetaUUID(a.UUID) }),
	rule.Of("length", func(c *checker, a *ondisk.AGF) string { return rule.Is(a.Length, c.length) }),
	rule.Of("LSN", func(c *checker, a *ondisk.AGF) string { return c.fs.isLSN(a.LSN) }),
	rule.Of("flfirst", func(c *checker, a *ondisk.AGF) string { return rule.Within(a.FreeFirst, 0, c.fs.listSize-1) }),
	rule.Of("fllast", func(c *checker, a *ondisk.AGF) string { return rule.Within(a.FreeLast, 0, c.fs.listSize-1) }),
	rule.Of("flcount", func(c *checker, a *ondisk.AGF) string {
		if text := rule.Within(a.FreeCount, 0, c.fs.listSize); text != "" {
			return text
		}
		if a.FreeFirst >= c.fs.listSize || a.FreeLast >= c.fs.listSize {
			return ""
		}
		// An empty list and a full one have the same ends.
		n := (a.FreeLast+c.fs.listSize-a.FreeFirst)%c.fs.listSize + 1
		if a.FreeCount == n || a.FreeCount == 0 && n == c.fs.listSize {
			return ""
		}
		return fmt.Sprintf("is %d, flfirst %d and fllast %d make %d", a.FreeCount, a.FreeFirst, a.FreeLast, n)
	}),
	rule.Of("freeblks", func(c *checker, a *ondisk.AGF) string { return rule.Within(a.FreeBlocks, 0, c.length) }),
	rule.Of("longest", func(_ *checker, a *ondisk.AGF) string { return rule.Within(a.Longest, 0, a.FreeBlocks) }),
	rule.Of("btreeblks", func(c *checker, a *ondisk.AGF) string {
		if !c.fs.Lazy {
			return ""
		}
		return rule.Within(a.BtreeBlocks, 0, c.length)
	}),
	rule.Of("number of rmapbt blocks", func(c *checker, a *ondisk.AGF) string {
		if !c.fs.Geometry.Features.Rmapbt {
			return ""
		}
		return rule.Within(a.RmapBlocks, 1, c.length)
	}),
	rule.Of("number of refcountbt blocks", func(c *checker, a *ondisk.AGF) string {
		if !c.fs.Geometry.Features.Reflink {
			return ""
		}
		return rule.Within(a.RefcountBlocks, 1, c.length)
	}),
}

var agiRules = []agRule[ondisk.AGI]{
	rule.Of("sequence number", func(c *checker, a *ondisk.AGI) string { return rule.Is(a.Seqno, uint32(c.no)) }),
	rule.Of("UUID", func(c *checker, a *ondisk.AGI) string { return c.isMetaUUID(a.UUID) }),
	rule.Of("length", func(c *checker, a *ondisk.AGI) string { return rule.Is(a.Length, c.length) }),
	rule.Of("LSN", func(c *checker, a *ondisk.AGI) string { return c.fs.isLSN(a.LSN) }),
	rule.Of("count", func(c *checker, a *ondisk.AGI) string {
		return rule.Within(uint64(a.Count), 0, uint64(c.length)<<c.fs.Geometry.InodeBlockLog())
	}),
	rule.Of("freecount", func(_ *checker, a *ondisk.AGI) string { return rule.Within(a.FreeCount, 0, a.Count) }),
	rule.Of("newino", func(c *checker, a *ondisk.AGI) string { return c.isInode(a.NewInode) }),
	rule.Of("unlinked list", func(c *checker, a *ondisk.AGI) string {
		for i, ino := range &a.Unlinked {
			if text := c.isInode(ino); text != "" {
				return fmt.Sprintf("%d %s", i, text)
			}
		}
		return ""
	}),
	rule.Of("number of inobt blocks", func(c *checker, a *ondisk.AGI) string {
		if !c.fs.Geometry.Features.InobtCount {
			return ""
		}
		return rule.Within(a.InodeBlocks, 1, c.length)
	}),
	rule.Of("number of finobt blocks", func(c *checker, a *ondisk.AGI) string {
		if !c.fs.Geometry.Features.InobtCount || !c.fs.Geometry.Features.Finobt {
			return ""
		}
		return rule.Within(a.FreeBlocks, 1, c.length)
	}),
}

var agflRules = []agRule[ondisk.AGFL]{
	rule.Of("sequence number", func(c *checker, a *ondisk.AGFL) string { return rule.Is(a.Seqno, uint32(c.no)) }),
	rule.Of("UUID", func(c *checker, a *ondisk.AGFL) string { return c.isMetaUUID(a.UUID) }),
	rule.Of("LSN", func(c *checker, a *ondisk.AGFL) string { return c.fs.isLSN(a.LSN) }),
}

// check is all that is checked of an AG. header and roots are set.
func (c *checker) check() {
	c.length = uint32(c.fs.Geometry.AGLength(c.no))
	c.tallies = [len(rootRows)]tally{}
	if c.no > 0 {
		c.secondary()
	}
	c.hasAGF, c.hasAGI = false, false
	if b := c.sector(placeAGF, ondisk.AGFMagic, ondisk.AGFCRC); b != nil {
		c.version(placeAGF, b)
		c.agf, c.hasAGF = ondisk.DecodeAGF(b)
		rule.Apply(agfRules, c, &c.agf, c.teller(placeAGF))
	}
	if b := c.sector(placeAGI, ondisk.AGIMagic, ondisk.AGICRC); b != nil {
		c.version(placeAGI, b)
		c.agi, c.hasAGI = ondisk.DecodeAGI(b)
		rule.Apply(agiRules, c, &c.agi, c.teller(placeAGI))
	}
	for i := range rootRows {
		if rootRows[i].there(&c.fs) {
			c.root(i)
		}
	}
	c.freeList()
	if c.fs.settled {
		c.cross()
	}
	c.sum()
}

func (c *checker) tell(p place, message string) { c.fault(c.no, p, c.offset(p), message) }

// teller is tell for one structure.
func (c *checker) teller(p place) func(string) { return c.tellers[p] }

// offset is where a structure of the AG is.
func (c *checker) offset(p place) geometry.Bytes {
	if p >= placeRoots {
		block, _ := rootRows[p-placeRoots].at(&c.agf, &c.agi)
		return c.fs.Geometry.Offset(c.no, geometry.AGBlock(block))
	}
	return c.fs.Geometry.Offset(c.no, 0) + geometry.Bytes(p)*c.fs.Geometry.SectorSize
}

// sector returns one of the header sectors, if it is what it should be.
func (c *checker) sector(p place, magic uint32, crc int) []byte {
	size := int(c.fs.Geometry.SectorSize)
	b := c.header[int(p)*size:][:size]
	if got := ondisk.FirstWord(b); got != magic {
		c.tell(p, fmt.Sprintf("the magic number is %#x, not %#x", got, magic))
		return nil
	}
	if c.fs.V5 && !ondisk.Sealed(b, crc) {
		c.tell(p, super.BadChecksum)
		return nil
	}
	return b
}

func (c *checker) version(p place, b []byte) {
	if text := rule.Is(ondisk.AGVersion(b), ondisk.AGHeaderVersion); text != "" {
		c.tell(p, "version "+text)
	}
}

// secondary checks the AG's copy of the superblock.
func (c *checker) secondary() {
	if b := c.sector(placeSuperblock, ondisk.SuperblockMagic, ondisk.SuperblockCRC); b != nil {
		c.copy, _ = ondisk.DecodeSuperblock(b)
		rule.Apply(copyRules, &c.fs.SB, &c.copy, c.teller(placeSuperblock))
	}
}

func (c *checker) isMetaUUID(u ondisk.UUID) string {
	if !c.fs.V5 {
		return ""
	}
	return rule.IsUUID(u, c.fs.MetaUUID)
}

// isInode checks the number of an inode within the AG, or that it is null.
func (c *checker) isInode(agino uint32) string {
	block := uint64(agino) >> c.fs.Geometry.InodeBlockLog()
	if agino == geometry.NullAGInode || block >= uint64(c.fs.sectors) && block < uint64(c.length) {
		return ""
	}
	return fmt.Sprintf("is %d, which is no inode of the AG", agino)
}

// isExtent checks that blocks lie in the AG behind its header sectors.
func (c *checker) isExtent(start, blocks uint32) bool {
	return blocks > 0 && start >= c.fs.sectors && uint64(start)+uint64(blocks) <= uint64(c.length)
}

// sum adds the AG's counters to those of the filesystem.
func (c *checker) sum() {
	if !c.hasAGF || !c.hasAGI {
		c.fs.uncounted = true
		return
	}
	s := &c.report.Sums
	s.FreeBlocks += uint64(c.agf.FreeBlocks) + uint64(c.agf.FreeCount) + uint64(c.agf.BtreeBlocks)
	s.Inodes += uint64(c.agi.Count)
	s.FreeInodes += uint64(c.agi.FreeCount)
}
