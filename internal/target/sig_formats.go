package target

import "slices"

const (
	kib = 1 << 10
	mib = 1 << 20
)

// formats is all that Signatures looks for. The order is that of libblkid: if
// one target has two of them, it is the first that people are told of.
var formats = slices.Concat(volumeFormats, fileSystemFormats, partitionFormats, containerFormats)

// at0 is a magic number at the start of the target.
func at0(bytes string) []magic { return []magic{{0, 0, bytes}} }

// each returns one magic number for every place and string.
func each(at int64, skips []int64, strings ...string) (ms []magic) {
	for _, skip := range skips {
		for _, s := range strings {
			ms = append(ms, magic{at, skip, s})
		}
	}
	return ms
}

// pageEnds is where swap has its magic number: the last ten bytes of the first
// page, of 4 KiB to 64 KiB.
var pageEnds = []int64{0xff6, 0x1ff6, 0x3ff6, 0x7ff6, 0xfff6}

const (
	bcacheMagic   = "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"
	bcachefsMagic = "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"
	stratisMagic  = "!Stra0tis\x86\xff\x02^\x41rh"
)

// volumeFormats are parts of something larger: RAID, volume managers, caches,
// encryption.
var volumeFormats = []format{
	{name: "linux_raid_member", search: findMD},
	{name: "ddf_raid_member", minSize: 192 * kib, search: findDDF},
	{name: "isw_raid_member", minSize: 64 * kib, search: findISW},
	{name: "lsi_mega_raid_member", minSize: 64 * kib, search: findLSI},
	{name: "via_raid_member", minSize: 64 * kib, search: findVIA},
	{name: "silicon_medley_raid_member", minSize: 64 * kib, search: findSilicon},
	{name: "nvidia_raid_member", minSize: 64 * kib, search: findNVIDIA},
	{name: "promise_fasttrack_raid_member", minSize: 256 * kib, search: findPromise},
	{name: "hpt45x_raid_member", minSize: 64 * kib, search: findHighpoint45x},
	{name: "hpt37x_raid_member", magics: []magic{{4608, 32, "\xf0\x16\x78\x5a"}, {4608, 32, "\xfd\x16\x78\x5a"}}},
	{name: "adaptec_raid_member", minSize: 64 * kib, search: findAdaptec},
	{name: "jmicron_raid_member", minSize: 64 * kib, search: findJMicron},
	{name: "bcache", minSize: 8 * kib, magics: []magic{{4 * kib, 24, bcacheMagic}}, check: checkBcache},
	{name: "bcachefs", minSize: 128 * kib, check: checkBcachefs, magics: []magic{
		{4 * kib, 24, bcacheMagic}, {4 * kib, 24, bcachefsMagic},
		{2 * mib, 24, bcachefsMagic}, {-mib, 24, bcachefsMagic},
	}},
	{name: "ceph_bluestore", magics: at0("bluestore block device")},
	{name: "drbd", minSize: 64 * kib, check: checkDRBD, magics: []magic{
		{-4 * kib, 60, "\x83\x74\x02\x6b"}, {-4 * kib, 60, "\x83\x74\x02\x6c"}, {-4 * kib, 60, "\x83\x74\x02\x6d"},
	}},
	{name: "drbdmanage_control_volume", minSize: 64 * kib, magics: at0("$DRBDmgr=q"), check: checkDRBDManage},
	{name: "drbdproxy_datalog", minSize: 16 * kib, magics: at0("DRBDdlh*")},
	{name: "LVM2_member", check: checkLVM2, magics: []magic{
		{512, 24, "LVM2 001"}, {0, 24, "LVM2 001"}, {1024, 24, "LVM2 001"}, {1536, 24, "LVM2 001"},
	}},
	{name: "LVM1_member", magics: at0("HM"), check: checkLVM1},
	{name: "DM_snapshot_cow", magics: at0("SnAp")},
	{name: "DM_verity_hash", magics: at0("verity\x00\x00"), check: checkVerity},
	{name: "DM_integrity", magics: at0("integrt\x00"), check: checkIntegrity},
	{name: "crypto_LUKS", search: findLUKS},
	{name: "VMFS_volume_member", magics: []magic{{mib, 0, "\x0d\xd0\x01\xc0"}}},
	{name: "ubi", magics: at0("UBI#"), check: checkUBI},
	{name: "vdo", magics: at0("dmvdo001")},
	{name: "stratis", minSize: 8 * kib, magics: []magic{{512, 4, stratisMagic}, {4608, 4, stratisMagic}},
		check: checkStratis},
	{name: "BitLocker", search: findBitLocker},
	{name: "cs_fvault2", magics: []magic{{0, 88, "CS"}}, check: checkFileVault},
}

