package recovery

import (
	"encoding/binary"
	"testing"

	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// seedItems are items of all kinds.
func seedItems(f *filesystem) (all [][]logtest.Item) {
	at, _ := f.inodeAt(5)
	f.d.WriteAt(f.dquotBlock(ondisk.DquotUser), f.free(90))
	f.ownedTree(5)
	root := f.root(ondisk.BmbtMagic, 2, 1, 1, 8)
	be.PutUint64(root[72+8:], uint64(f.free(100))>>12)
	btree := func(i *ondisk.Inode) { i.Format = ondisk.FormatBtree }
	meta := func(i *ondisk.Inode) { i.Format, i.Metadata = ondisk.FormatMetaBtree, ondisk.MetaRTRmap }
	pointers := make([]byte, at.Blocks*xlog.BlockSize)
	for i := range pointers {
		pointers[i] = 0xff
	}
	items := []logtest.Item{
		logtest.Buffer(uint8(ondisk.BufferBtree), 0, daddr(f.free(0)), f.described(0x41423342, f.free(0), 0, 1), some),
		logtest.Buffer(uint8(ondisk.BufferSuperblock), 0, 0, f.bytes(0, 512), nil),
		logtest.Buffer(uint8(ondisk.BufferInodes), logtest.Inodes, at.Daddr, pointers, some),
		logtest.Cancel(daddr(f.free(1)), 4096),
		logtest.Inode(at, fieldExtents, 0, f.file(5, nil), make([]byte, 48)),
		logtest.Inode(at, fieldBtree|fieldOwner, 0, f.file(5, btree), root),
		logtest.Inode(at, fieldBtree, 0, f.file(5, meta), f.root(ondisk.RTRmapMagic, 0, 2, 6, 40)),
		logtest.Create(0, 2400, 64, 512, 8, 1),
		logtest.Dquot(6, daddr(f.free(90)), 6*ondisk.DquotBlock, f.dquot(ondisk.DquotUser, 6, 1)),
		logtest.QuotaOff(0x08),
		logtest.Intent(0x1236, 7, 1, make([]byte, 16)),
		logtest.Intent(0x1237, 7, 1, make([]byte, 16)),
		logtest.Intent(0x1246, 9, 0, make([]byte, 24), []byte("name")),
	}
	all = append(all, items)
	for _, it := range items {
		all = append(all, []logtest.Item{it})
	}
	return all
}

// FuzzOperations edits what is logged, and replays it. Whatever it is, that
// ends with a result or with an error that says what is wrong.
func FuzzOperations(f *testing.F) {
	fs := plain(f)
	type base struct {
		data       []byte
		operations uint32
	}
	var bases []base
	for _, items := range seedItems(fs) {
		ops := logtest.Transaction(1, items...)
		bases = append(bases, base{fs.log.Make(ops...).Data, uint32(len(ops))})
	}
	for i := range bases {
		f.Add(byte(i), []byte{})
		f.Add(byte(i), []byte{0, 40, 2, 0xff, 0, 60, 4, 0x80})
	}
	f.Fuzz(func(t *testing.T, which byte, edits []byte) {
		b := bases[int(which)%len(bases)]
		data := append([]byte(nil), b.data...)
		for ; len(edits) >= 4; edits = edits[4:] {
			at := int(binary.BigEndian.Uint16(edits)) % len(data)
			switch edits[2] % 4 {
			case 0:
				data[at] = edits[3]
			case 1:
				data[at] += edits[3]
			case 2:
				data[at] ^= edits[3]
			case 3: // elsewhere
				copy(data[at:], data[int(edits[3])*7%len(data):][:min(8, len(data)-int(edits[3])*7%len(data))])
			}
		}
		d := fs.d.clone()
		ring := newRing(d, 1)
		dev := Device{Name: "data", Ring: ring, Size: d.size, Align: 512}
		p := newReplay(fs.fs, newBlocks(&Options{Data: dev, Depth: 4, Limit: 256 << 10, Memory: memory}, nil), 4, d.size, 1<<32|4)
		for _, commit := range []func(*transaction) error{p.firstPass, p.secondPass} {
			rec := &xlog.Record{Header: ondisk.LogRecord{LSN: 1<<32 | 2, Operations: b.operations}, Data: append([]byte(nil), data...)}
			a := newAssembler(commit)
			for range 2 { // the second begins the same transaction again, or goes on with it
				if err := a.add(rec); err != nil {
					ring.Reap(1 << 20)
					return
				}
			}
		}
		if err := p.drain(0); err == nil {
			p.cache.endCheckpoint()
			p.cache.Flush() // its errors are the ring's
		}
		ring.Reap(1 << 20)
		if ring.err != nil {
			t.Fatal(ring.err)
		}
	})
}
