package target

// dosFSSamples has what checks in sig_dosfs.go are for.
func dosFSSamples() []sample {
	boot := func(sets ...set) []byte {
		return structure(512, append([]set{{11, uint16(512)}, {13, byte(4)}, {14, uint16(4)}, {16, byte(2)}, {17, uint16(512)},
			{19, uint16(40000)}, {21, byte(0xf8)}, {22, uint16(40)}, {510, "\x55\xaa"}}, sets...)...)
	}
	fat16 := at("vfat", size0, 0, 0x36, "FAT16   ", boot(set{0x36, "FAT16   "}, set{510, "\x00\x00"}))
	short := at("vfat", size0, 0, 510, "\x55\xaa", boot())
	fat32 := at("vfat", size0, 0, 0x52, "FAT32   ", boot(set{0x52, "FAT32   "}, set{19, uint16(0)}, set{32, uint32(200000)},
		set{17, uint16(0)}, set{22, uint16(0)}, set{36, uint32(400)}, set{48, uint16(1)}, set{510, "\x00\x00"}))
	fat32.disk.pieces = append(fat32.disk.pieces, piece{512, structure(512, set{0, "RRaA"}, set{484, "rrAa"})})
	ntfs := at("ntfs", size0, 0, 3, "NTFS    ", structure(512, set{3, "NTFS    "}, set{11, uint16(512)}, set{13, byte(8)}, set{21, byte(0xf8)},
		set{40, uint64(200000)}, set{48, uint64(4)}, set{56, uint64(12500)}, set{64, byte(0xf6)}, set{510, "\x55\xaa"}))
	ntfs.disk.pieces = append(ntfs.disk.pieces, piece{4 * 4096, structure(4096, set{0, "FILE"}, set{3 * 1024, "FILE"})})
	exfat := structure(12*512, set{0, "\xeb\x76\x90EXFAT   "}, set{80, uint32(128)}, set{84, uint32(100)}, set{88, uint32(300)},
		set{92, uint32(10000)}, set{96, uint32(4)}, set{108, byte(9)}, set{109, byte(3)}, set{110, byte(1)}, set{510, "\x55\xaa"})
	var sum uint32
	for i, c := range exfat[:11*512] {
		if i != 106 && i != 107 && i != 112 {
			sum = (sum>>1 | sum<<31) + uint32(c)
		}
	}
	for i := 11 * 512; i < 12*512; i += 4 {
		put(exfat, i, le, sum)
	}
	return []sample{fat16, short, fat32, ntfs, at("exfat", size0, 0, 3, "EXFAT   ", exfat)}
}

// opticalSamples has ISO 9660, its forerunner, and UDF; and ZFS.
func opticalSamples() []sample {
	root := structure(2048, set{0, byte(34)}, set{2, uint32(30)}, set{32, byte(1)})
	iso := at("iso9660", size0, 32*kib, 1, "CD001", structure(2048, set{0, byte(1)}, set{1, "CD001"}, set{128, uint16(2048)},
		set{158, uint32(30)}, set{166, uint32(2048)}))
	iso.disk.pieces = append(iso.disk.pieces, piece{30 * 2048, root})
	sierra := at("iso9660", size0, 32*kib, 9, "CDROM", structure(2048, set{8, byte(1)}, set{9, "CDROM"}, set{136, uint16(2048)},
		set{182, uint32(30)}, set{190, uint32(2048)}))
	sierra.disk.pieces = append(sierra.disk.pieces, piece{30 * 2048, root})
	ss := []sample{iso, sierra}
	for _, block := range []int64{512, 1024, 2048, 4096} {
		step := max(2048, block)
		for _, anchor := range []int64{256, 512} {
			s := at("udf", size0, 32*kib, 1, "BEA01", structure(1024, set{1, "BEA01"}))
			s.disk.pieces = append(s.disk.pieces, piece{32*kib + step, structure(1024, set{1, "NSR02"})},
				piece{anchor * block, structure(512, set{0, uint16(2)}, set{12, uint32(anchor)}, set{16, uint32(16 * block)}, set{20, uint32(5000)})},
				piece{5000 * block, structure(512, set{0, uint16(1)}, set{12, uint32(5000)})},
				piece{5001 * block, structure(512, set{0, uint16(6)}, set{12, uint32(5001)}, set{217, "*OSTA UDF Compliant"})})
			ss = append(ss, s)
		}
	}
	pair := func(name string, number be64) []byte {
		pad := (len(name) + 3) &^ 3
		n := 12 + pad + 16
		return structure(n, set{0, be32(n)}, set{8, be32(len(name))}, set{12, name}, set{12 + pad, be32(8)}, set{12 + pad + 4, be32(1)}, set{12 + pad + 8, number})
	}
	list := structure(24, set{0, byte(1)}, set{1, byte(1)}, set{12, be32(36)})[:12]
	nested := structure(12+12+16, set{0, be32(100)}, set{8, be32(9)}, set{12, "vdev_tree"}, set{24, be32(19)})
	for _, p := range [][]byte{pair("version", 5000), pair("state", 0), nested, pair("txg", 0), make([]byte, 8), pair("txg", 4), pair("guid", 12345)} {
		list = append(list, p...)
	}
	be.PutUint32(list[12:], 36)
	for _, off := range []int64{16 * kib, 272 * kib, size0/zfsLabel*zfsLabel - 2*zfsLabel + 16*kib, size0/zfsLabel*zfsLabel - zfsLabel + 16*kib} {
		ss = append(ss, at("zfs_member", size0, off, 0, "\x01", list))
	}
	return ss
}

