package recovery

import (
	"encoding/binary"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/super"
	"mkfs/internal/xlog"
)

var (
	be = binary.BigEndian
	le = binary.LittleEndian
)

// filesystem is a new one whose log is being written.
type filesystem struct {
	t    testing.TB
	d    *disk
	ext  *disk // of an external log
	fs   *super.Filesystem
	log  *logtest.Log
	tid  uint32
	base int64 // of the log, on its device
}

const testSize = 48 << 20

func newFilesystem(t testing.TB, name string, change func(s *geometry.Spec)) *filesystem {
	t.Helper()
	d, ext := formatted(t, name, testSize, change)
	f := &filesystem{t: t, d: d, ext: ext}
	f.fs = super.Read(f.bytes(0, super.ReadSize), d.size, func(m string) { t.Fatal(m) })
	f.newLog()
	return f
}

// plain is the filesystem of most tests.
func plain(t testing.TB) *filesystem { return newFilesystem(t, "plain", nil) }

// version4 is one of the old format.
func version4(t testing.TB) *filesystem {
	return newFilesystem(t, "version 4", func(s *geometry.Spec) { s.Features.CRC = geometry.Given(false) })
}

func (f *filesystem) logDisk() *disk {
	if f.ext != nil {
		return f.ext
	}
	return f.d
}

func (f *filesystem) newLog() {
	shape := f.fs.Log()
	f.log = logtest.New(shape.Blocks, shape.UUID)
	f.log.Version, f.log.Stripe, f.log.Sum = shape.Version, shape.Stripe, true
	if f.ext == nil {
		at, _ := f.fs.InternalLog()
		f.base = int64(at)
	}
	f.logDisk().ReadAt(f.log.B, f.base)
	f.log.Last, f.log.Head = 0, ondisk.CleanLogSize(shape.Stripe)/xlog.BlockSize
	f.log.Tail = f.log.LSN()
}

// commit adds a transaction to the log, and returns its number.
func (f *filesystem) commit(items ...logtest.Item) xlog.LSN {
	f.tid++
	return xlog.LSN(f.log.AddAll(logtest.Transaction(f.tid, items...)...)[0].LSN)
}

// install puts the log in its place.
func (f *filesystem) install() {
	d := f.logDisk()
	for at := 0; at < len(f.log.B); at += page {
		b := f.log.B[at:min(len(f.log.B), at+page)]
		if string(b) != string(noPage[:len(b)]) {
			d.WriteAt(b, f.base+int64(at))
		}
	}
}

// recover installs the log and recovers.
func (f *filesystem) recover(change func(o *Options)) Report {
	f.t.Helper()
	rep, err := f.try(change)
	if err != nil {
		f.t.Fatal(err)
	}
	return rep
}

func (f *filesystem) try(change func(o *Options)) (Report, error) {
	f.t.Helper()
	f.install()
	return attempt{change: change}.run(f.t, f.d, f.ext)
}

func (f *filesystem) bytes(off int64, n int) []byte {
	b := make([]byte, n)
	if _, err := f.d.ReadAt(b, off); err != nil && n != super.ReadSize {
		f.t.Fatal(err)
	}
	return b
}

// place is a block of an AG.
func (f *filesystem) place(agno geometry.AGNumber, agbno geometry.AGBlock) int64 {
	return int64(f.fs.Geometry.Offset(agno, agbno))
}

// free is a block in which there is nothing.
func (f *filesystem) free(n int) int64 { return f.place(0, geometry.AGBlock(2000+n)) }

func daddr(off int64) int64 { return off / xlog.BlockSize }

