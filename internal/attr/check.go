package attr

import (
	"errors"
	"fmt"
	"math/bits"

	"mkfs/internal/da"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// checkLeaf checks a leaf as xfs_attr3_leaf_verify in libxfs does, and beyond that so that nothing that works on it
// leaves its bytes: names and free regions do not overlap, and the header counts the bytes of names right (xfs_repair).
func (f *FS) checkLeaf(b []byte, off int64) error {
	magic := uint16(ondisk.AttrLeafMagicV4)
	if f.fs.V5 {
		magic = ondisk.AttrLeafMagic
	}
	if err := da.CheckHeader(f.fs, ondisk.DABlock{B: b, V5: f.fs.V5}, off, magic); err != nil {
		return err
	}
	return leaf(b).check()
}

// claims has a bit for each unit of a block that something claims.
type claims [64 << 10 / nameAlign / 64]uint64

// claim claims bytes from one on to before another. It returns false if there are others' among them.
func (c *claims) claim(from, to int) bool {
	for from, to = from/nameAlign, to/nameAlign; from < to; {
		n := min(to-from, 64-from%64)
		mask := (^uint64(0) >> (64 - n)) << (from % 64)
		if c[from/64]&mask != 0 {
			return false
		}
		c[from/64] |= mask
		from += n
	}
	return true
}

func (c *claims) bytes() (sum int) {
	for _, w := range c {
		sum += bits.OnesCount64(w)
	}
	return sum * nameAlign
}

// check checks what is behind the magic number.
func (l leaf) check() error {
	h := l.header()
	end := l.end(h.Count)
	switch {
	case h.FirstUsed > len(l) || h.FirstUsed%nameAlign != 0:
		return fmt.Errorf("names begin at %d", h.FirstUsed)
	case end > h.FirstUsed:
		return fmt.Errorf("%d entries end at %d, where names begin at %d", h.Count, end, h.FirstUsed)
	}
	var c claims
	c.claim(0, end)
	for i := range h.Count {
		if err := l.checkEntry(&h, i, &c); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	if n := c.bytes() - end; n != h.UsedBytes {
		return fmt.Errorf("names have %d bytes, not %d", n, h.UsedBytes)
	}
	for i, f := range h.Free {
		if err := l.checkFree(f, &c); err != nil {
			return fmt.Errorf("free region %d: %w", i, err)
		}
	}
	return nil
}

func (l leaf) checkEntry(h *header, i int, c *claims) error {
	e := l.entry(i)
	at := e.at()
	if i > 0 && e.hash() < l.entry(i-1).hash() {
		return fmt.Errorf("the hash %#x is less than that of the one before", e.hash())
	}
	need := ondisk.AttrRemoteHeader
	if e.local() {
		need = ondisk.AttrLocalHeader
	}
	if at < h.FirstUsed || at%nameAlign != 0 || at+need > len(l) {
		return fmt.Errorf("the name is at %d", at)
	}
	size := l.size(e)
	switch {
	case at+size > len(l):
		return fmt.Errorf("the name is at %d and takes %d bytes", at, size)
	case len(l.name(e)) == 0:
		return errors.New("there is no name")
	case !c.claim(at, at+size):
		return fmt.Errorf("the name at %d has bytes of another", at)
	case e.local():
		return nil
	}
	r := l.remote(e)
	if !e.incomplete() && (r.at == 0 || r.length <= 0 || r.length > MaxValue) {
		return fmt.Errorf("the value has %d bytes in block %d", r.length, r.at)
	}
	return nil
}

func (l leaf) checkFree(f ondisk.AttrFree, c *claims) error {
	switch {
	case f.Base%nameAlign != 0 || f.Size%nameAlign != 0 || f.Base+f.Size > len(l):
		return fmt.Errorf("%d bytes at %d", f.Size, f.Base)
	case !c.claim(f.Base, f.Base+f.Size):
		return fmt.Errorf("%d bytes at %d, some of which are in use, or in another", f.Size, f.Base)
	}
	return nil
}

// newValueKind makes the kind of blocks of values. Those of V4 have nothing to be checked.
func newValueKind(fs *live.FS) *da.Kind {
	if !fs.V5 {
		k := &da.Kind{}
		k.Name = valueBlock
		return k
	}
	return da.NewKind(fs, valueBlock, ondisk.AttrBlockCRC, attrBlockOwner, func(b []byte, off int64) error {
		h, ok := ondisk.DecodeAttrBlock(b)
		switch {
		case !ok:
			return errors.New("it has another magic number")
		case h.UUID != fs.UUID:
			return errors.New("it belongs to another filesystem")
		case h.Blkno != fs.Daddr(off):
			return fmt.Errorf("it says that its place is %d, which is %d", h.Blkno, fs.Daddr(off))
		case int(h.Bytes) > len(b)-ondisk.AttrBlockHeader || uint64(h.Offset)+uint64(h.Bytes) > MaxValue:
			return fmt.Errorf("it has %d bytes of a value from byte %d on", h.Bytes, h.Offset)
		}
		return nil
	})
}

const (
	valueBlock     = "attribute value"
	attrBlockOwner = 32
)
