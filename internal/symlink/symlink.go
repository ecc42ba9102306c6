// Package symlink has the targets of symbolic links.
//
// A target is in the inode if it fits its data fork, else in blocks of that fork: one, or a few
// where blocks are small. In V5 each run of blocks has a header, which says which part of the target
// it has; a run is worked on as one buffer and has one checksum.
//
//	inode    the target
//	blocks   +--------+-------------------------+   of V5; without the headers of V4
//	         | header | a part of the target    |   for each extent
//	         +--------+-------------------------+
//
// The rules are those of xfs_symlink_remote.c in libxfs; functions name theirs.
package symlink

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// MaxTarget is the length of the longest target: with a zero behind it, it is to be no longer than
// 1024 bytes (XFS_SYMLINK_MAXLEN).
const MaxTarget = 1023

// maxExtents is the most extents that a target is put into (XFS_SYMLINK_MAPS).
const maxExtents = 3

// Of blocks of a target, by whether they have headers.
var kinds = [2]buffer.Kind{
	{Name: "symlink"},
	{Name: "symlink", Check: check, Seal: func(b []byte) { ondisk.Seal(b, ondisk.SymlinkCRC) }},
}

func check(b []byte, _ int64) error {
	switch _, ok := ondisk.DecodeSymlinkBlock(b); {
	case !ok:
		return errors.New("the magic number is another")
	case !ondisk.Sealed(b, ondisk.SymlinkCRC):
		return errors.New("the checksum is wrong")
	}
	return nil
}

func kind(fs *live.FS) *buffer.Kind {
	if fs.V5 {
		return &kinds[1]
	}
	return &kinds[0]
}

// header is the length of the header of each run of blocks.
func header(fs *live.FS) int {
	if fs.V5 {
		return ondisk.SymlinkHeader
	}
	return 0
}

// Blocks is how many blocks a target of n bytes may need, if it does not fit the inode
// (xfs_symlink_blocks).
func Blocks(fs *live.FS, n int) geometry.Blocks {
	part := int(fs.G.BlockSize) - header(fs)
	return geometry.Blocks((n + part - 1) / part)
}

// Check tells what is wrong with a target.
func Check(target string) error {
	switch {
	case target == "" || len(target) > MaxTarget:
		return fmt.Errorf("the target of a symbolic link has %d bytes; it may have 1 to %d", len(target), MaxTarget)
	case strings.IndexByte(target, 0) >= 0:
		return errors.New("the target of a symbolic link has a zero byte in it")
	}
	return nil
}

// Write gives a new symbolic link its target. total is how many blocks the operation may take. ok is
// false if there was no room; what is changed by then cannot be committed. (xfs_symlink_write_target.)
func Write(t *live.Trans, ip *inode.Inode, target string, total geometry.Blocks) (ok bool, err error) {
	if err := Check(target); err != nil {
		return false, fmt.Errorf("inode %d: %w", ip.Ino, err)
	}
	ip.Core.Size = uint64(len(target))
	ip.Log(t)
	if len(target) <= ip.Room(t.FS, false) {
		ip.Data.Reset(ondisk.FormatLocal)
		copy(ip.Data.Resize(len(target)), target)
		return true, nil
	}
	n := Blocks(t.FS, len(target))
	list, err := bmap.WriteMany(t, ip, bmap.Data, 0, n, bmap.Metadata, total, maxExtents)
	if err != nil {
		return false, err
	}
	for at, e := 0, 0; at < len(target); e++ {
		if e == len(list) {
			return false, nil
		}
		n, err := put(t, ip, list[e], target, at)
		if err != nil {
			return false, err
		}
		at += n
	}
	return true, nil
}

// put writes the part of a target from a byte on that an extent has room for, and tells how long
// that is.
func put(t *live.Trans, ip *inode.Inode, e inode.Extent, target string, at int) (int, error) {
	b, err := t.Fresh(place(t.FS, e), int(t.G.Bytes(e.Blocks)), kind(t.FS))
	if err != nil {
		return 0, fail(ip, at, err)
	}
	n := min(len(b.Data)-header(t.FS), len(target)-at)
	if t.V5 {
		h := ondisk.SymlinkBlock{
			Offset: uint32(at), Bytes: uint32(n), UUID: t.UUID, Owner: uint64(ip.Ino), Blkno: t.Daddr(b.Off),
		}
		h.Put(b.Data)
	}
	copy(b.Data[header(t.FS):], target[at:at+n])
	return n, nil
}

