package dir

import (
	"fmt"

	"mkfs/internal/da"
	"mkfs/internal/ondisk"
)

// Magic numbers by what a block is: V5, V4.
var (
	dataMagic  = [2]uint32{ondisk.DirDataMagic, ondisk.DirDataMagicV4}
	blockMagic = [2]uint32{ondisk.DirBlockMagic, ondisk.DirBlockMagicV4}
	freeMagic  = [2]uint32{ondisk.DirFreeMagic, ondisk.DirFreeMagicV4}
	leafMagic  = [2]uint32{ondisk.DirLeafMagic, ondisk.DirLeafMagicV4}   // all of an index
	leafNMagic = [2]uint32{ondisk.DirLeafNMagic, ondisk.DirLeafNMagicV4} // one of many
)

// magicOf picks that of the filesystem's version.
func (d *Dirs) magicOf(m [2]uint32) uint32 {
	if d.fs.V5 {
		return m[0]
	}
	return m[1]
}

// kinds makes the kinds of blocks.
func (d *Dirs) kinds() {
	kind := func(name string, magic [2]uint32, more func(b []byte) error) *da.Kind {
		want := d.magicOf(magic)
		return da.NewKind(d.fs, name, ondisk.DirDataCRC, ondisk.DirDataOwner, func(b []byte, off int64) error {
			if m := be.Uint32(b); m != want {
				return fmt.Errorf("magic number %#x, want %#x", m, want)
			}
			if d.fs.V5 {
				if err := ondisk.CheckDirHeader(b, d.fs.Daddr(off), d.fs.UUID); err != nil {
					return err
				}
			}
			return more(b)
		})
	}
	d.data = kind("directory data", dataMagic, d.checkEntries)
	d.block = kind("directory block", blockMagic, d.checkEntries)
	d.freeKind = kind("directory free index", freeMagic, d.checkFree)
	d.leaf1 = da.BlockKind(d.fs, "directory leaf", func(b []byte, off int64) error {
		return d.checkLeaf(b, off, leafMagic)
	})
}

// checkLeafN checks a leaf of an index that has many.
func (d *Dirs) checkLeafN(b []byte, off int64) error { return d.checkLeaf(b, off, leafNMagic) }

func (d *Dirs) view(b []byte) ondisk.DABlock { return ondisk.DABlock{B: b, V5: d.fs.V5} }
