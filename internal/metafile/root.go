package metafile

import (
	"context"
	"strconv"

	"mkfs/internal/attr"
	"mkfs/internal/bmap"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// Root makes the root directory.
func (m *Maker) Root() (err error) {
	t := m.Begin(m.names.Space.Inode())
	ip, ok, err := m.names.Root(t, m.RootDir)
	switch {
	case err != nil:
		return err
	case !ok || ip.Ino != m.G.RootInode():
		return ErrRoot
	}
	ip.Core.Generation = 0 // for the sake of backup tools
	m.inherit(&ip.Core)
	m.root = ip
	if err := t.Commit(); err != nil {
		return err
	}
	m.count()
	return nil
}

// inherit sets what files in the root directory are to inherit.
func (m *Maker) inherit(i *ondisk.Inode) {
	in := &m.G.Inherit
	if in.ProjectID.Given {
		i.ProjectID = in.ProjectID.Value
		i.Flags |= ondisk.FlagProjInherit
	}
	if in.ExtentSize.Value > 0 {
		i.ExtentSize = in.ExtentSize.Value
		i.Flags |= ondisk.FlagExtentInherit
	}
	if in.Realtime.Value {
		i.Flags |= ondisk.FlagRTInherit
	}
	if !m.V5 {
		return
	}
	if in.CowExtent.Value > 0 {
		i.CowExtent = in.CowExtent.Value
		i.Flags2 |= ondisk.Flag2CowExtent
	}
	if in.DAX.Value {
		i.Flags2 |= ondisk.Flag2DAX
	}
}

// finishRoot gives the root directory the attribute that tells a background checker how far it may go.
func (m *Maker) finishRoot() error {
	value := m.G.Features.Autofsck
	if value == geometry.AutofsckUnset {
		return nil
	}
	r, err := m.names.Attrs.Set(m.root, attr.Root, []byte(ondisk.AutofsckName), []byte(value), attr.Upsert)
	if err == nil && r != attr.Done {
		err = ErrNoRoom
	}
	return err
}

// realtime makes the bitmap and the summary of the realtime section, which
// exist even without one.
func (m *Maker) realtime(ctx context.Context) (made Made, err error) {
	r := &m.G.RT
	t := m.Begin(m.names.Space.Inode())
	bitmap := file{name: "realtime bitmap", block: bitmapBlock}
	summary := file{name: "realtime summary", block: summaryBlock}
	for _, f := range []struct {
		*file
		size geometry.Blocks
	}{{&bitmap, r.BitmapBlocks}, {&summary, r.SummaryBlocks}} {
		ip, ok, err := m.names.Root(t, ialloc.New{Mode: ondisk.ModeRegular, Unlinkable: true})
		if err != nil {
			return made, err
		}
		if !ok {
			return made, ErrNoRoom
		}
		ip.Core.Size = uint64(m.G.Bytes(f.size))
		f.ip = ip
		m.count()
	}
	// Its access time is a sequence number.
	bitmap.ip.Core.Flags |= ondisk.FlagNewBitmap
	bitmap.ip.Core.Atime = bitmap.ip.EncodeTime(0, 0)
	if err := t.Commit(); err != nil {
		return made, err
	}
	for _, f := range []*file{&bitmap, &summary} {
		if err := m.fill(f); err != nil {
			return made, err
		}
	}
	if r.Blocks > 0 { // everything is made free in it
		t := m.Begin(0)
		bitmap.ip.Log(t)
		if err := t.Commit(); err != nil {
			return made, err
		}
	}
	return Made{Bitmap: bitmap.ip.Ino, Summary: summary.ip.Ino}, ctx.Err()
}

// fill gives a regular file its blocks, each piece in a transaction.
func (m *Maker) fill(f *file) error {
	n := geometry.Blocks(f.ip.Core.Size >> m.G.BlockLog)
	for off := geometry.Blocks(0); off < n; {
		t := m.Begin(n - off)
		list, err := bmap.Write(t, f.ip, bmap.Data, uint64(off), n-off, bmap.Metadata, 0)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return ErrNoRoom
		}
		if err := t.Commit(); err != nil {
			return err
		}
		for _, e := range list {
			if err := m.write(f, e); err != nil {
				return err
			}
			off += e.Blocks
		}
	}
	return nil
}

// write has the blocks of an extent written.
func (m *Maker) write(f *file, e inode.Extent) error {
	if m.Data == nil {
		return nil
	}
	size := int(m.G.BlockSize)
	return m.Data(e.Start, e.Blocks, f.name, func(skip geometry.Blocks, dst []byte) {
		for i := 0; i < len(dst); i, skip = i+size, skip+1 {
			f.block(m.FS, f, geometry.Blocks(e.Offset)+skip, e.Start+geometry.FSBlock(skip), dst[i:][:size])
		}
	})
}

// Inodes is how many inodes All makes.
func (m *Maker) Inodes() int64 {
	if !m.G.Features.Metadir {
		return 3
	}
	n := int64(3)
	for _, row := range groupFiles {
		if row.there(m.G) {
			n += int64(m.G.RT.GroupCount)
		}
	}
	return n
}

// Used notes that an inode is in use, so that FinobtBlocks looks at its AG.
func (m *Maker) Used(ino geometry.Inode) {
	if agno, _ := m.G.InodeAddress(ino); agno != m.ag {
		m.ag, m.ags[agno] = agno, true
	}
}

// FinobtBlocks is how many blocks the finobt has in each AG that has inodes.
func (m *Maker) FinobtBlocks() (map[geometry.AGNumber]geometry.Blocks, error) {
	blocks := map[geometry.AGNumber]geometry.Blocks{}
	if !m.G.Features.Finobt {
		return blocks, nil
	}
	for agno := range m.ags {
		t := m.Begin(0)
		n, err := ialloc.FinobtBlocks(t, agno)
		if err != nil {
			return nil, err
		}
		blocks[agno] = n
		if err := t.Commit(); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// name is that of a group's file.
func name(group geometry.GroupNumber, suffix string) string {
	var room [32]byte
	b := strconv.AppendUint(room[:0], uint64(group), 10)
	b = append(b, '.')
	return string(append(b, suffix...))
}
