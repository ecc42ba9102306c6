package target

import "hash/crc32"

// XFS: the file system, its parts on other devices, and dumps of it.

// Where the UUID of the file system is, from the magic number on.
const (
	xfsUUID         = 32
	xfsLogUUID      = 304 // in the header of each record
	xfsRealtimeUUID = 24
)

// checkXFSGeometry wants the sizes of an XFS superblock to fit together.
func checkXFSGeometry(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	if b == nil {
		return false
	}
	block, blocks := be.Uint32(b[4:]), be.Uint64(b[8:])
	rtExtent := be.Uint32(b[80:]) * block
	agBlocks, agCount := uint64(be.Uint32(b[84:])), uint64(be.Uint32(b[88:]))
	sector, inode := uint32(be.Uint16(b[102:])), uint32(be.Uint16(b[104:]))
	blockLog, sectorLog, inodeLog, perBlockLog, imaxPct := b[120], b[121], b[122], b[123], b[127]
	return agCount > 0 &&
		logFits(sector, sectorLog, 9, 15) &&
		logFits(block, blockLog, 9, 16) &&
		logFits(inode, inodeLog, 8, 11) &&
		int(blockLog)-int(inodeLog) == int(perBlockLog) &&
		rtExtent >= 4*kib && rtExtent <= 1<<30 &&
		imaxPct <= 100 &&
		blocks > 0 && blocks <= agCount*agBlocks && blocks >= (agCount-1)*agBlocks+64
}

// logFits reports whether n is the power of two that log says, in [min, max].
func logFits(n uint32, log, min, max uint8) bool {
	return log >= min && log <= max && n == 1<<log
}

// checkXFS wants a version 5 superblock to have its checksum as well.
func checkXFS(v *view, sb int64, m magic) bool {
	if !checkXFSGeometry(v, sb, m) {
		return false
	}
	b := v.at(sb, 512)
	version := be.Uint16(b[100:])
	if version&0xf != 5 {
		return true
	}
	if version&0x8000 == 0 || be.Uint32(b[200:])&0x100 == 0 {
		return false
	}
	b = v.at(sb, int64(be.Uint16(b[102:])))
	return b != nil && crc32.Checksum(without(b, 224, 4, 0), castagnoli) == le.Uint32(b[224:])
}

// xfsLogLeast is the shortest log that there can be: 512 blocks of 512 bytes.
// libblkid knows an external one from 10 MiB on only.
const xfsLogLeast = 512 * 512

// findXFSLog is an external log: a record in one of the first sectors.
func findXFSLog(v *view) (int64, bool) {
	for off := int64(0); off < 256*kib; off += 512 {
		b := v.at(off, 512)
		if b == nil || string(b[:4]) == "XFSB" {
			return 0, false
		}
		version, length, order := be.Uint32(b[8:]), int32(be.Uint32(b[12:])), be.Uint32(b[300:])
		if be.Uint32(b) == 0xfeedbabe && version >= 1 && version <= 3 && length > 0 && order >= 1 && order <= 3 {
			return off, true
		}
	}
	return 0, false
}

// checkXFSRealtime wants the checksum of a realtime device's superblock, which
// covers one block of the file system. How long that is is not said.
func checkXFSRealtime(v *view, sb int64, _ magic) bool {
	for n := int64(512); n <= 64*kib; n *= 2 {
		b := v.at(sb, n)
		if b == nil {
			return false
		}
		if crc32.Checksum(without(b, 4, 4, 0), castagnoli) == le.Uint32(b[4:]) {
			return true
		}
	}
	return false
}

// checkMetadump wants what follows the magic number in a dump of xfs_metadump:
// in the first version the number of blocks in a sector of addresses and the
// size of them, in the second the version.
func checkMetadump(v *view, sb int64, m magic) bool {
	b := v.at(sb, 512)
	if b == nil {
		return false
	}
	if m.bytes == "XMD2" {
		return be.Uint32(b[4:]) == 2
	}
	const addresses = (512 - 8) / 8
	n := be.Uint16(b[4:])
	return n > 0 && n <= addresses && b[6] == 9
}
