package against

import (
	"fmt"
	"math/bits"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
)

// metadata notes that the files of the filesystem itself are seen, which no directory of users names.
func (c *comparer) metadata() error {
	sb := c.Super
	if c.FS.G.Features.Metadir {
		_, err := c.adopt("metadata directory", ino(sb.MetadirInode))
		return err
	}
	for _, n := range [...]uint64{sb.BitmapInode, sb.SummaryInode, sb.UserQuota, sb.GroupQuota, sb.ProjectQuota} {
		if n != 0 && ino(n) != geometry.NullInode {
			c.seen.add(n)
		}
	}
	return nil
}

// checkInodes compares the inodes that are in use with those that were seen.
func (c *comparer) checkInodes() error {
	for agno := range c.FS.G.AGCount {
		if err := c.stopped(); err != nil {
			return err
		}
		err := c.step(func() error { return c.checkAG(agno) })
		if err == nil {
			continue
		}
		if err = c.damaged("", fmt.Sprintf("inodes of AG %d", agno), err); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparer) checkAG(agno geometry.AGNumber) error {
	inodes, free, err := c.FS.InodeCounts(agno)
	if err != nil {
		return err
	}
	used := 0
	for chunk, err := range ialloc.Used(c.t, agno) {
		if err != nil {
			return err
		}
		used += bits.OnesCount64(chunk.Used)
		c.checkChunk(chunk)
	}
	if want := int(inodes) - int(free); used != want {
		c.tell(Difference{What: fmt.Sprintf("AG %d", agno), Fault: fmt.Sprintf("the AGI counts %d inodes in use, the inobt has %d", want, used)})
	}
	return nil
}

// checkChunk tells of inodes that are in use without a name. Where names could not be read there may be
// some.
func (c *comparer) checkChunk(chunk ialloc.Chunk) {
	seen := c.seen.from(uint64(chunk.First))
	for wrong := seen ^ chunk.Used; wrong != 0; wrong &= wrong - 1 {
		bit := bits.TrailingZeros64(wrong)
		at := chunk.First + ino(bit)
		switch {
		case seen>>bit&1 != 0:
			c.tell(Difference{What: inodeText(at), Fault: "it is free in the inobt, and has a name"})
		case !c.blind:
			c.tell(Difference{What: inodeText(at), Fault: "it is in use, and has no name"})
		}
	}
}
