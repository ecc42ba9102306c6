package target

// size0 is a size that is large enough for most, and no multiple of anything
// that would hide a mistake in counting from the end.
const size0 int64 = 100*mib + 3*4096 + 512

// fromEnd0 is the n-th last sector of a target of size0.
func fromEnd0(n int64) int64 { return size0 - n*512 }

// volumeSamples has the formats of volumeFormats.
func volumeSamples() []sample {
	luks2 := func(off uint64, magic string) []byte {
		return structure(512, set{0, magic}, set{6, be16(2)}, set{256, be64(off)})
	}
	md1 := func(off uint64) []byte {
		b := structure(256+2*3, set{0, uint32(mdMagic)}, set{4, uint32(1)}, set{144, off >> 9}, set{220, uint32(3)},
			set{256, uint16(0xffff)}, set{260, uint16(7)}, set{16, "a set's identity"})
		var sum uint64
		for i := 0; i+4 <= len(b); i += 4 {
			sum += uint64(le.Uint32(b[i:]))
		}
		sum += uint64(le.Uint16(b[260:]))
		return put(b, 216, le, uint32(sum)+uint32(sum>>32))
	}
	md := "\xfc\x4e\x2b\xa9"
	md0 := size0/65536*65536 - 65536
	end10 := size0/4096*4096 - 8192
	lvm2 := func(sector uint64) []byte {
		b := structure(512, set{0, "LABELONE"}, set{8, sector}, set{20, uint32(32)}, set{24, "LVM2 001"}, set{32, "identity"})
		return put(b, 16, le, bitCRC(0xf597a6cf, 0xedb88320, b[20:]))
	}
	stratis := structure(512, set{4, stratisMagic}, set{20, uint64(99)})
	put(stratis, 0, le, crcC(stratis[4:]))
	ubi := structure(64, set{0, "UBI#"}, set{4, byte(1)})
	put(ubi, 60, be, ^crcI(ubi[:60]))
	vault := structure(512, set{4, uint32(5)}, set{8, uint16(1)}, set{10, uint16(0x10)}, set{88, "CS"},
		set{90, uint32(1)}, set{168, uint32(16)}, set{172, uint32(2)})
	put(vault, 0, le, bitCRC(5, 0x82f63b78, vault[8:]))
	bcache := structure(2300, set{8, uint64(8)}, set{24, bcacheMagic}, set{206, uint16(2)}, set{210, "journal"})
	le.PutUint64(bcache, crc64(bcache[8:208+16]))
	bcachefs := func(magic string, sector uint64) []byte {
		return structure(4096, set{24, magic}, set{104, sector}, set{122, byte(1)}, set{123, byte(2)}, set{124, uint32(3)}, set{257, byte(4)})
	}
	drbd := func(magic string) []byte {
		return structure(4096, set{60, magic}, set{80, be32(4096)}, set{84, "more"})
	}
	ss := []sample{
		at("linux_raid_member", size0, md0, 0, md, structure(128, set{0, uint32(mdMagic)}, set{8, uint32(90)}, set{32, uint32(md0 >> 10)})),
		at("linux_raid_member", size0, md0, 0, "\xa9\x2b\x4e\xfc", structure(128, set{0, be32(mdMagic)}, set{32, be32(64)})),
		at("linux_raid_member", size0, end10, 0, md, md1(uint64(end10))),
		at("linux_raid_member", size0, 0, 0, md, md1(0)),
		at("linux_raid_member", size0, 4096, 0, md, md1(4096)),
		at("bcache", size0, 4096, 24, bcacheMagic, bcache),
		at("bcachefs", size0, 4096, 24, bcacheMagic, bcachefs(bcacheMagic, 8)),
		at("bcachefs", size0, 4096, 24, bcachefsMagic, bcachefs(bcachefsMagic, 8)),
		at("bcachefs", size0, 2*mib, 24, bcachefsMagic, bcachefs(bcachefsMagic, 4096)),
		at("bcachefs", size0, size0-mib, 24, bcachefsMagic, bcachefs(bcachefsMagic, uint64(size0-mib)/512)),
		plain("ceph_bluestore", size0, 0, 0, "bluestore block device"),
		at("drbd", size0, size0-4096, 60, "\x83\x74\x02\x6b", drbd("\x83\x74\x02\x6b")),
		at("drbd", size0, size0-4096, 60, "\x83\x74\x02\x6d", drbd("\x83\x74\x02\x6d")),
		at("drbdmanage_control_volume", size0, 0, 0, "$DRBDmgr=q", structure(44, set{0, "$DRBDmgr=q"}, set{11, "0123456789abcdefABCDEF0123456789\n"})),
		plain("drbdproxy_datalog", size0, 0, 0, "DRBDdlh*"),
		at("LVM2_member", size0, 0, 24, "LVM2 001", lvm2(0)),
		at("LVM2_member", size0, 512, 24, "LVM2 001", lvm2(1)),
		at("LVM2_member", size0, 1024, 24, "LVM2 001", lvm2(2)),
		at("LVM2_member", size0, 1536, 24, "LVM2 001", lvm2(3)),
		at("LVM1_member", size0, 0, 0, "HM", structure(512, set{0, "HM"}, set{2, uint16(2)})),
		plain("DM_snapshot_cow", size0, 0, 0, "SnAp"),
		at("DM_verity_hash", size0, 0, 0, "verity\x00\x00", structure(512, set{0, "verity"}, set{8, uint32(1)})),
		at("DM_integrity", size0, 0, 0, "integrt\x00", structure(512, set{0, "integrt"}, set{8, byte(4)})),
		at("crypto_LUKS", size0, 0, 0, "LUKS\xba\xbe", structure(592, set{0, "LUKS\xba\xbe"}, set{6, be16(1)})),
		at("crypto_LUKS", size0, 0, 0, "LUKS\xba\xbe", luks2(0, "LUKS\xba\xbe")),
		plain("VMFS_volume_member", size0, mib, 0, "\x0d\xd0\x01\xc0"),
		at("ubi", size0, 0, 0, "UBI#", ubi),
		plain("vdo", size0, 0, 0, "dmvdo001"),
		at("stratis", size0, 512, 4, stratisMagic, stratis),
		at("stratis", size0, 4608, 4, stratisMagic, stratis),
		plain("BitLocker", size0, 0, 0, "\xeb\x52\x90-FVE-FS-"),
		at("cs_fvault2", size0, 0, 88, "CS", vault),
	}
	for off := int64(16 * kib); off <= 4*mib; off *= 2 {
		ss = append(ss, at("crypto_LUKS", size0, off, 0, "SKUL\xba\xbe", luks2(uint64(off), "SKUL\xba\xbe")))
	}
	for _, c := range [][2]any{{"\xeb\x58\x90-FVE-FS-", 176}, {"\xeb\x58\x90MSWIN4.1", 440}} {
		boot := structure(512, set{0, c[0]}, set{c[1].(int), uint64(65536)})
		s := at("BitLocker", size0, 0, 0, c[0].(string), boot)
		s.disk.pieces = append(s.disk.pieces, piece{65536, structure(112, set{0, "-FVE-FS-"})})
		ss = append(ss, s)
	}
	return append(ss, hostRAIDSamples()...)
}