// Spill moves a target that is in the inode to a block, to make room there. ok is false if there is none.
// (xfs_bmap_add_attrfork_local and xfs_symlink_local_to_remote.)
func Spill(t *live.Trans, ip *inode.Inode) (ok bool, err error) {
	target := string(ip.Data.Local)
	e, ok, err := bmap.LocalToExtents(t, ip, bmap.Data, 1)
	if ok && err == nil {
		_, err = put(t, ip, e, target, 0)
	}
	return ok, err
}

// Read is the target of a symbolic link (xfs_symlink_remote_read).
func Read(t *live.Trans, ip *inode.Inode) (string, error) {
	size := ip.Core.Size
	if size == 0 || size > MaxTarget {
		return "", fmt.Errorf("inode %d: a symbolic link with a target of %d bytes", ip.Ino, size)
	}
	target := ip.Data.Local
	if ip.Data.Format != ondisk.FormatLocal {
		var err error
		if target, err = readBlocks(t, ip); err != nil {
			return "", err
		}
	}
	if uint64(len(target)) != size {
		return "", fmt.Errorf("inode %d: %d bytes of the target of a symbolic link, which has %d", ip.Ino, len(target), size)
	}
	if err := Check(string(target)); err != nil {
		return "", fmt.Errorf("inode %d: %w", ip.Ino, err)
	}
	return string(target), nil
}

// readBlocks is the target of a symbolic link that is in blocks.
func readBlocks(t *live.Trans, ip *inode.Inode) (target []byte, err error) {
	if ip.Core.Flags&ondisk.FlagRealtime != 0 {
		return nil, fmt.Errorf("inode %d: a symbolic link in the realtime section", ip.Ino)
	}
	list, err := bmap.Read(t, ip, bmap.Data, 0, Blocks(t.FS, int(ip.Core.Size)))
	if err != nil {
		return nil, err
	}
	next := uint64(0)
	for _, e := range list {
		if e.Offset != next {
			return nil, fail(ip, len(target), errors.New("the block is not mapped"))
		}
		part, err := get(t, ip, e, len(target))
		if err != nil {
			return nil, fail(ip, len(target), err)
		}
		target, next = append(target, part...), e.End()
	}
	return target, nil
}

// get reads the part of a target that an extent has, from a byte on (xfs_symlink_hdr_ok,
// xfs_symlink_verify).
func get(t *live.Trans, ip *inode.Inode, e inode.Extent, at int) ([]byte, error) {
	b, err := t.Get(place(t.FS, e), int(t.G.Bytes(e.Blocks)), kind(t.FS))
	if err != nil {
		return nil, err
	}
	part := b.Data[header(t.FS):]
	part = part[:min(len(part), int(ip.Core.Size)-at)]
	if !t.V5 {
		return part, nil
	}
	switch h, _ := ondisk.DecodeSymlinkBlock(b.Data); {
	case h.UUID != t.UUID:
		err = errors.New("it belongs to another filesystem")
	case h.Owner != uint64(ip.Ino):
		err = fmt.Errorf("it belongs to inode %d", h.Owner)
	case h.Blkno != t.Daddr(b.Off):
		err = fmt.Errorf("it says that its place is %d, which is %d", h.Blkno, t.Daddr(b.Off))
	case int(h.Offset) != at || int(h.Bytes) != len(part):
		err = fmt.Errorf("it has %d bytes from byte %d on, where %d are to be", h.Bytes, h.Offset, len(part))
	}
	return part, err
}

// Truncate takes the blocks of a target away (xfs_symlink_remote_truncate). The symbolic link has
// none then, and is to be freed.
func Truncate(t *live.Trans, ip *inode.Inode) error {
	if ip.Data.Format == ondisk.FormatLocal {
		return nil
	}
	had := slices.Clone(ip.Data.Extents)
	if _, err := bmap.Unmap(t, ip, bmap.Data, 0, inode.MaxOffset+1, bmap.Metadata, 0); err != nil {
		return err
	}
	for _, e := range had {
		t.Cache.Forget(place(t.FS, e), int64(t.G.Bytes(e.Blocks)))
	}
	return nil
}

// place is the byte of the device at which an extent begins.
func place(fs *live.FS, e inode.Extent) int64 { return fs.Offset(fs.G.BlockAddress(e.Start)) }

func fail(ip *inode.Inode, at int, err error) error {
	return fmt.Errorf("inode %d: the target of a symbolic link, from byte %d on: %w", ip.Ino, at, err)
}
