package inode

import (
	"errors"
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Read reads an inode that is in use and its forks, all extents included. It is an
// error if it is free, or damaged.
func Read(t *live.Trans, ino geometry.Inode) (*Inode, error) {
	_, b, err := get(t, ino)
	if err != nil {
		return nil, err
	}
	ip := New(ino)
	if err := ip.read(t, b); err != nil {
		ip.Release()
		return nil, fmt.Errorf("inode %d: %w", ino, err)
	}
	return ip, nil
}

func (ip *Inode) read(t *live.Trans, b []byte) error {
	core, ok := &ip.Core, false
	*core, ok = ondisk.DecodeInode(b)
	switch {
	case !ok:
		return errors.New("there is none: the magic number is another")
	case core.Mode == 0:
		return errors.New("it is free")
	}
	if core.Version == 1 {
		widenLinks(core)
	}
	if err := check(t.FS, ip.Ino, core); err != nil {
		return err
	}
	ip.ForkOffset = 8 * int(core.ForkOffset)
	body := b[ondisk.CoreSize(t.V5):]
	data, attr := ExtentCounts(core)
	if err := ip.Data.read(t, ip, body[:ip.Room(t.FS, false)], core.Format, data, false); err != nil {
		return fmt.Errorf("data fork: %w", err)
	}
	if ip.ForkOffset == 0 {
		return nil
	}
	if err := ip.Attr.read(t, ip, body[ip.ForkOffset:], core.AttrFormat, attr, true); err != nil {
		return fmt.Errorf("attribute fork: %w", err)
	}
	return nil
}

// widenLinks makes an inode of version 1 one of version 2, which counts links
// elsewhere and belongs to a project.
func widenLinks(core *ondisk.Inode) {
	core.Version, core.Nlink, core.Metadata, core.ProjectID = 2, uint32(core.Metadata), 0, 0
}

// ExtentCounts is how many extents the forks have, as the core tells: in fields that
// depend on a flag.
func ExtentCounts(core *ondisk.Inode) (data, attr uint64) {
	if core.Flags2&ondisk.Flag2Nrext64 != 0 {
		return core.BigExtents, uint64(core.Extents)
	}
	return uint64(core.Extents), uint64(core.AttrExtents)
}

// read reads a fork with so many extents.
func (f *Fork) read(t *live.Trans, ip *Inode, b []byte, format ondisk.Format, extents uint64, attr bool) error {
	f.Reset(format)
	switch format {
	case ondisk.FormatDev:
		f.Device = ondisk.Device(b)
	case ondisk.FormatLocal:
		n, ok := int(ip.Core.Size), true // which check has compared with the room
		if attr {
			n, ok = ondisk.LocalAttrSize(b)
		}
		if !ok || n > len(b) {
			return fmt.Errorf("it would have %d bytes of %d", n, len(b))
		}
		copy(f.Resize(n), b)
	case ondisk.FormatMetaBtree:
		copy(f.Resize(len(b)), b)
	case ondisk.FormatExtents:
		for i := range int(extents) {
			if err := f.add(t.FS, ip, DecodeExtent(b[i*ondisk.FileExtentSize:]), attr); err != nil {
				return err
			}
		}
	case ondisk.FormatBtree:
		return f.readTree(t, ip, b, extents, attr)
	}
	return nil
}

// add enters an extent behind those that there are, if it makes sense.
func (f *Fork) add(fs *live.FS, ip *Inode, e Extent, attr bool) error {
	behind := uint64(0)
	if n := len(f.Extents); n > 0 {
		behind = f.Extents[n-1].End()
	}
	switch {
	case e.Blocks == 0 || e.Offset > MaxOffset || e.End()-1 > MaxOffset:
		return fmt.Errorf("an extent of %d blocks at %d is none", e.Blocks, e.Offset)
	case e.Offset < behind:
		return fmt.Errorf("an extent at %d follows on one that ends at %d", e.Offset, behind)
	case e.Unwritten && attr:
		return fmt.Errorf("the extent at %d is unwritten", e.Offset)
	case !fs.HasExtent(ip.Core.Flags&ondisk.FlagRealtime != 0 && !attr, e.Start, e.Blocks):
		return fmt.Errorf("the extent at %d, of %d blocks from %#x on, is outside of the filesystem", e.Offset, e.Blocks,
			uint64(e.Start))
	}
	f.Extents = append(f.Extents, e)
	return nil
}
