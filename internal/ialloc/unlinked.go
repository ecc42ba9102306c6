package ialloc

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Unlink puts an inode that no directory names any more at the head of its list of
// unlinked inodes in the AGI, from which it is freed when nobody has it open any more
// (xfs_iunlink).
func Unlink(t *live.Trans, ip *inode.Inode) error {
	agno, agino := t.G.InodeAddress(ip.Ino)
	g, err := open(t, agno)
	if err != nil {
		return err
	}
	bucket := int(agino % ondisk.UnlinkedBuckets)
	head := g.Unlinked(bucket)
	if head == agino || head != geometry.NullAGInode && !g.hasInode(head) {
		return g.errorf("AGI", "inode %d cannot be put on the list of unlinked inodes that begins with %d", agino, head)
	}
	if head != geometry.NullAGInode {
		if err := inode.SetNextUnlinked(t, ip.Ino, head); err != nil {
			return err
		}
	}
	g.SetUnlinked(bucket, agino)
	g.changed()
	return nil
}

// Unlinked lists the unlinked inodes of an AG, each list from its head on. An inode that
// is on a list twice is an error.
func Unlinked(t *live.Trans, agno geometry.AGNumber) (list []geometry.Inode, err error) {
	g, err := open(t, agno)
	if err != nil {
		return nil, err
	}
	for bucket := range ondisk.UnlinkedBuckets {
		err := g.walkList(bucket, func(agino uint32) bool {
			list = append(list, t.G.InodeOf(agno, agino))
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// unlist takes an inode off its list of unlinked ones, and tells whether it was on it
// (xfs_iunlink_remove).
func (g *group) unlist(ip *inode.Inode) (bool, error) {
	_, agino := g.t.G.InodeAddress(ip.Ino)
	bucket := int(agino % ondisk.UnlinkedBuckets)
	before, on := uint32(geometry.NullAGInode), false
	err := g.walkList(bucket, func(at uint32) bool {
		if on = at == agino; !on {
			before = at
		}
		return !on
	})
	if err != nil || !on {
		return false, err
	}
	next, err := inode.NextUnlinked(g.t, ip.Ino)
	if err != nil {
		return false, err
	}
	if err := inode.SetNextUnlinked(g.t, ip.Ino, geometry.NullAGInode); err != nil {
		return false, err
	}
	if before == geometry.NullAGInode {
		g.SetUnlinked(bucket, next)
		g.changed()
		return true, nil
	}
	return true, inode.SetNextUnlinked(g.t, g.t.G.InodeOf(g.agno, before), next)
}

// walkList calls visit with each inode of a list, until it returns false.
func (g *group) walkList(bucket int, visit func(agino uint32) bool) error {
	agino := g.Unlinked(bucket)
	mark := geometry.NullAGInode // an inode that was visited: the 1st, 2nd, 4th, ...
	for n := 0; agino != geometry.NullAGInode; n++ {
		switch {
		case !g.hasInode(agino) || int(agino%ondisk.UnlinkedBuckets) != bucket:
			return g.errorf("AGI", "inode %d is on list %d of unlinked inodes", agino, bucket)
		case agino == mark:
			return g.errorf("AGI", "list %d of unlinked inodes goes in circles", bucket)
		case n&(n-1) == 0:
			mark = agino
		}
		if !visit(agino) {
			return nil
		}
		var err error
		if agino, err = inode.NextUnlinked(g.t, g.t.G.InodeOf(g.agno, agino)); err != nil {
			return fmt.Errorf("list %d of unlinked inodes of AG %d: %w", bucket, g.agno, err)
		}
	}
	return nil
}

// hasInode tells whether the AG may have an inode.
func (g *group) hasInode(agino uint32) bool {
	return uint64(agino) >= g.first && uint64(agino) < g.end
}