// fileSystemFormats are file systems and swap.
var fileSystemFormats = []format{
	{name: "vfat", magics: fatMagics, check: checkFAT},
	{name: "swsuspend", minSize: 40 * kib, magics: append(at0("\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
		each(0, pageEnds, "S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001")...)},
	{name: "swap", minSize: 40 * kib, magics: each(0, pageEnds, "SWAP-SPACE", "SWAPSPACE2"), check: checkSwap},
	{name: "xfs", magics: at0("XFSB"), check: checkXFS, uuid: xfsUUID},
	{name: "xfs_external_log", minSize: xfsLogLeast, search: findXFSLog, uuid: xfsLogUUID},
	{name: "xfs_realtime", magics: at0("Frog"), check: checkXFSRealtime, uuid: xfsRealtimeUUID},
	{name: "exfs", magics: at0("EXFS"), check: checkXFSGeometry},
	{name: "ext4dev", magics: extMagic, check: checkExt4dev},
	{name: "ext4", magics: extMagic, check: checkExt4},
	{name: "ext3", magics: extMagic, check: checkExt3},
	{name: "ext2", magics: extMagic, check: checkExt2},
	{name: "jbd", magics: extMagic, check: checkJBD},
	{name: "reiserfs", minSize: 128 * kib, check: checkReiser, magics: []magic{
		{8 * kib, 0x34, "ReIsErFs"}, {64 * kib, 0x34, "ReIsEr2Fs"}, {64 * kib, 0x34, "ReIsEr3Fs"},
		{64 * kib, 0x34, "ReIsErFs"}, {8 * kib, 20, "ReIsErFs"},
	}},
	{name: "reiser4", minSize: 128 * kib, magics: []magic{{64 * kib, 0, "ReIsEr4"}}, check: checkReiser4},
	{name: "jfs", minSize: 16 * mib, magics: []magic{{32 * kib, 0, "JFS1"}}, check: checkJFS},
	{name: "udf", magics: each(32*kib, []int64{1}, "BEA01", "BOOT2", "CD001", "CDW02", "NSR02", "NSR03", "TEA01"),
		check: checkUDF},
	{name: "iso9660", magics: []magic{{32 * kib, 1, "CD001"}, {32 * kib, 9, "CDROM"}}, check: checkISO},
	{name: "zfs_member", minSize: zfsLeast, search: findZFS, whole: zfsLabels},
	{name: "hfsplus", magics: each(kib, []int64{0}, "BD", "H+", "HX"), check: checkHFSPlus},
	{name: "hfs", magics: each(kib, []int64{0}, "BD"), check: checkHFS},
	{name: "ufs", search: findUFS},
	{name: "hpfs", magics: []magic{{8 * kib, 0, "\x49\xe8\x95\xf9"}}, check: checkHPFS},
	{name: "sysv", search: findSysV},
	{name: "xenix", magics: each(kib, []int64{0x400}, "\x2b\x55\x44", "\x44\x55\x2b")},
	{name: "ntfs", magics: []magic{{0, 3, "NTFS    "}}, check: checkNTFS},
	{name: "ReFS", magics: at0("\x00\x00\x00ReFS\x00")},
	{name: "cramfs", magics: []magic{{0, 0, "\x45\x3d\xcd\x28"}, {0, 0, "\x28\xcd\x3d\x45"}}, check: checkCramfs},
	{name: "romfs", magics: at0("-rom1fs-"), check: checkROMFS},
	{name: "scoutfs_meta", minSize: 128 * kib, magics: scoutfsMagic, check: checkScoutFSMeta},
	{name: "scoutfs_data", minSize: 128 * kib, magics: scoutfsMagic, check: checkScoutFSData},
	{name: "minix", search: findMinix},
	{name: "gfs", minSize: 32 * mib, magics: gfsMagic, check: checkGFS},
	{name: "gfs2", minSize: 32 * mib, magics: gfsMagic, check: checkGFS2},
	{name: "ocfs", minSize: 14000 * kib, magics: []magic{{8 * kib, 0, "OracleCFS"}}},
	{name: "ocfs2", minSize: 14000 * kib, magics: []magic{
		{kib, 0, "OCFSV2"}, {2 * kib, 0, "OCFSV2"}, {4 * kib, 0, "OCFSV2"}, {8 * kib, 0, "OCFSV2"},
	}},
	{name: "oracleasm", magics: []magic{{0, 32, "ORCLDISK"}}},
	{name: "vxfs", magics: []magic{{kib, 0, "\xf5\xfc\x01\xa5"}, {8 * kib, 0, "\xa5\x01\xfc\xf5"}}},
	{name: "squashfs", magics: at0("hsqs"), check: checkSquashfs},
	{name: "squashfs3", magics: []magic{{0, 0, "sqsh"}, {0, 0, "hsqs"}}, check: checkSquashfs3},
	{name: "nss", magics: []magic{{4 * kib, 0, "SPB5"}}},
	{name: "btrfs", minSize: mib, magics: []magic{{64 * kib, 0x40, "_BHRfS_M"}}, check: checkBtrfs},
	{name: "ubifs", magics: at0("\x31\x18\x10\x06"), check: checkUBIFS},
	{name: "bfs", magics: at0("\xce\xfa\xad\x1b")},
	{name: "VMFS", magics: []magic{{2 * mib, 0, "\x5e\xf1\xab\x2f"}}},
	{name: "befs", minSize: 1440 * kib, magics: []magic{
		{0, 32, "BFS1"}, {0, 32, "1SFB"}, {512, 32, "BFS1"}, {512, 32, "1SFB"},
	}, check: checkBeFS},
	{name: "nilfs2", minSize: mib, search: findNILFS},
	{name: "exfat", magics: []magic{{0, 3, "EXFAT   "}}, check: checkExFAT},
	{name: "f2fs", magics: []magic{{kib, 0, "\x10\x20\xf5\xf2"}}, check: checkF2FS},
	{name: "mpool", magics: at0("mpoolDev"), check: checkMpool},
	{name: "apfs", magics: []magic{{0, 32, "NXSB"}}, check: checkAPFS},
	{name: "zonefs", magics: at0("SFOZ"), check: checkZonefs},
	{name: "erofs", magics: []magic{{kib, 0, "\xe2\xe1\xf5\xe0"}}, check: checkEROFS},
}

// partitionFormats are tables of the partitions of a disk.
var partitionFormats = []format{
	{name: "aix", partitionTable: true, magics: at0(aixMagic)},
	{name: "sgi", partitionTable: true, magics: at0("\x0b\xe5\xa9\x41"), check: checkSGI},
	{name: "sun", partitionTable: true, magics: []magic{{0, 508, "\xda\xbe"}}, check: checkSun},
	{name: "dos", partitionTable: true, magics: []magic{{0, 510, "\x55\xaa"}}, check: checkDOS},
	{name: "gpt", partitionTable: true, search: findGPT},
	{name: "PMBR", partitionTable: true, magics: []magic{{0, 510, "\x55\xaa"}}, check: checkProtective},
	{name: "mac", partitionTable: true, magics: at0("ER"), check: checkMac},
	{name: "ultrix", partitionTable: true, magics: []magic{{16312, 0, "\x57\x29\x03\x00\x01\x00\x00\x00"}}},
	{name: "bsd", partitionTable: true, magics: []magic{
		{512, 0, bsdMagic}, {64, 0, bsdMagic}, {128, 0, bsdMagic},
	}, check: checkBSD},
	{name: "solaris", partitionTable: true, magics: []magic{{512, 12, "\xee\xde\x0d\x60"}}, check: checkSolaris},
	{name: "atari", partitionTable: true, search: findAtari},
}

// containerFormats are disks of virtual machines in a file, and dumps of file
// systems. Their data is not where a file system made over them would look for it.
var containerFormats = []format{
	{name: "qcow2", container: true, magics: at0("QFI\xfb"), check: checkQCOW},
	{name: "qed", container: true, magics: at0("QED\x00")},
	{name: "vmdk", container: true, magics: []magic{
		{0, 0, "KDMV"}, {0, 0, "COWD"}, {0, 0, "# Disk DescriptorFile"},
	}, check: checkVMDK},
	{name: "vhd", container: true, magics: []magic{{-512, 0, "conectix"}, {0, 0, "conectix"}, {-511, 0, "conectix"}},
		check: checkVHD},
	{name: "vhdx", container: true, magics: at0("vhdxfile")},
	{name: "vdi", container: true, magics: []magic{{0, 0x40, "\x7f\x10\xda\xbe"}}, check: checkVDI},
	{name: "xfs_metadump", container: true, magics: []magic{{0, 0, "XFSM"}, {0, 0, "XMD2"}}, check: checkMetadump},
	{name: "parallels", container: true, magics: []magic{{0, 0, "WithoutFreeSpace"}, {0, 0, "WithouFreSpacExt"}}},
}
