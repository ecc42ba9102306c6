package options

import (
	"math"

	"github.com/google/uuid"

	"mkfs/internal/geometry"
)

// Section is an option of one letter and its suboptions.
type Section struct {
	Flag    byte
	Name    string // of the section in a configuration file, "" for none
	Help    string
	Example string // what to give mkfs, and behind a # why
	Rows    []Row
}

const (
	kib = 1 << (10 * (iota + 1))
	mib
	gib
	tib

	minSector, maxSector = 512, 32 * kib
	maxU32               = math.MaxUint32
	maxSize              = math.MaxInt64
)

// Sections is the table of all suboptions.
var Sections = []Section{
	{'b', "block", "block size", "-b size=1k disk.img # blocks of 1 KiB, for many small files", []Row{
		unit("size", "bytes in a filesystem block: 1k to 64k, 512 with -m crc=0", 512, 64*kib,
			func(q *Request) *geometry.Opt[int64] { return &q.Spec.BlockSize }),
	}},
	{'c', "", "configuration file", "-c defaults=site.conf -m reflink=0 /dev/sdb1 # a site's defaults, but for one", []Row{
		text("options", "read more options from this file",
			func(q *Request) *geometry.Opt[string] { return &q.ConfigFile }),
		text("defaults", "read defaults from this file; any other option overrides them",
			func(q *Request) *geometry.Opt[string] { return &q.DefaultsFile }),
		text("makecfg", "write the features to this file, and make no filesystem on the target",
			func(q *Request) *geometry.Opt[string] { return &q.MakeConfig }),
	}},
	{'d', "data", "data section", "-d su=256k,sw=4 /dev/md0 # a RAID of four data disks with chunks of 256 KiB", dataRows},
	{'i', "inode", "inodes", "-i size=1024,maxpct=5 /dev/sdb1 # room for attributes within inodes", inodeRows},
	{'l', "log", "log", "-l logdev=/dev/nvme0n1p1,size=1g /dev/sdb1 # the log on a faster device", logRows},
	{'m', "metadata", "metadata features",
		"-m uuid=$(uuidgen),rmapbt=0,reflink=0 disk.img # a UUID of your own, fewer features", metadataRows},
	{'n', "naming", "directories", "-n size=16k,parent=0 /dev/sdb1 # larger directory blocks, no parent pointers", []Row{
		sized("size", "bytes in a directory block", geometry.Limits{Min: 4 * kib, Max: 64 * kib, Power2: true},
			func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.DirBlockSize }),
		{Name: "version", Help: "2, or ci for names without case", Values: []string{"2", "ci"}, set: namingVersion},
		boolean("ftype", "entries know their file's type",
			func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Ftype }),
		boolean("parent", "files know their directories",
			func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Parent }),
	}},
	{'p', "proto", "contents", "-p slashes_are_spaces=1,file=tree.proto disk.img # a prototype file with blanks in names", []Row{
		text("file", "fill the filesystem from this directory or prototype file; the name may stand without file=",
			func(q *Request) *geometry.Opt[string] { return &q.Proto.Path }).takesRest(),
		boolean("slashes_are_spaces", "a slash in a name of a prototype file stands for a blank",
			func(q *Request) *geometry.Opt[bool] { return &q.Proto.SlashesAreSpaces }),
		boolean("atime", "files of a directory keep their access times",
			func(q *Request) *geometry.Opt[bool] { return &q.Proto.AccessTimes }),
	}},
	{'r', "realtime", "realtime section", "-r rtdev=/dev/sdc1,extsize=64k /dev/sdb1 # file data on a device of its own",
		realtimeRows},
	{'s', "sector", "sector size", "-s size=4k disk.img # an image that is to be copied to a disk with 4 KiB sectors",
		[]Row{
			sector("size", "bytes in a sector, of data and log").excludes("s sectsize", "d sectsize"),
			sector("sectsize", "the same as size").excludes("d sectsize"),
		}},
}

// sector is a sector size of data and log; a log sector size that follows counts.
func sector(name, help string) Row {
	r := unit(name, help, minSector, maxSector,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.SectorSize })
	setData := r.set
	r.set = func(q *Request, key, value string) error {
		err := setData(q, key, value)
		q.Spec.Log.SectorSize = q.Spec.SectorSize
		return err
	}
	return r
}

