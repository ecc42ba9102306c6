package attr

import (
	"cmp"
	"errors"

	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Link is a link to a file: the directory, with its generation, and the name in it.
type Link struct {
	Dir        geometry.Inode
	Generation uint32
	Name       []byte
}

// parentRec is the value of a parent pointer: the directory and its generation (xfs_parent_rec).
type parentRec [ondisk.ParentRecSize]byte

func (l *Link) rec() (r parentRec) {
	be.PutUint64(r[:], uint64(l.Dir))
	be.PutUint32(r[8:], l.Generation)
	return r
}

func linkOf(name, rec []byte) Link {
	return Link{geometry.Inode(be.Uint64(rec)), be.Uint32(rec[8:]), name}
}

// parentHash is the hash of a parent pointer: that of the name in its directory, with the directory's number
// mixed in, so that equal names in many directories are told apart (xfs_parent_hashval in libxfs).
func (f *FS) parentHash(name, value []byte) uint32 {
	if len(value) != ondisk.ParentRecSize {
		return 0
	}
	hash := da.Hash(name)
	if f.fs.G.Features.CaseFold {
		hash = da.HashFolded(name)
	}
	return hash ^ be.Uint32(value) ^ be.Uint32(value[4:])
}

// parentOp is an operation on a parent pointer. It keeps a copy of the link, for it may be put off.
func (f *FS) parentOp(t *live.Trans, ip *inode.Inode, l *Link) *op {
	o := f.op(ip, Parent, nil, nil)
	o.t = t
	o.rec = l.rec()
	o.copied = append(o.copied[:0], l.Name...)
	o.name, o.value, o.key.value = o.copied, o.rec[:], o.rec[:]
	o.hash = f.parentHash(o.name, o.value)
	return o
}

// done gives an operation back that was not put off.
func (o *op) done(err error) error {
	if err != nil {
		return damaged(o.ip, err)
	}
	if o.next == nil {
		o.release()
	}
	return nil
}

// checkLink checks a link, and that its file may have parent pointers.
func checkLink(ip *inode.Inode, l *Link) error {
	if ip.ForkOffset == 0 {
		return damaged(ip, errors.New("there is no attribute fork for parent pointers"))
	}
	if err := checkName(l.Name, ondisk.ParentRecSize); err != nil {
		return damaged(ip, err)
	}
	return nil
}

// AddParent enters a parent pointer, for a link that is made in the same transaction. The inode has an attribute
// fork. (xfs_parent_addname in libxfs.)
func (f *FS) AddParent(t *live.Trans, ip *inode.Inode, l Link) error {
	if err := checkLink(ip, &l); err != nil {
		return err
	}
	o := f.parentOp(t, ip, &l)
	return o.done(o.set(false, true))
}

// RemoveParent removes the parent pointer of a link that goes (xfs_parent_removename in libxfs).
func (f *FS) RemoveParent(t *live.Trans, ip *inode.Inode, l Link) error {
	if err := checkLink(ip, &l); err != nil {
		return err
	}
	o := f.parentOp(t, ip, &l)
	return o.done(o.remove())
}

// ReplaceParent makes the parent pointer of a link that of another, for a file that is renamed
// (xfs_parent_replacename in libxfs).
func (f *FS) ReplaceParent(t *live.Trans, ip *inode.Inode, old, l Link) error {
	if err := cmp.Or(checkLink(ip, &old), checkLink(ip, &l)); err != nil {
		return err
	}
	o := f.parentOp(t, ip, &old)
	o.newRec = l.rec()
	o.newCopied = append(o.newCopied[:0], l.Name...)
	o.newName, o.newValue = o.newCopied, o.newRec[:]
	o.renamed = true
	if isShort(ip) {
		return o.done(o.set(true, true))
	}
	o.replace = true
	o.next = o.removeNext()
	o.putOff(t)
	return nil
}
