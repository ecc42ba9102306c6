package main

import (
	"encoding/binary"
	"fmt"
	"os"
)

// layout is what a superblock says, as far as it is needed here.
type layout struct {
	block, sector, agBlocks int64
	inode                   int64
	agLog                   uint8
	log                     extent // bytes of the internal log; empty if it is external
	icount, ifree, fdblocks uint64
}

func readLayout(name string) (l layout, err error) {
	f, err := os.Open(name)
	if err != nil {
		return l, err
	}
	defer f.Close()
	sb := make([]byte, 512)
	if _, err := f.ReadAt(sb, 0); err != nil {
		return l, err
	}
	if string(sb[:4]) != "XFSB" {
		return l, fmt.Errorf("%s: no superblock", name)
	}
	be := binary.BigEndian
	l.block = int64(be.Uint32(sb[4:]))
	l.agBlocks = int64(be.Uint32(sb[84:]))
	l.sector = int64(be.Uint16(sb[102:]))
	l.inode = int64(be.Uint16(sb[104:]))
	l.agLog = sb[124]
	l.icount, l.ifree, l.fdblocks = be.Uint64(sb[128:]), be.Uint64(sb[136:]), be.Uint64(sb[144:])
	if start := int64(be.Uint64(sb[48:])); start != 0 {
		at := (start>>l.agLog*l.agBlocks + start&(1<<l.agLog-1)) * l.block
		l.log = extent{at, at + int64(be.Uint32(sb[96:]))*l.block}
	}
	return l, nil
}

// volatile are the parts of an image that recovery may fill as it likes: the
// log, and the primary superblock, which the counters are compared of.
func (l layout) volatile() []extent { return []extent{{0, l.sector}, l.log} }

// counters are those that a mount leaves in the superblock.
func (l layout) counters() string {
	return fmt.Sprintf("icount %d ifree %d fdblocks %d", l.icount, l.ifree, l.fdblocks)
}

// place names a block, given its offset in the image.
func (l layout) place(at int64) string {
	b := at / l.block
	return fmt.Sprintf("AG %d block %d+%d", b/l.agBlocks, b%l.agBlocks, at%l.block)
}