var dataRows = []Row{
	number("agcount", "number of allocation groups", 1, maxU32-1,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Data.AGCount }).excludes("d agsize", "d concurrency"),
	size("agsize", "size of an allocation group: 16m to 1t", 16*mib, tib,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.Data.AGSize }).excludes("d concurrency"),
	boolean("file", "the target is a file: make it, or empty it, with the size given",
		func(q *Request) *geometry.Opt[bool] { return &q.Data.File }),
	text("name", "the target, in place of the argument",
		func(q *Request) *geometry.Opt[string] { return &q.Data.Path }),
	size("size", "size of the data section", 16*mib, maxSize,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.Data.Size }),
	number("sunit", "stripe unit in 512-byte blocks", 0, maxU32,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Data.StripeUnit512 }).excludes("d noalign", "d su", "d sw"),
	number("swidth", "stripe width in 512-byte blocks", 0, maxU32,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Data.StripeWidth512 }).excludes("d noalign", "d su", "d sw"),
	size("su", "stripe unit", 0, maxU32,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.Data.StripeUnit }).excludes("d noalign").noDefault(),
	number("sw", "stripe width in stripe units", 0, maxU32,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Data.StripeWidth }).excludes("d noalign"),
	unit("sectsize", "bytes in a sector of the data section", minSector, maxSector,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.SectorSize }),
	boolean("noalign", "ignore the device's stripes",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Data.NoAlign }),
	boolean("rtinherit", "files are to lie in the realtime section",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Data.Inherit.Realtime }),
	number32("projinherit", "project of new files",
		func(q *Request) *geometry.Opt[uint32] { return &q.Spec.Data.Inherit.ProjectID }),
	number32("extszinherit", "extent size hint of new files, in blocks",
		func(q *Request) *geometry.Opt[uint32] { return &q.Spec.Data.Inherit.ExtentSize }),
	number32("cowextsize", "copy-on-write extent size hint of new files, in blocks",
		func(q *Request) *geometry.Opt[uint32] { return &q.Spec.Data.Inherit.CowExtent }),
	boolean("daxinherit", "files are to be mapped directly",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Data.Inherit.DAX }),
	threads("concurrency", "make enough allocation groups for that many threads", plain,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Data.Concurrency }),
}

var inodeRows = []Row{
	boolean("align", "align inode chunks",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Align }),
	number("maxpct", "most of the space that inodes may take, in percent; 0 for all", 0, 100,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Inode.MaxPercent }),
	power2("perblock", "inodes in a block", 2, 256,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Inode.PerBlock }).excludes("i size"),
	power2("size", "bytes in an inode: 512 to 2048, 256 with -m crc=0", 256, 2048,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Inode.Size }),
	number("attr", "version of the attribute fork", 0, 2,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Features.Attr }),
	boolean("projid32bit", "project numbers of 32 bits",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Projid32 }),
	boolean("sparse", "inode chunks may have holes",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Sparse }),
	boolean("nrext64", "extent counters of 64 bits",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Nrext64 }),
	boolean("exchange", "files can exchange contents atomically",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Exchange }),
	size("max_atomic_write", "make the log large enough for writes of that size to be all or nothing", 1, gib,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.Inode.MaxAtomicWrite }),
}

var logRows = []Row{
	number("agnum", "allocation group of the log", 0, maxU32,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Log.AG }).excludes("l logdev"),
	{Name: "internal", Help: "the log is in the data section", Values: zeroAndOne, bare: true, set: func(q *Request,
		key, value string) error {
		on, err := zeroOne(key, value)
		q.Spec.Log.External = !on
		return err
	}, not: []string{"l file", "l logdev", "l sectsize"}},
	size("size", "size of the log: 64m to 2038m", 2*mib, 2*gib-10*mib,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.Log.Size }).excludes("l concurrency"),
	number("version", "version of the log", 1, 2,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Features.LogVersion }),
	number("sunit", "log stripe unit in 512-byte blocks", 1, 512,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Log.StripeUnit512 }).excludes("l su"),
	size("su", "log stripe unit, up to 256k", 512, 256*kib,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.Log.StripeUnit }).noDefault(),
	logDevice("logdev", "device or file of an external log").excludes("l name", "l concurrency"),
	unit("sectsize", "bytes in a sector of the log", minSector, maxSector,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Log.SectorSize }),
	boolean("file", "the external log is a file: make it, or empty it, with the size given",
		func(q *Request) *geometry.Opt[bool] { return &q.Log.File }).excludes("l concurrency"),
	logDevice("name", "the same as logdev").cannotFollow("l internal", "l agnum"),
	boolean("lazy-count", "keep the counters of free space out of the superblock",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.LazyCount }),
	threads("concurrency", "make the log large enough for that many threads", plain,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.Log.Concurrency }),
}

