package metafile

import (
	"context"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// groupFiles are the files of each realtime group, in the order in which they
// are made.
var groupFiles = []struct {
	suffix string
	meta   ondisk.MetaType
	there  func(*geometry.Geometry) bool
	size   func(*geometry.Geometry) geometry.Blocks // nil for one that is the root of a btree
	block  content
}{
	{
		suffix: "bitmap", meta: ondisk.MetaRTBitmap, there: notZoned, block: bitmapBlock,
		size: func(g *geometry.Geometry) geometry.Blocks { return g.RT.BitmapBlocks },
	},
	{
		suffix: "summary", meta: ondisk.MetaRTSummary, there: notZoned, block: summaryBlock,
		size: func(g *geometry.Geometry) geometry.Blocks { return g.RT.SummaryBlocks },
	},
	{
		suffix: "rmap", meta: ondisk.MetaRTRmap,
		there: func(g *geometry.Geometry) bool { return g.Features.Rmapbt },
	},
	{
		suffix: "refcount", meta: ondisk.MetaRTRefcount,
		there: func(g *geometry.Geometry) bool { return g.Features.Reflink },
	},
}

func notZoned(g *geometry.Geometry) bool { return !g.Features.Zoned }

// metadir makes the metadata directory and the files in it.
func (m *Maker) metadir(ctx context.Context) error {
	t := m.Begin(m.names.Space.Inode())
	root, ok, err := m.names.Root(t, ialloc.New{Mode: ondisk.ModeDirectory, Unlinkable: true})
	if err != nil {
		return err
	}
	if !ok || root.Ino != m.G.MetadirInode() {
		return ErrNoRoom
	}
	metadata(root, ondisk.MetaDirectory)
	if err := t.Commit(); err != nil {
		return err
	}
	m.count()
	groups, err := m.create(root, "rtgroups", ondisk.ModeDirectory, ondisk.MetaDirectory, nil)
	if err != nil {
		return err
	}
	for n := range m.G.RT.GroupCount {
		if err := m.group(ctx, groups, n); err != nil {
			return err
		}
	}
	return nil
}

// metadata marks a file of metadata, which user space does not see, and says what it is for
// (xfs_metafile_set_iflag).
func metadata(ip *inode.Inode, t ondisk.MetaType) {
	ip.Core.Metadata = t
	ip.Core.Flags2 |= ondisk.Flag2Metadata
	ip.Core.Flags |= inode.MetadataFlags
	if t == ondisk.MetaDirectory {
		ip.Core.Flags |= inode.MetadirFlags
	}
}

// create makes a file in a directory. more completes it.
func (m *Maker) create(dp *inode.Inode, name string, mode uint16, t ondisk.MetaType,
	more func(ip *inode.Inode)) (*inode.Inode, error) {
	tr := m.Begin(m.names.Space.Create(len(name)))
	ip, ok, err := m.names.Create(tr, dp, name, ialloc.New{Mode: mode})
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNoRoom
	}
	metadata(ip, t)
	if more != nil {
		more(ip)
	}
	m.Used(ip.Ino)
	m.count()
	return ip, tr.Commit()
}

// group makes the files of a realtime group.
func (m *Maker) group(ctx context.Context, dp *inode.Inode, n geometry.GroupNumber) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.files = m.files[:0]
	for i := range groupFiles {
		row := &groupFiles[i]
		if !row.there(m.G) {
			continue
		}
		ip, err := m.create(dp, name(n, row.suffix), ondisk.ModeRegular, row.meta, func(ip *inode.Inode) {
			ip.Core.ProjectID = uint32(n)
			if row.size != nil {
				ip.Core.Size = uint64(m.G.Bytes(row.size(m.G)))
			} else {
				ip.Data.Reset(ondisk.FormatMetaBtree)
				ondisk.PutMetaLeaf(ip.Data.Resize(metaLeaf), 0)
			}
		})
		if err != nil {
			return err
		}
		if row.meta == ondisk.MetaRTRmap && n == 0 && m.G.HasRealtimeSuper() {
			if err := m.ownSuper(ip); err != nil {
				return err
			}
		}
		if row.size != nil {
			m.files = append(m.files, file{ip: ip, group: n, name: row.suffix + " of a realtime group", block: row.block})
		} else {
			ip.Release()
		}
	}
	for i := range m.files {
		if err := m.fill(&m.files[i]); err != nil {
			return err
		}
		m.files[i].ip.Release()
	}
	return nil
}

// metaLeaf is the length of the root of a btree in an inode that has no records.
const metaLeaf = 4

// ownSuper enters the superblock of the realtime section among the owners of the first group.
func (m *Maker) ownSuper(ip *inode.Inode) error {
	t := m.Begin(0)
	records := ondisk.PutMetaLeaf(ip.Data.Resize(metaLeaf+ondisk.RmapRecordSize), 1)
	ondisk.RmapRecord{Blocks: uint32(m.G.RT.Extent), Owner: ondisk.OwnFS}.Put(records)
	ip.Log(t)
	return t.Commit()
}
