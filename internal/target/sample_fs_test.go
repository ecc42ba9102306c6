package target

import (
	"crypto/sha256"
	"math"
)

// xfsFields is a superblock whose sizes fit together, but for the version.
func xfsFields(magic string, sector uint16, sectorLog byte) []byte {
	return structure(int(sector), set{0, magic}, set{4, be32(4096)}, set{8, be64(4 * 1000)}, set{32, sampleUUID}, set{80, be32(1)}, set{84, be32(1000)},
		set{88, be32(4)}, set{100, be16(4)}, set{102, be16(sector)}, set{104, be16(512)}, set{106, be16(8)},
		set{120, byte(12)}, set{121, sectorLog}, set{122, byte(9)}, set{123, byte(3)}, set{127, byte(25)})
}

// xfsRealtime is the superblock of a realtime device, for blocks of so many bytes.
func xfsRealtime(block int) []byte {
	b := structure(block, set{0, "Frog"}, set{12, "label"}, set{24, sampleUUID}, set{40, sampleUUID})
	return put(b, 4, le, crcC(b))
}

// sampleUUID is that of all samples of XFS.
const sampleUUID = "sixteen bytes ID"

// unixSamples has what checks in sig_unix.go and sig_xfs.go are for.
func unixSamples() []sample {
	xfs5 := xfsFields("XFSB", 4096, 12)
	be.PutUint16(xfs5[100:], 0xb4b5)
	be.PutUint32(xfs5[200:], 0x18a)
	put(xfs5, 224, le, crcC(xfs5))
	ext := func(compat, incompat, roCompat, flags uint32) []byte {
		b := structure(1024, set{0x18, uint32(2)}, set{0x38, "\x53\xef"}, set{0x5c, compat}, set{0x60, incompat},
			set{0x64, roCompat}, set{0x160, flags})
		if roCompat&0x400 != 0 {
			put(b, 1020, le, ^crcC(b[:1020]))
		}
		return b
	}
	extAt := func(name string, b []byte) sample { return at(name, size0, kib, 0x38, "\x53\xef", b) }
	log := func(off int64) sample {
		return at("xfs_external_log", size0, off, 0, "\xfe\xed\xba\xbe",
			structure(512, set{0, be32(0xfeedbabe)}, set{8, be32(2)}, set{12, be32(512)}, set{300, be32(1)}, set{304, sampleUUID}))
	}
	reiser := structure(128, set{12, uint32(18)}, set{44, uint16(4096)}, set{0x34, "ReIsEr2Fs"})
	reiserOld := structure(128, set{12, uint32(18)}, set{44, uint16(4096)}, set{20, "ReIsErFs"})
	jfs := structure(184, set{0, "JFS1"}, set{16, uint32(4096)}, set{20, uint16(12)}, set{22, uint16(3)}, set{24, uint32(512)}, set{28, uint16(9)})
	minix12 := func(magic uint16) []byte {
		return structure(64, set{0, uint16(100)}, set{2, uint16(1000)}, set{4, uint16(1)}, set{6, uint16(1)}, set{8, uint16(20)},
			set{16, magic}, set{18, uint16(1)}, set{20, uint32(1000)})
	}
	minix3 := structure(64, set{0, uint32(100)}, set{6, uint16(1)}, set{8, uint16(1)}, set{10, uint16(20)}, set{20, uint32(1000)}, set{24, "\x5a\x4d"})
	minixBE := structure(64, set{0, be16(100)}, set{2, be16(1000)}, set{4, be16(1)}, set{6, be16(1)}, set{8, be16(20)},
		set{16, be16(0x137f)}, set{18, be16(1)})
	ss := []sample{
		at("xfs", size0, 0, 0, "XFSB", xfsFields("XFSB", 512, 9)),
		at("xfs", size0, 0, 0, "XFSB", xfs5),
		at("xfs_realtime", size0, 0, 0, "Frog", xfsRealtime(512)), at("xfs_realtime", size0, 0, 0, "Frog", xfsRealtime(65536)),
		at("exfs", size0, 0, 0, "EXFS", xfsFields("EXFS", 512, 9)),
		log(0), log(255 * kib),
		extAt("ext2", ext(0x38, 0x2, 0x3, 0)),
		extAt("ext3", ext(0x3c, 0x6, 0x3, 0)),
		extAt("ext4", ext(0x3c, 0x2c2, 0x46b, 0)),
		extAt("ext4", ext(0x3c, 0x2c2, 0x6b, 0)),
		extAt("ext4dev", ext(0x3c, 0x2c2, 0x6b, 4)),
		extAt("jbd", ext(0, 8, 0, 0)),
		at("reiserfs", size0, 64*kib, 0x34, "ReIsEr2Fs", reiser),
		at("reiserfs", size0, 8*kib, 20, "ReIsErFs", reiserOld),
		at("reiser4", size0, 64*kib, 0, "ReIsEr4", structure(64, set{0, "ReIsEr4"}, set{19, byte(16)})),
		at("jfs", size0, 32*kib, 0, "JFS1", jfs),
		at("minix", size0, kib, 16, "\x7f\x13", minix12(0x137f)), at("minix", size0, kib, 16, "\x8f\x13", minix12(0x138f)),
		at("minix", size0, kib, 16, "\x68\x24", minix12(0x2468)), at("minix", size0, kib, 16, "\x78\x24", minix12(0x2478)),
		at("minix", size0, kib, 24, "\x5a\x4d", minix3), at("minix", size0, kib, 16, "\x13\x7f", minixBE),
		plain("xenix", size0, kib, 0x400, "\x2b\x55\x44"), plain("xenix", size0, kib, 0x400, "\x44\x55\x2b"),
		plain("vxfs", size0, kib, 0, "\xf5\xfc\x01\xa5"), plain("vxfs", size0, 8*kib, 0, "\xa5\x01\xfc\xf5"),
		plain("nss", size0, 4*kib, 0, "SPB5"), plain("bfs", size0, 0, 0, "\xce\xfa\xad\x1b"),
		plain("VMFS", size0, 2*mib, 0, "\x5e\xf1\xab\x2f"), plain("oracleasm", size0, 0, 32, "ORCLDISK"),
		plain("ocfs", size0, 8*kib, 0, "OracleCFS"), plain("ReFS", size0, 0, 0, "\x00\x00\x00ReFS\x00"),
		plain("swsuspend", size0, 0, 0, "\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
	}
	for _, off := range []int64{kib, 2 * kib, 4 * kib, 8 * kib} {
		ss = append(ss, plain("ocfs2", size0, off, 0, "OCFSV2"))
	}
	for _, off := range []int64{0, 9, 15, 18} {
		ss = append(ss, plain("sysv", size0, off*kib+512, 504, "\x20\x7e\x18\xfd"))
	}
	for _, off := range []int64{0, 8 * kib, 64 * kib, 256 * kib} {
		ss = append(ss, plain("ufs", size0, off, 1372, "\x19\x01\x54\x19"), plain("ufs", size0, off, 1372, "\x00\x01\x19\x54"))
	}
	for page := int64(4096); page <= 65536; page *= 2 {
		for _, m := range []string{"S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001"} {
			ss = append(ss, at("swsuspend", size0, 0, page-10, m, structure(int(page), set{int(page) - 10, m})))
		}
		ss = append(ss,
			at("swap", size0, 0, page-10, "SWAP-SPACE", structure(int(page), set{int(page) - 10, "SWAP-SPACE"})),
			at("swap", size0, 0, page-10, "SWAPSPACE2", structure(int(page), set{int(page) - 10, "SWAPSPACE2"}, set{1024, uint32(1)}, set{1028, uint32(50)})))
	}
	for _, off := range []int64{0, 512} {
		befs := at("befs", size0, off, 32, "1SFB", structure(132, set{32, "1SFB"}, set{36, uint32(0x42494745)}, set{40, uint32(2048)},
			set{44, uint32(11)}, set{68, uint32(0xdd121031)}, set{76, uint32(13)}, set{112, uint32(0x15b6830e)}, set{116, uint32(1)}, set{122, uint16(1)}))
		befs.disk.pieces = append(befs.disk.pieces, piece{2048 << 13, structure(2048, set{0, uint32(0x3bbe0ad9)})})
		ss = append(ss, befs)
	}
	return ss
}

// imageSamples has what checks in sig_image.go are for.
func imageSamples() []sample {
	btrfs := func(kind uint16) []byte {
		b := structure(4096, set{64, "_BHRfS_M"}, set{144, uint32(4096)}, set{196, kind})
		switch kind {
		case 0:
			put(b, 0, le, crcC(b[32:]))
		case 2:
			sum := sha256.Sum256(b[32:])
			copy(b, sum[:])
		}
		return b
	}
	ubifs := structure(4096, set{0, "\x31\x18\x10\x06"}, set{50, "content"})
	put(ubifs, 4, le, ^crcI(ubifs[8:]))
	nilfs := structure(1024, set{6, "\x34\x34"}, set{8, uint16(280)}, set{12, uint32(0x1234)}, set{40, "content"})
	put(nilfs, 16, le, bitCRC(0x1234, 0xedb88320, nilfs[:280]))
	f2fs := structure(4096, set{0, "\x10\x20\xf5\xf2"}, set{4, uint16(1)}, set{6, uint16(16)}, set{32, uint32(4092)})
	put(f2fs, 4092, le, bitCRC(0xf2f52010, 0xedb88320, f2fs[:4092]))
	mpool := structure(66, set{0, "mpoolDev"}, set{8, "name"})
	put(mpool, 62, le, crcC(mpool[:62]))
	apfs := structure(4096, set{8, uint64(1)}, set{24, uint16(1)}, set{32, "NXSB"}, set{36, uint32(4096)})
	var lo, hi uint64
	for i := 8; i < 4096; i += 4 {
		lo = (lo + uint64(le.Uint32(apfs[i:]))) % math.MaxUint32
		hi = (hi + lo) % math.MaxUint32
	}
	low := math.MaxUint32 - (lo+hi)%math.MaxUint32
	le.PutUint64(apfs, (math.MaxUint32-(lo+low)%math.MaxUint32)<<32|low)
	zonefs := structure(4096, set{0, "SFOZ"}, set{8, "label"})
	put(zonefs, 4, le, ^crcI(zonefs))
	erofs := structure(3072, set{0, "\xe2\xe1\xf5\xe0"}, set{8, uint32(1)}, set{12, byte(12)}, set{14, uint16(36)})
	put(erofs, 4, le, ^crcC(erofs))
	cramfs := structure(4096, set{0, "\x45\x3d\xcd\x28"}, set{4, uint32(4096)}, set{8, uint32(3)}, set{16, "Compressed ROMFS"})
	put(cramfs, 32, le, crcI(cramfs))
	romfs := structure(512, set{0, "-rom1fs-"}, set{8, be32(8192)}, set{16, "volume"})
	var sum uint32
	for i := 0; i < 512; i += 4 {
		sum += be.Uint32(romfs[i:])
	}
	put(romfs, 12, be, -sum)
	scoutfs := func(flags uint64) []byte {
		b := structure(4096, set{4, "\x8b\x42\x3c\x10"}, set{48, flags})
		return put(b, 0, le, ^crcC(b[4:]))
	}
	gfs := func(format, multi be32) []byte {
		return structure(288, set{0, "\x01\x16\x19\x70"}, set{24, format}, set{28, multi})
	}
	hpfs := structure(1024, set{0, "\x49\xe8\x95\xf9"}, set{512, "\x49\x18\x91\xf9"})
	hfs := structure(512, set{0, "BD"}, set{20, be32(4096)})
	plus := structure(512, set{0, "H+"}, set{40, be32(4096)}, set{288, be32(10)})
	wrapped := at("hfsplus", size0, kib, 0, "BD", structure(512, set{0, "BD"}, set{20, be32(4096)}, set{28, be16(16)}, set{124, "H+"}, set{126, be16(100)}))
	wrapped.disk.pieces = append(wrapped.disk.pieces, piece{16*512 + 100*4096 + kib, plus})
	return []sample{
		at("squashfs", size0, 0, 0, "hsqs", structure(96, set{0, "hsqs"}, set{28, uint16(4)})),
		at("squashfs3", size0, 0, 0, "hsqs", structure(96, set{0, "hsqs"}, set{28, uint16(3)})),
		at("squashfs3", size0, 0, 0, "sqsh", structure(96, set{0, "sqsh"}, set{28, be16(2)})),
		at("btrfs", size0, 64*kib, 64, "_BHRfS_M", btrfs(0)), at("btrfs", size0, 64*kib, 64, "_BHRfS_M", btrfs(2)),
		at("btrfs", size0, 64*kib, 64, "_BHRfS_M", btrfs(3)),
		at("ubifs", size0, 0, 0, "\x31\x18\x10\x06", ubifs),
		at("nilfs2", size0, kib, 6, "\x34\x34", nilfs), at("nilfs2", size0, fromEnd0(8), 6, "\x34\x34", nilfs),
		at("f2fs", size0, kib, 0, "\x10\x20\xf5\xf2", f2fs),
		at("mpool", size0, 0, 0, "mpoolDev", mpool), at("apfs", size0, 0, 32, "NXSB", apfs),
		at("zonefs", size0, 0, 0, "SFOZ", zonefs), at("erofs", size0, kib, 0, "\xe2\xe1\xf5\xe0", erofs),
		at("cramfs", size0, 0, 0, "\x45\x3d\xcd\x28", cramfs), plain("cramfs", size0, 0, 0, "\x28\xcd\x3d\x45"),
		at("romfs", size0, 0, 0, "-rom1fs-", romfs),
		at("scoutfs_meta", size0, 64*kib, 4, "\x8b\x42\x3c\x10", scoutfs(1)), at("scoutfs_data", size0, 64*kib, 4, "\x8b\x42\x3c\x10", scoutfs(2)),
		at("gfs", size0, 64*kib, 0, "\x01\x16\x19\x70", gfs(1309, 1401)), at("gfs2", size0, 64*kib, 0, "\x01\x16\x19\x70", gfs(1801, 1900)),
		at("hpfs", size0, 8*kib, 0, "\x49\xe8\x95\xf9", hpfs), at("hfs", size0, kib, 0, "BD", hfs),
		at("hfsplus", size0, kib, 0, "H+", plus), wrapped,
	}
}