// gptParts is a GPT with its cover, for a disk with that size of sectors: the
// first header and its table, and the last.
func gptParts(sector, size int64) (cover, first, last piece) {
	end := size/sector - 1
	entries := structure(128*128, set{0, "type of partition"}, set{32, uint64(2048)}, set{40, uint64(4096)})
	header := func(lba, other, table int64) []byte {
		b := structure(92, set{0, "EFI PART"}, set{8, uint32(0x10000)}, set{12, uint32(92)}, set{24, uint64(lba)}, set{32, uint64(other)},
			set{40, uint64(40)}, set{48, uint64(end - 40)}, set{72, uint64(table)}, set{80, uint32(128)}, set{84, uint32(128)},
			set{88, crcI(entries)})
		return put(b, 16, le, crcI(b))
	}
	cover = piece{0, structure(512, set{450, byte(0xee)}, set{454, uint32(1)}, set{458, uint32(end)}, set{510, "\x55\xaa"})}
	first = piece{sector, append(append(header(1, end, 2), make([]byte, sector-92)...), entries...)}
	table := end - 128*128/sector
	last = piece{table * sector, append(append([]byte(nil), entries...), header(end, 1, table)...)}
	return cover, first, last
}

// diskSamples has the partition tables and the containers.
func diskSamples() []sample {
	dos := structure(512, set{446, byte(0x80)}, set{450, byte(0x83)}, set{454, uint32(2048)}, set{458, uint32(100000)}, set{510, "\x55\xaa"})
	sgi := structure(512, set{0, "\x0b\xe5\xa9\x41"}, set{8, "/unix"})
	var sum uint32
	for i := 0; i < 512; i += 4 {
		sum += be.Uint32(sgi[i:])
	}
	put(sgi, 504, be, -sum)
	sun := structure(512, set{0, "Disk cyl 1"}, set{508, "\xda\xbe"})
	le.PutUint16(sun[510:], xorWords(sun))
	bsd := structure(404, set{0, bsdMagic}, set{138, uint16(8)}, set{132, bsdMagic})
	le.PutUint16(bsd[136:], xorWords(bsd))
	vhd := structure(512, set{0, "conectix"}, set{28, "vpc "})
	var bytes uint32
	for _, c := range vhd {
		bytes += uint32(c)
	}
	put(vhd, 64, be, ^bytes)
	mac := structure(1024, set{0, "ER"}, set{2, be16(512)}, set{512, "PM"}, set{516, be32(2)})
	atari := structure(512, set{450, be32(100000)}, set{454, "\x01GEM"}, set{458, be32(2)}, set{462, be32(5000)})
	ss := []sample{
		at("dos", size0, 0, 510, "\x55\xaa", dos),
		at("dos", size0, 0, 510, "\x55\xaa", structure(512, set{510, "\x55\xaa"})),
		plain("aix", size0, 0, 0, aixMagic),
		at("sgi", size0, 0, 0, "\x0b\xe5\xa9\x41", sgi), at("sun", size0, 0, 508, "\xda\xbe", sun),
		at("mac", size0, 0, 0, "ER", mac),
		plain("ultrix", size0, 15*kib, 16312-15*kib, "\x57\x29\x03\x00\x01\x00\x00\x00"),
		at("bsd", size0, 512, 0, bsdMagic, bsd), at("bsd", size0, 64, 0, bsdMagic, bsd), at("bsd", size0, 128, 0, bsdMagic, bsd),
		at("solaris", size0, 512, 12, "\xee\xde\x0d\x60", structure(512, set{12, "\xee\xde\x0d\x60"}, set{16, uint32(1)})),
		at("atari", size0, 0, 454, "", atari),
		at("qcow2", size0, 0, 0, "QFI\xfb", structure(104, set{0, "QFI\xfb"}, set{4, be32(3)})),
		plain("qed", size0, 0, 0, "QED\x00"), plain("vhdx", size0, 0, 0, "vhdxfile"),
		at("vmdk", size0, 0, 0, "KDMV", structure(512, set{0, "KDMV"}, set{4, uint32(1)})),
		at("vmdk", size0, 0, 0, "COWD", structure(512, set{0, "COWD"}, set{4, uint32(1)})),
		at("vmdk", 400, 0, 0, "# Disk DescriptorFile", structure(400, set{0, "# Disk DescriptorFile\nversion=1\n"})),
		at("vhd", size0, size0-512, 0, "conectix", vhd), at("vhd", size0, 0, 0, "conectix", vhd),
		at("vhd", size0, size0-511, 0, "conectix", vhd[:511]),
		at("vdi", 1024, 0, 0x40, "\x7f\x10\xda\xbe", structure(512, set{0, "<<< Oracle VM"}, set{0x40, "\x7f\x10\xda\xbe"}, set{0x44, uint32(0x10001)})),
		at("xfs_metadump", size0, 0, 0, "XFSM", structure(512, set{0, "XFSM"}, set{4, be16(63)}, set{6, byte(9)}, set{7, byte(3)})),
		at("xfs_metadump", size0, 0, 0, "XMD2", structure(512, set{0, "XMD2"}, set{4, be32(2)}, set{8, be32(1)})),
		plain("parallels", size0, 0, 0, "WithoutFreeSpace"), plain("parallels", size0, 0, 0, "WithouFreSpacExt"),
	}
	for _, sector := range []int64{512, 4096} {
		size := int64(64 * mib)
		cover, first, last := gptParts(sector, size)
		ss = append(ss,
			sample{name: "gpt", disk: sparseDisk{size, []piece{cover, first}}, magic: sector, bytes: "EFI PART"},
			sample{name: "gpt", disk: sparseDisk{size, []piece{cover, last}}, magic: size - sector, bytes: "EFI PART"})
		if sector == 512 {
			ss = append(ss, sample{name: "PMBR", disk: sparseDisk{size, []piece{cover}}, magic: 510, bytes: "\x55\xaa"})
		}
	}
	return ss
}
