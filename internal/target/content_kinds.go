package target

const (
	decompress = "decompress it first"
	extract    = "an image in it must be extracted first"
)

// begins is a format known by what stands at its start, one of several strings.
func begins(strings ...string) format { return bytesAt(0, strings...) }

// bytesAt is a format known by what stands somewhere else, counted from the end if that is negative.
func bytesAt(off int64, strings ...string) format {
	return format{magics: each(off, []int64{0}, strings...)}
}

// checked is a format that its magic number alone does not tell.
func checked(f format, check func(v *view, sb int64, m magic) bool) format {
	f.check = check
	return f
}

// contents are the kinds that have a magic number, from the public descriptions of
// the formats: RFCs, standards, or the documentation of the program that writes
// them, as named. Numbers of two or three bytes are checked further, since an image
// of random bytes is no archive.
var contents = []content{
	// Compressed: RFC 1952 (gzip), RFC 8878 (zstd), the xz, LZ4 frame and lzip format
	// descriptions, lzop's and ncompress's sources.
	{"data compressed with gzip", decompress, checked(begins("\x1f\x8b\x08"), checkGzip)},
	{"data compressed with xz", decompress, begins("\xfd7zXZ\x00")},
	{"data compressed with zstd", decompress, begins("\x28\xb5\x2f\xfd")},
	{"data compressed with lz4", decompress, begins("\x04\x22\x4d\x18", "\x02\x21\x4c\x18")},
	{"data compressed with bzip2", decompress, checked(begins("BZh"), checkBzip2)},
	{"data compressed with lzip", decompress, begins("LZIP\x00", "LZIP\x01")},
	{"data compressed with lzop", decompress, begins("\x89LZO\x00\x0d\x0a\x1a\x0a")},
	{"data compressed with compress", decompress, checked(begins("\x1f\x9d"), checkCompress)},

	// Images in a format of their own: libsparse of Android, partclone's IMAGE_FORMATS,
	// the WIM and EWF specifications, Apple's UDIF, whose block is at the end.
	{"a sparse image of Android's tools", "simg2img makes a raw image of it", begins("\x3a\xff\x26\xed")},
	{"an undo file of mkfs --undo", "mkfs undo puts back what it keeps", begins("mkfsundo")},
	{"an image of partclone", "partclone.restore writes it to a device or file", begins("partclone-image")},
	{"a Windows image (WIM)", "", begins("MSWIM\x00\x00\x00")},
	{"a forensic image (EWF)", "ewfexport makes a raw image of it", begins("EVF\x09\x0d\x0a\xff\x00",
		"EVF2\x0d\x0a\x81\x00")},
	{"a disk image of Apple (DMG)", "convert it to raw first", bytesAt(-512, "koly\x00\x00\x00\x04\x00\x00\x02\x00")},

	// Archives: POSIX.1 (tar, cpio -c), ar(5), cpio(5), deb(5), APPNOTE.TXT (zip), 7zFormat.txt,
	// the RAR technote, RPM's format manual, MS-CAB.
	{"a tar archive", extract, format{search: findTar}},
	{"a cpio archive", extract, format{search: findCpio}},
	{"a Debian package", "", begins("!<arch>\ndebian-binary")},
	{"an ar archive or a library", "", begins("!<arch>\n", "!<thin>\n")},
	{"a zip archive", extract, begins("PK\x03\x04", "PK\x05\x06", "PK\x07\x08PK")},
	{"a 7z archive", extract, begins("7z\xbc\xaf\x27\x1c")},
	{"a rar archive", extract, begins("Rar!\x1a\x07")},
	{"an RPM package", "", begins("\xed\xab\xee\xdb")},
	{"a cabinet archive", extract, begins("MSCF\x00\x00\x00\x00")},
	{"a xar archive", extract, begins("xar!\x00\x1c")},

	// Backups: xfsdump's global header, protocols/dumprestore.h of dump(8) in both byte
	// orders, the send streams of btrfs and of ZFS in both byte orders, gitformat-pack(5).
	{"a dump of xfsdump", "xfsrestore unpacks it", begins("xFSdump0")},
	{"a dump of dump(8)", "restore(8) unpacks it", bytesAt(24, "\x6c\xea\x00\x00", "\x00\x00\xea\x6c",
		"\x6b\xea\x00\x00", "\x00\x00\xea\x6b")},
	{"a stream of btrfs send", "btrfs receive unpacks it", begins("btrfs-stream\x00")},
	{"a stream of zfs send", "zfs receive unpacks it", bytesAt(8, "\xac\xcb\xba\xf5\x02\x00\x00\x00",
		"\x00\x00\x00\x02\xf5\xba\xcb\xac")},
	{"a pack of Git", "", begins("PACK\x00\x00\x00\x02", "PACK\x00\x00\x00\x03")},

	// Programs: the ELF gABI, the PE format (Microsoft), mach-o/loader.h and fat.h, the JVM
	// specification, whose number Mach-O shares, WebAssembly's, Android's dex-format.
	{"an executable (ELF)", "", checked(begins("\x7fELF"), checkELF)},
	{"an executable (PE)", "", checked(begins("MZ"), checkPE)},
	{"an executable (Mach-O)", "", begins("\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe")},
	{"an executable (Mach-O or Java)", "", begins("\xca\xfe\xba\xbe")},
	{"an executable (WebAssembly)", "", begins("\x00asm\x01\x00\x00\x00")},
	{"an executable (dex)", "", begins("dex\n0")},
	{"a script", "", checked(begins("#!"), checkScript)},

	// What boots: arch/x86/boot.rst and arch/arm64/booting.rst of the kernel, U-Boot's
	// image.h, the Devicetree specification, Android's bootimg.h.
	{"a Linux kernel", "", bytesAt(0x202, "HdrS")},
	{"a Linux kernel", "", bytesAt(56, "ARM\x64")},
	{"an image of U-Boot's mkimage", "", begins("\x27\x05\x19\x56")},
	{"a device tree or a FIT image", "", begins("\xd0\x0d\xfe\xed")},
	{"a boot image of Android", "", begins("ANDROID!", "VNDRBOOT")},

	// Databases: fileformat2.html of SQLite, gdbmconst.h of GDBM and db_page.h of Berkeley DB in
	// both byte orders (1.85's hash and btree have it at the start), LMDB's meta page, tdb.h of
	// Samba, rrd_format.h, HDF5's and NetCDF's specifications, Parquet's, Arrow's, [MS-MDB].
	{"a database (SQLite)", "", begins("SQLite format 3\x00")},
	{"a database (GDBM)", "", begins("\xce\x9a\x57\x13", "\xcd\x9a\x57\x13", "\xcf\x9a\x57\x13", "\xd0\x9a\x57\x13",
		"\xd1\x9a\x57\x13",
		"\x13\x57\x9a\xce", "\x13\x57\x9a\xcd", "\x13\x57\x9a\xcf", "\x13\x57\x9a\xd0", "\x13\x57\x9a\xd1")},
	{"a database (Berkeley DB)", "", bytesAt(12, "\x61\x15\x06\x00", "\x62\x31\x05\x00", "\x53\x22\x04\x00",
		"\x82\x45\x07\x00",
		"\x00\x06\x15\x61", "\x00\x05\x31\x62", "\x00\x04\x22\x53", "\x00\x07\x45\x82")},
	{"a database (Berkeley DB 1.85)", "", begins("\x61\x15\x06\x00", "\x62\x31\x05\x00", "\x00\x06\x15\x61",
		"\x00\x05\x31\x62")},
	{"a database (LMDB)", "", bytesAt(16, "\xde\xc0\xef\xbe\x01\x00\x00\x00", "\xbe\xef\xc0\xde\x00\x00\x00\x01")},
	{"a database (TDB)", "", begins("TDB file\n")},
	{"a database (RRDtool)", "", begins("RRD\x000")},
	{"a database (HDF5)", "", begins("\x89HDF\x0d\x0a\x1a\x0a")},
	{"a database (NetCDF)", "", begins("CDF\x01\x00", "CDF\x02\x00", "CDF\x05\x00")},
	{"a database (Parquet)", "", begins("PAR1")},
	{"a database (Arrow)", "", begins("ARROW1\x00\x00")},
	{"a database (Access)", "", bytesAt(4, "Standard Jet DB\x00", "Standard ACE DB\x00")},

	// Records of systems: systemd's JOURNAL_FILE_FORMAT, pcap-savefile(5), pcapng, makedumpfile's
	// diskdump, Windows' minidump and full dump.
	{"a journal of systemd", "", begins("LPKSHHRH")},
	{"a capture of network packets", "", begins("\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1",
		"\xa1\xb2\x3c\x4d")},
	{"a capture of network packets", "", checked(begins("\x0a\x0d\x0d\x0a"), checkPcapng)},
	{"a dump of a kernel's memory", "", begins("KDUMP   ", "DISKDUMP", "PAGEDUMP", "PAGEDU64")},
	{"a dump of a process", "", begins("MDMP\x93\xa7")},

	// Encrypted: the age specification, openssl-enc(1), KeePass's KDBX.
	{"an encrypted file (age)", "", begins("age-encryption.org/v")},
	{"an encrypted file (openssl)", "", begins("Salted__")},
	{"a database of passwords (KeePass)", "", begins("\x03\xd9\xa2\x9a")},

	// Documents: ISO 32000 (PDF), [MS-CFB] of older Office; newer ones are zip archives.
	{"a document (PDF)", "", begins("%PDF-")},
	{"a document (Microsoft Office)", "", begins("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")},
	{"a document (DjVu)", "", begins("AT&TFORM")},

	// Pictures, sound, films: RFC 2083 (PNG), JPEG's T.81, GIF89a, TIFF 6.0, RIFF, ISO 14496-12
	// (MP4), RFC 9559 (Matroska), RFC 3533 (Ogg), RFC 9639 (FLAC), ID3v2, ASF, MPEG-1 systems.
	{"a picture (PNG)", "", begins("\x89PNG\x0d\x0a\x1a\x0a")},
	{"a picture (JPEG)", "", checked(begins("\xff\xd8\xff"), checkJPEG)},
	{"a picture (GIF)", "", begins("GIF87a", "GIF89a")},
	{"a picture (TIFF)", "", begins("II*\x00", "MM\x00*", "II+\x00\x08\x00", "MM\x00+\x00\x08")},
	{"a picture (Photoshop)", "", begins("8BPS\x00\x01", "8BPS\x00\x02")},
	{"a picture, sound or film (RIFF)", "", checked(begins("RIFF"), checkRIFF)},
	{"a picture or film (ISO media, as MP4)", "", bytesAt(4, "ftyp")},
	{"a film (Matroska)", "", begins("\x1a\x45\xdf\xa3")},
	{"a film (ASF)", "", begins("\x30\x26\xb2\x75\x8e\x66\xcf\x11")},
	{"a film (MPEG)", "", begins("\x00\x00\x01\xba")},
	{"sound or a film (Ogg)", "", begins("OggS\x00")},
	{"sound (FLAC)", "", begins("fLaC\x00")},
	{"sound (MP3)", "", begins("ID3\x02", "ID3\x03", "ID3\x04")},
}

// texts are asked last: some formats begin with text.
var texts = []content{{"plain text", "", format{search: findText}}}
