package ondisk

import "testing"

// FuzzDecodeLog gives bytes to all that reads what is logged. None may read
// beyond them, or make much of little.
func FuzzDecodeLog(f *testing.F) {
	f.Add([]byte{}, byte(0))
	f.Add(make([]byte, 12), byte(1))
	head := make([]byte, 600)
	head[16] = 16
	f.Add(head, byte(2))
	for i := range described {
		b := make([]byte, 512)
		be.PutUint32(b, described[i].Magic)
		f.Add(b, byte(described[i].Type))
	}
	inode := make([]byte, InodeCore)
	(&Inode{Version: 3, Flags2: Flag2Bigtime | Flag2Nrext64}).Put(inode)
	f.Add(inode, byte(3))
	f.Fuzz(func(t *testing.T, b []byte, n byte) {
		DecodeLogRecord(b)
		DecodeLogOp(b)
		IsTransaction(b)
		ItemHead(b)
		if i, ok := DecodeBufferItem(b); ok {
			runs := i.Runs()
			if len(runs) > 64<<10/BufferChunk/2+1 {
				t.Fatalf("%d runs", len(runs))
			}
		}
		DecodeInodeItem(b)
		DecodeInodeCreate(b)
		DecodeDquotItem(b)
		QuotaOffFlags(b)
		if _, ok := IntentID(b); ok {
			IntentCount(b)
		}
		DecodeDquot(b)
		DecodeInode(b)
		if len(b) >= LogInodeSize(false) && LogInodeIsInode(b) && (b[4] != 3 || len(b) >= InodeCore) {
			PutLogInode(make([]byte, 256), b, 1)
		}
		if d := Describe(b); d != nil {
			d.BlockLSN(b)
			d.BlockUUID(b)
			d.At(b, 0)
		}
		DescribeAs(BufferType(n), b)
		for _, r := range []ForkRoot{BmbtRoot, MetaRoots[MetaRTRmap], MetaRoots[MetaRTRefcount]} {
			r.Put(make([]byte, n), b, n&1 == 0)
			r.Children(b)
		}
		BmbtChildren(b)
	})
}