func logDevice(name, help string) Row {
	return Row{Name: name, Help: help, Arg: "PATH", set: func(q *Request, _, value string) error {
		q.Spec.Log.External = true
		q.Log.Path = given(q, value)
		return nil
	}}
}

var metadataRows = []Row{
	boolean("crc", "checksums; 0 makes the old V4 format",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.CRC }),
	boolean("finobt", "btree of free inodes",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Finobt }),
	{Name: "uuid", Help: "the filesystem's UUID; random without it", Arg: "UUID", again: true, set: func(q *Request,
		key, value string) error {
		id, err := uuid.Parse(value)
		if err != nil || len(value) != len(id.String()) {
			return fault(key, "%q is no UUID, which looks like %s", value, uuid.NameSpaceDNS)
		}
		q.UUID = given(q, [16]byte(id))
		return nil
	}},
	boolean("rmapbt", "btree of the owners of blocks",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Rmapbt }),
	boolean("reflink", "files can share blocks",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Reflink }),
	boolean("inobtcount", "count the blocks of inode btrees",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.InobtCount }),
	boolean("bigtime", "times up to 2486",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Bigtime }),
	{Name: "autofsck", Help: "what a background checker may do: none, check, optimize or repair", Values: autofsckWords,
		bare: true, free: isAutofsckWord, set: autofsck},
	boolean("metadir", "metadata files have a directory, and the realtime section has groups",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.Features.Metadir }),
	quota("uquota", "count what users have, and limit it",
		geometry.CountUsers|geometry.LimitUsers).excludes("m uqnoenforce"),
	quota("gquota", "count what groups have, and limit it",
		geometry.CountGroups|geometry.LimitGroups).excludes("m gqnoenforce"),
	quota("pquota", "count what projects have, and limit it",
		geometry.CountProjects|geometry.LimitProjects).excludes("m pqnoenforce"),
	quota("uqnoenforce", "count what users have", geometry.CountUsers),
	quota("gqnoenforce", "count what groups have", geometry.CountGroups),
	quota("pqnoenforce", "count what projects have", geometry.CountProjects),
}

const maxGroups = math.MaxInt32 // realtime groups, and blocks in one

var realtimeRows = []Row{
	rtDevice("rtdev", "device or file of the realtime section").excludes("r name", "r start"),
	size("extsize", "what is allocated as one: 4k to 1g", 4*kib, gib,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.RT.ExtentSize }),
	size("size", "size of the realtime section", 0, maxSize,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.RT.Size }),
	boolean("file", "the realtime device is a file",
		func(q *Request) *geometry.Opt[bool] { return &q.RT.File }),
	rtDevice("name", "the same as rtdev"),
	boolean("noalign", "ignore the device's stripes",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.RT.NoAlign }),
	number("rgcount", "number of realtime groups", 1, maxGroups,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.RT.GroupCount }).excludes("r rgsize", "r concurrency"),
	size("rgsize", "size of a realtime group", 0, maxGroups*64*kib,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.RT.GroupSize }).excludes("r concurrency").readLate(),
	threads("concurrency", "make enough realtime groups for that many threads", withUnit,
		func(q *Request) *geometry.Opt[int64] { return &q.Spec.RT.Concurrency }),
	boolean("zoned", "write the realtime section in zones; without rtdev it is on the target too",
		func(q *Request) *geometry.Opt[bool] { return &q.Spec.RT.Zoned }).cannotFollow("r extsize"),
	size("start", "where a realtime section on the target starts", 0, maxSize,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.RT.Start }),
	size("reserved", "space that only garbage collection of zones may take", 0, maxSize,
		func(q *Request) *geometry.Opt[geometry.Size] { return &q.Spec.RT.Reserved }),
}

func rtDevice(name, help string) Row {
	return Row{Name: name, Help: help, Arg: "PATH", set: func(q *Request, _, value string) error {
		q.Spec.RT.Device = true
		q.RT.Path = given(q, value)
		return nil
	}}
}
