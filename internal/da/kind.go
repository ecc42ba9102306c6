package da

import (
	"errors"
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Kind is a kind of block of a fork. In V5 each has an owner.
type Kind struct {
	buffer.Kind
	Owner int // where the owner is in V5
}

// NewKind makes a kind, of blocks whose checksum and owner are at the given places in
// V5. check need not look at these.
func NewKind(fs *live.FS, name string, crc, owner int, check func(data []byte, off int64) error) *Kind {
	k := &Kind{Kind: buffer.Kind{Name: name, Check: check}, Owner: owner}
	if fs.V5 {
		k.Check = func(data []byte, off int64) error {
			if !ondisk.Sealed(data, crc) {
				return errors.New("the checksum is wrong")
			}
			return check(data, off)
		}
		k.Seal = func(data []byte) { ondisk.Seal(data, crc) }
	}
	return k
}

// BlockKind is a kind of block with the header of ondisk.DABlock.
func BlockKind(fs *live.FS, name string, check func(data []byte, off int64) error) *Kind {
	return NewKind(fs, name, ondisk.DABlockCRC, ondisk.DABlockOwner, check)
}

// CheckHeader checks what is in the header of every block of a btree
// (xfs_da3_blkinfo_verify in libxfs).
func CheckHeader(fs *live.FS, d ondisk.DABlock, off int64, magic uint16) error {
	if m := d.Magic(); m != magic {
		return fmt.Errorf("magic number %#x, want %#x", m, magic)
	}
	if !fs.V5 {
		return nil
	}
	if d.UUID() != fs.UUID {
		return errors.New("it belongs to another filesystem")
	}
	if at := d.Blkno(); at != fs.Daddr(off) {
		return fmt.Errorf("it says that its place is %d, which is %d", at, fs.Daddr(off))
	}
	return nil
}

// InitHeader writes the header of a new block of a btree, of size bytes.
func (tr *Tree) InitHeader(b *buffer.Buf, owner uint64, magic uint16, size int) {
	tr.view(b).Init(magic, size, tr.FS.Daddr(b.Off), tr.FS.UUID, owner)
}
