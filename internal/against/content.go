package against

import (
	"fmt"
	"io"

	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
	"mkfs/internal/symlink"
	"mkfs/internal/tree"
)

// target compares the target of a symbolic link.
func (c *comparer) target(e *tree.Entry, ip *inode.Inode) error {
	got, err := symlink.Read(c.t, ip)
	if err != nil {
		return c.damaged(c.where(e), "target", err)
	}
	if got != e.Target {
		c.differ(e, "target", quoted(e.Target), quoted(got))
	}
	return nil
}

// content compares the data of a regular file, as far as both have any.
func (c *comparer) content(e *tree.Entry, ip *inode.Inode) error {
	if e.Reserve {
		c.reserved(e, ip)
		return nil
	}
	end := min(e.Size, int64(ip.Core.Size))
	if end == 0 {
		return nil
	}
	if ip.Core.Flags&ondisk.FlagRealtime != 0 {
		if len(ip.Data.Extents) > 0 {
			c.tell(Difference{Path: c.where(e), What: "data", Fault: "it is in the realtime section, which is not read"})
		}
		return nil
	}
	w := wanted{data: e.Data, size: e.Size, path: c.Source.Path}
	f := c.data.begin(c.folders[e.Depth-1].path, e.Name)
	err := c.extents(f, &w, ip.Data.Extents, end)
	c.data.end(f)
	return err
}

// extents compares a file with the source, up to some byte: what is written is read, and what is not is zeros.
func (c *comparer) extents(f *file, w *wanted, list []inode.Extent, end int64) error {
	g := c.FS.G
	blocks := uint64(end-1)>>g.BlockLog + 1
	at := int64(0)
	for i := range list {
		x := &list[i]
		if x.Unwritten {
			continue
		}
		if x.Offset >= blocks {
			break
		}
		from := int64(x.Offset) << g.BlockLog
		if err := c.zeros(f, w, at, from); err != nil {
			return err
		}
		if at = end; x.End() < blocks {
			at = int64(x.End()) << g.BlockLog
		}
		off := c.FS.Offset(g.BlockAddress(x.Start))
		for n := int64(0); from < at; from, off = from+n, off+n {
			n = min(at-from, maxRequest)
			if err := c.data.compare(f, w, from, off, int(n)); err != nil {
				return err
			}
		}
	}
	return c.zeros(f, w, at, end)
}

// reserved looks whether a file has its blocks, which nothing is written to.
func (c *comparer) reserved(e *tree.Entry, ip *inode.Inode) {
	want := uint64(e.Size+int64(c.FS.G.BlockSize)-1) >> c.FS.G.BlockLog
	got, written := uint64(0), false
	for _, x := range ip.Data.Extents {
		got += uint64(x.Blocks)
		written = written || !x.Unwritten
	}
	if n := len(ip.Data.Extents); got != want || written || n > 0 && ip.Data.Extents[n-1].End() != want {
		text := blocksText(got) + ", unwritten"
		if written {
			text = blocksText(got) + ", written ones among them"
		}
		c.differ(e, "what is reserved", blocksText(want)+", unwritten", text)
	}
}

func blocksText(n uint64) string {
	if n == 1 {
		return "1 block"
	}
	return fmt.Sprintf("%d blocks", n)
}

// wanted is what a file is to hold: pieces of data, and zeros between.
type wanted struct {
	data       tree.Data // nil for no piece
	size       int64
	start, end int64 // the piece that was found last
	last       bool  // there is none behind it
	path       func() string
}

// fail is an error of the source.
func (w *wanted) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", w.path(), err)
}

// next finds the first piece that ends behind a byte. ok is false if there is none.
func (w *wanted) next(at int64) (ok bool, err error) {
	for w.end <= at {
		if w.last || w.data == nil {
			return false, nil
		}
		start, end, err := w.data.Next(at)
		if err == io.EOF {
			w.last = true
			return false, nil
		}
		if err != nil {
			return false, w.fail(err)
		}
		if start < at || end <= start {
			return false, w.fail(fmt.Errorf("data from byte %d to %d, behind byte %d, is none", start, end, at))
		}
		w.start, w.end = start, min(end, w.size)
		w.last = start >= w.size || end >= w.size
	}
	return true, nil
}

// read fills b with what the file is to hold from a byte on.
func (w *wanted) read(b []byte, from int64) error {
	end := from + int64(len(b))
	for at := from; at < end; {
		ok, err := w.next(at)
		if err != nil {
			return err
		}
		start := end
		if ok {
			start = min(end, max(at, w.start))
		}
		clear(b[at-from : start-from])
		if at = start; at == end {
			return nil
		}
		at = min(end, w.end)
		if err := w.data.ReadAt(b[start-from:at-from], start); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// zeros compares a range in which the filesystem has no data.
func (c *comparer) zeros(f *file, w *wanted, from, end int64) error {
	b := c.data.spare
	for from < end {
		if err := c.stopped(); err != nil {
			return err
		}
		ok, err := w.next(from)
		if err != nil || !ok {
			return err
		}
		from = max(from, w.start)
		n := min(int64(len(b)), min(end, w.end)-from)
		if n <= 0 {
			return nil
		}
		if err := w.data.ReadAt(b[:n], from); err != nil {
			return w.fail(err)
		}
		for i, x := range b[:n] {
			if x != 0 {
				f.differ(from+int64(i), x, 0)
				break
			}
		}
		from += n
	}
	return nil
}