// kindsOfBlocks are all that describe themselves.
var kindsOfBlocks = []struct {
	name  string
	kind  ondisk.BufferType
	magic uint32 // one of 16 bits stands elsewhere
}{
	{"bnobt", ondisk.BufferBtree, 0x41423342}, {"cntbt", ondisk.BufferBtree, 0x41423343},
	{"inobt", ondisk.BufferBtree, 0x49414233}, {"finobt", ondisk.BufferBtree, 0x46494233},
	{"rmapbt", ondisk.BufferBtree, 0x524d4233}, {"refcountbt", ondisk.BufferBtree, 0x52334643},
	{"bmbt", ondisk.BufferBtree, 0x424d4133}, {"rtrmapbt", ondisk.BufferBtree, 0x4d415052},
	{"rtrefcountbt", ondisk.BufferBtree, 0x52434e54},
	{"AGF", ondisk.BufferAGF, 0x58414746}, {"AGFL", ondisk.BufferAGFL, 0x5841464c}, {"AGI", ondisk.BufferAGI, 0x58414749},
	{"symlink", ondisk.BufferSymlink, 0x58534c4d}, {"directory block", ondisk.BufferDirBlock, 0x58444233},
	{"directory data", ondisk.BufferDirData, 0x58444433}, {"directory free", ondisk.BufferDirFree, 0x58444633},
	{"leaf 1", ondisk.BufferDirLeaf1, 0x3df1}, {"leaf n", ondisk.BufferDirLeafN, 0x3dff},
	{"node", ondisk.BufferDaNode, 0x3ebe}, {"attribute leaf", ondisk.BufferAttrLeaf, 0x3bee},
	{"attribute value", ondisk.BufferAttrRemote, 0x5841524d},
}

// described is a block of a kind, with other contents by seed.
func (f *filesystem) described(magic uint32, off int64, lsn xlog.LSN, seed byte) []byte {
	b := make([]byte, f.fs.Geometry.BlockSize)
	for i := range b {
		b[i] = byte(i) + seed
	}
	if magic < 1<<16 {
		be.PutUint32(b, 0)
		be.PutUint16(b[8:], uint16(magic))
	} else {
		be.PutUint32(b, magic)
	}
	d := ondisk.Describe(b)
	if d == nil {
		f.t.Fatalf("%#x is no kind of block", magic)
	}
	copy(b[d.UUID:], f.fs.MetaUUID[:])
	if d.Blkno > 0 {
		be.PutUint64(b[d.Blkno:], uint64(daddr(off)))
	}
	d.SetLSN(b, uint64(lsn))
	ondisk.Seal(b, d.CRC)
	return b
}

// inodeAt is inode n of the root's chunk.
func (f *filesystem) inodeAt(n int) (at logtest.InodeAt, off int64) {
	g := &f.fs.Geometry
	root := f.fs.SB.RootInode + uint64(n)
	agno, agbno, _ := f.fs.Split(root>>g.InodeBlockLog(), 1)
	cluster := g.InodeChunk().ClusterBlocks
	start := agbno &^ (geometry.AGBlock(cluster) - 1)
	begin := f.place(agno, start)
	off = f.place(agno, agbno) + int64(root)&(1<<g.InodeBlockLog()-1)<<g.InodeLog
	return logtest.InodeAt{
		Number: root, Daddr: daddr(begin), Blocks: int(g.Bytes(cluster)) / xlog.BlockSize, Offset: int(off - begin),
	}, off
}

// inode is inode n of the root's chunk, as on disk.
func (f *filesystem) inode(n int) []byte {
	_, off := f.inodeAt(n)
	return f.bytes(off, int(f.fs.Geometry.InodeSize))
}

// file is an inode of a regular file, with a core to change, as it is logged.
func (f *filesystem) file(n int, change func(i *ondisk.Inode)) (core []byte) {
	return logtest.Core(f.core(n, change))[:ondisk.LogInodeSize(f.fs.V5)]
}

// core is that core as it is on disk.
func (f *filesystem) core(n int, change func(i *ondisk.Inode)) []byte {
	at, _ := f.inodeAt(n)
	i := ondisk.Inode{
		Mode: ondisk.ModeRegular | 0o644, Version: 2, Format: ondisk.FormatExtents, Nlink: 1, UID: 5, GID: 6, ProjectID: 0x10002,
		Atime: 1<<32 | 2, Mtime: 3<<32 | 4, Ctime: 5<<32 | 6, Size: 12345, Blocks: 100, Generation: 9,
		NextUnlinked: ondisk.NullAGInode, Extents: 3, AttrExtents: 1, AttrFormat: ondisk.FormatExtents, ExtentSize: 7, Flags: 8,
	}
	if f.fs.V5 {
		i.Version, i.Number, i.UUID = 3, at.Number, f.fs.MetaUUID
		i.ChangeCount, i.Flags2, i.Crtime, i.CowExtent = 77, ondisk.Flag2Bigtime|ondisk.Flag2Nrext64, 7<<32|8, 3
		i.BigExtents, i.Extents, i.AttrExtents = 3, 1, 0
	}
	if change != nil {
		change(&i)
	}
	b := make([]byte, ondisk.InodeCore)
	i.Put(b)
	return b
}