// hostRAIDSamples has the formats that are in the last sectors.
func hostRAIDSamples() []sample {
	ddf := structure(512, set{0, be32(0xde11de11)}, set{8, "identity of the disk 123"}, set{32, "02.00.00"})
	be.PutUint32(ddf[4:], bitCRC(0, 0xedb88320, without(ddf, 4, 4, 0xff)))
	via := structure(512, set{0, uint16(0xaa55)}, set{2, byte(1)}, set{5, uint32(77)})
	for _, c := range via[:50] {
		via[50] += c
	}
	silicon := structure(512, set{0x60, uint32(0x2f000000)}, set{0x116, byte(3)})
	le.PutUint16(silicon[0x13e:], 0x10000-(0x2f00+3)) // the two words that are not 0
	nvidia := structure(512, set{0, "NVIDIA  "}, set{8, uint32(30)})
	put(nvidia, 12, le, -(le.Uint32(nvidia) + le.Uint32(nvidia[4:]) + 30))
	jmicron := structure(512, set{0, "JM"}, set{2, uint16(1)}, set{32, "raid0\x00(mirror)"}, set{48, byte(5)}, set{126, uint16(9)})
	for i := 0; i < 128; i += 2 {
		if i != 4 {
			le.PutUint16(jmicron[4:], le.Uint16(jmicron[4:])-le.Uint16(jmicron[i:]))
		}
	}
	end := func(name string, n, skip int64, magic string, b []byte) sample {
		return at(name, size0, fromEnd0(n), skip, magic, b)
	}
	ss := []sample{
		end("ddf_raid_member", 1, 0, "\xde\x11\xde\x11", ddf),
		end("ddf_raid_member", 257, 0, "\xde\x11\xde\x11", ddf),
		end("isw_raid_member", 2, 0, "Intel Raid ISM Cfg Sig. ", structure(512, set{0, "Intel Raid ISM Cfg Sig. 1.2"})),
		end("lsi_mega_raid_member", 1, 0, "$XIDE$", structure(512, set{0, "$XIDE$"})),
		end("via_raid_member", 1, 0, "\x55\xaa", via),
		end("silicon_medley_raid_member", 1, 0x60, "\x00\x00\x00\x2f", silicon),
		end("nvidia_raid_member", 2, 0, "NVIDIA  ", nvidia),
		end("hpt45x_raid_member", 11, 0, "\xf3\x16\x78\x5a", structure(512, set{0, "\xf3\x16\x78\x5a"})),
		plain("hpt37x_raid_member", size0, 4608, 32, "\xf0\x16\x78\x5a"),
		end("adaptec_raid_member", 1, 0, "\x37\xfc\x4d\x1e", structure(512, set{0, be32(0x37fc4d1e)}, set{256, "DPTM"})),
		end("jmicron_raid_member", 1, 0, "JM", jmicron),
	}
	for _, n := range []int64{63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087} {
		ss = append(ss, end("promise_fasttrack_raid_member", n, 0, "Promise Technology, Inc.",
			structure(512, set{0, "Promise Technology, Inc."})))
	}
	big := at("isw_raid_member", 64*mib, 64*mib-8192, 0, "Intel Raid ISM Cfg Sig. ", structure(512, set{0, "Intel Raid ISM Cfg Sig. 1.2"}))
	return append(ss, big)
}
