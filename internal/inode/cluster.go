package inode

import (
	"errors"
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// place is where an inode is: its cluster, and its bytes in that.
type place struct {
	off    int64 // of the cluster
	n      int
	at, to int
}

// locate finds an inode's cluster (xfs_imap). Clusters are counted from the start of the
// chunk: where chunks are not aligned only the inobt knows that.
func locate(t *live.Trans, ino geometry.Inode) (p place, err error) {
	g := t.G
	agno, agino := g.InodeAddress(ino)
	agbno := geometry.AGBlock(agino >> g.InodeBlockLog())
	switch {
	case g.InodeOf(agno, agino) != ino || agno >= g.AGCount:
		return p, fmt.Errorf("inode %d: it would be behind AG %d, the last", ino, g.AGCount-1)
	case geometry.Blocks(agbno) < g.SectorBlocks() || geometry.Blocks(agbno) >= g.AGLength(agno):
		return p, fmt.Errorf("inode %d: it would be in block %d of AG %d, which has %d", ino, agbno, agno, g.AGLength(agno))
	}
	c := t.InodeChunk()
	n := c.ClusterBlocks
	cluster := agbno
	if n > 1 {
		chunk := agbno
		if c.Align > 1 {
			chunk = agbno &^ geometry.AGBlock(c.Align-1)
		} else if chunk, err = chunkOf(t, agno, agino); err != nil {
			return p, fmt.Errorf("inode %d: %w", ino, err)
		}
		cluster = chunk + (agbno-chunk)/geometry.AGBlock(n)*geometry.AGBlock(n)
	}
	if geometry.Blocks(cluster)+n > g.AGLength(agno) {
		return p, fmt.Errorf("inode %d: its cluster would end behind AG %d", ino, agno)
	}
	size := int(g.InodeSize)
	p = place{off: t.Offset(agno, cluster), n: int(g.Bytes(n))}
	p.at = int(g.Bytes(geometry.Blocks(agbno-cluster))) + int(agino)&(g.InodesPerBlock()-1)*size
	p.to = p.at + size
	return p, nil
}

// get returns the cluster of an inode, and the inode's bytes in it.
func get(t *live.Trans, ino geometry.Inode) (*buffer.Buf, []byte, error) {
	p, err := locate(t, ino)
	if err != nil {
		return nil, nil, err
	}
	k := ClusterKind(t.FS)
	b, err := t.Get(p.off, p.n, k)
	if err != nil {
		return nil, nil, fmt.Errorf("inode %d: %w", ino, err)
	}
	if b.Kind != k {
		return nil, nil, fmt.Errorf("inode %d: its block is in use as %s", ino, b.Kind.Name)
	}
	return b, b.Data[p.at:p.to], nil
}

// kinds are clusters of inodes of 256 to 2048 bytes, of V4 and V5.
var kinds = func() (list [2][4]buffer.Kind) {
	for v5, kinds := range list {
		for log := range kinds {
			size := 256 << log
			k := &list[v5][log]
			k.Name = "inodes"
			k.Check = func(b []byte, _ int64) error { return checkCluster(b, size, v5 != 0) }
			if v5 != 0 {
				k.Seal = func(b []byte) { sealCluster(b, size) }
			}
		}
	}
	return list
}()

// ClusterKind is the kind of buffer that holds a cluster of inodes. Each inode of V5 has a
// checksum of its own. All are checked when a cluster is read, for all are sealed when it
// is written.
func ClusterKind(fs *live.FS) *buffer.Kind {
	v5 := 0
	if fs.V5 {
		v5 = 1
	}
	return &kinds[v5][fs.G.InodeLog-8]
}

func checkCluster(b []byte, size int, v5 bool) error {
	for i := 0; i+size <= len(b); i += size {
		if err := checkInCluster(b[i:][:size], v5); err != nil {
			return fmt.Errorf("inode %d of it: %w", i/size, err)
		}
	}
	return nil
}

func checkInCluster(b []byte, v5 bool) error {
	version, ok := ondisk.InodeVersion(b)
	switch {
	case !ok:
		return errors.New("there is none: the magic number is another")
	case v5 && version != 3 || !v5 && version != 1 && version != 2:
		return fmt.Errorf("the version is %d", version)
	case v5 && !ondisk.Sealed(b, ondisk.InodeCRC):
		return errors.New("the checksum is wrong")
	}
	return nil
}

func sealCluster(b []byte, size int) {
	for i := 0; i+size <= len(b); i += size {
		ondisk.Seal(b[i:][:size], ondisk.InodeCRC)
	}
}
