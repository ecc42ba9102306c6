package populate

import (
	"errors"
	"io"

	"mkfs/internal/bmap"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
	"mkfs/internal/tree"
)

// step is how many bytes of a file get blocks at a time, as mkfs.xfs copies them
// (writefile_range).
const step = 128 << 10

// errRealtime is what the data of a file ends with that would be in the realtime section.
var errRealtime = errors.New("its data would be in the realtime section, where no file can be made")

// fill gives a regular file what it holds, and its size.
func (f *Filler) fill(ip *inode.Inode, e *tree.Entry) error {
	if e.Reserve {
		return f.reserve(ip, e.Size)
	}
	if e.Data != nil {
		if err := f.copy(ip, e); err != nil {
			return err
		}
	}
	t := f.fs.Begin(0)
	ip.Core.Size = uint64(e.Size)
	ip.Log(t)
	return t.Commit()
}

// copy copies the data of a file, piece by piece. Blocks that two pieces share are written with
// the first of them.
func (f *Filler) copy(ip *inode.Inode, e *tree.Entry) error {
	log, written := f.fs.G.BlockLog, uint64(0)
	for off, stored := int64(0), int64(0); ; {
		start, end, err := e.Data.Next(off)
		if end = min(end, e.Size); err == io.EOF || err == nil && start >= end {
			f.Counts.Holes += e.Size - stored
			return nil
		}
		if err != nil {
			return err
		}
		if ip.Core.Flags&ondisk.FlagRealtime != 0 {
			return errRealtime
		}
		for at := start; at < end; at += step {
			first, next := uint64(at)>>log, f.blocks(min(at+step, end))
			ok, err := bmap.Fill(f.fs, ip, first, geometry.Blocks(next-first), 0)
			if err != nil || !ok {
				return room(ok, err)
			}
			if err := f.write(ip, e, max(first, written), next); err != nil {
				return err
			}
			written = next
			f.Counts.Bytes += min(step, end-at)
			f.tell()
		}
		stored += end - start
		off = end
	}
}

// blocks is how many blocks so many bytes take.
func (f *Filler) blocks(n int64) uint64 {
	return uint64(n+int64(f.fs.G.BlockSize)-1) >> f.fs.G.BlockLog
}

// write copies the blocks of a file from one on to another, which are mapped.
func (f *Filler) write(ip *inode.Inode, e *tree.Entry, at, end uint64) error {
	if f.data == nil {
		return nil
	}
	g := f.fs.G
	for at < end {
		x, ok := bmap.Lookup(ip, bmap.Data, at)
		if !ok {
			return errors.New("a block that was mapped is not there")
		}
		skip := geometry.Blocks(at - x.Offset)
		n := min(geometry.Blocks(end-at), x.Blocks-skip, geometry.Blocks(f.data.Most()>>g.BlockLog))
		agno, agbno := g.BlockAddress(x.Start + geometry.FSBlock(skip))
		memory, err := f.data.Room(int64(g.Offset(agno, agbno)), int(g.Bytes(n)))
		if err != nil {
			return err
		}
		from := int64(at) << g.BlockLog
		have := min(int64(len(memory)), e.Size-from)
		if err := e.Data.ReadAt(memory[:have], from); err != nil {
			return err
		}
		clear(memory[have:])
		at += uint64(n)
	}
	return nil
}

// reserve gives a regular file blocks that are not written, and no size. The file cannot be
// run as somebody else any more. (rsvfile)
func (f *Filler) reserve(ip *inode.Inode, size int64) error {
	if ip.Core.Flags&ondisk.FlagRealtime != 0 {
		return errRealtime
	}
	if ok, err := bmap.Fill(f.fs, ip, 0, geometry.Blocks(f.blocks(size)), bmap.Prealloc); err != nil || !ok {
		return room(ok, err)
	}
	const groupExecute = 0o010
	t := f.fs.Begin(0)
	ip.Core.Mode &^= ondisk.ModeSetUID
	if ip.Core.Mode&groupExecute != 0 {
		ip.Core.Mode &^= ondisk.ModeSetGID
	}
	ip.Stamp(f.fs, inode.Modified|inode.Changed)
	ip.Core.Flags |= ondisk.FlagPrealloc
	ip.Log(t)
	return t.Commit()
}
