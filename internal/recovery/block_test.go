package recovery

import (
	"bytes"
	"errors"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

func some(chunk int) bool { return chunk%3 != 1 }

// A block is replayed if what is on disk is older, or another filesystem's, or
// nothing. Only chunks that were logged change; it bears the number of the
// change, and is sealed.
func TestBlocks(t *testing.T) {
	lsn := xlog.LSN(plain(t).log.LSN())
	for i, c := range []struct {
		name     string
		lsn      xlog.LSN
		foreign  bool
		replayed bool
	}{
		{"older", lsn - 1, false, true},
		{"never", 0, false, true},
		{"equal", lsn, false, false},
		{"newer", lsn + 1, false, false},
		{"null", ^xlog.LSN(0), false, true},
		{"foreign", lsn + 1, true, true},
	} {
		f := plain(t)
		var items []logtest.Item
		wants, skipped := map[int64][]byte{}, int64(0)
		for j, k := range kindsOfBlocks {
			off := f.free(j)
			old := f.described(k.magic, off, c.lsn, 0)
			d := ondisk.Describe(old)
			chunks := some
			if c.foreign {
				old[d.UUID] ^= 1
				ondisk.Seal(old, d.CRC)
				chunks = func(int) bool { return true }
			}
			f.d.WriteAt(old, off)
			logged := f.described(k.magic, off, 0, byte(i+1))
			items = append(items, logtest.Buffer(uint8(k.kind), 0, daddr(off), logged, chunks))
			want := bytes.Clone(old)
			if c.replayed || d.Unordered {
				for n := range len(want) / logtest.Chunk {
					if chunks(n) {
						copy(want[n*logtest.Chunk:], logged[n*logtest.Chunk:][:logtest.Chunk])
					}
				}
				d.SetLSN(want, uint64(lsn))
				ondisk.Seal(want, d.CRC)
			} else {
				skipped++
			}
			wants[off] = want
		}
		f.commit(items...)
		if rep := f.recover(nil); rep.Stats.Skipped != skipped || !rep.Finished {
			t.Errorf("%s: %+v", c.name, rep)
		}
		for j, k := range kindsOfBlocks {
			if off := f.free(j); !bytes.Equal(f.bytes(off, len(wants[off])), wants[off]) {
				t.Errorf("%s, %s: not as expected", k.name, c.name)
			}
		}
	}
}

// What is no block of a known kind is replayed as it is, whatever is there.
func TestUnknownBlock(t *testing.T) {
	f := plain(t)
	off := f.free(0)
	data := bytes.Repeat([]byte("what"), 1024)
	f.commit(logtest.Buffer(0, 0, daddr(off), data, nil))
	f.recover(nil)
	if !bytes.Equal(f.bytes(off, len(data)), data) {
		t.Error("not replayed")
	}
}

// Several transactions bear the number of one record, and change one block.
func TestSameNumber(t *testing.T) {
	f := plain(t)
	off := f.free(0)
	block := f.described(0x41423342, off, 0, 1)
	f.d.WriteAt(block, off)
	var ops []logtest.Op
	for i := range 3 {
		at := 10 + i
		copy(block[at*logtest.Chunk:], bytes.Repeat([]byte{byte(0xc0 + i)}, logtest.Chunk))
		ops = append(ops, logtest.Transaction(uint32(i), logtest.Buffer(uint8(ondisk.BufferBtree), 0, daddr(off), block,
			func(c int) bool { return c == at }))...)
	}
	rec := f.log.Add(ops...)
	d := ondisk.Describe(block)
	d.SetLSN(block, rec.LSN)
	ondisk.Seal(block, d.CRC)
	if rep := f.recover(nil); rep.Stats.Skipped != 0 || rep.Stats.Transactions != 3 {
		t.Errorf("%+v", rep.Stats)
	}
	if !bytes.Equal(f.bytes(off, len(block)), block) {
		t.Error("not all was replayed")
	}
}

// A block that is written when memory is short, between two transactions that bear
// the same number, keeps the number from before: the second must not take it for done.
func TestSameNumberLittleMemory(t *testing.T) {
	f := plain(t)
	var ops []logtest.Op
	tid := uint32(0)
	change := func(n, chunk int) {
		tid++
		block := f.described(0x41423342, f.free(n), 0, 1)
		copy(block[chunk*logtest.Chunk:], bytes.Repeat([]byte{byte(chunk)}, logtest.Chunk))
		ops = append(ops, logtest.Transaction(tid, logtest.Buffer(uint8(ondisk.BufferBtree), 0, daddr(f.free(n)), block,
			func(c int) bool { return c == chunk }))...)
	}
	const blocks = 40 // more than fit
	for n := range blocks {
		f.d.WriteAt(f.described(0x41423342, f.free(n), 0, 1), f.free(n))
		change(n, 10)
	}
	for n := range blocks {
		change(n, 20)
	}
	f.log.Add(ops...)
	if rep := f.recover(limited); rep.Stats.Skipped != 0 || rep.Stats.Transactions != 2*blocks {
		t.Errorf("%+v", rep.Stats)
	}
	for n := range blocks {
		for _, chunk := range []int{10, 20} {
			got := f.bytes(f.free(n)+int64(chunk)*logtest.Chunk, logtest.Chunk)
			if !bytes.Equal(got, bytes.Repeat([]byte{byte(chunk)}, logtest.Chunk)) {
				t.Errorf("block %d lacks the change of chunk %d", n, chunk)
			}
		}
	}
}

// Blocks that would reach over the end of the filesystem, and a superblock that
// takes AGs away, are refused.
func TestOutside(t *testing.T) {
	newOne := func() *filesystem { // whose AGs have nothing but headers behind the first
		return newFilesystem(t, "external log", func(s *geometry.Spec) { s.Log.External = true })
	}
	f := newOne()
	end := daddr(int64(f.fs.Geometry.Bytes(f.fs.Geometry.Blocks)))
	fewer := f.bytes(0, int(f.fs.Geometry.SectorSize))
	be.PutUint32(fewer[88:], uint32(f.fs.Geometry.AGCount)-1)
	be.PutUint64(fewer[8:], uint64(f.fs.Geometry.Blocks-f.fs.Geometry.AGBlocks))
	data := bytes.Repeat([]byte("what"), 1024)
	for name, c := range map[string]struct {
		item logtest.Item
		ok   bool
	}{
		"the last block":      {logtest.Buffer(0, 0, end-8, data, nil), true},
		"over the end":        {logtest.Buffer(0, 0, end-7, data, nil), false},
		"behind the end":      {logtest.Buffer(0, 0, end, data, nil), false},
		"before the start":    {logtest.Buffer(0, 0, -8, data, nil), false},
		"an AG fewer":         {logtest.Buffer(uint8(ondisk.BufferSuperblock), 0, 0, fewer, nil), false},
		"the AGs that it has": {logtest.Buffer(uint8(ondisk.BufferSuperblock), 0, 0, f.bytes(0, len(fewer)), nil), true},
	} {
		f := newOne()
		f.commit(c.item)
		_, err := f.try(nil)
		if bad := new(xlog.Corrupt); (err == nil) != c.ok || err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What was logged of a block before it was last freed is void.
func TestCancelled(t *testing.T) {
	f := plain(t)
	off, other := f.free(0), f.free(1)
	write := func(off int64, seed byte) logtest.Item {
		return logtest.Buffer(0, 0, daddr(off), bytes.Repeat([]byte{seed}, 4096), nil)
	}
	cancel := logtest.Cancel(daddr(off), 4096)
	for _, c := range []struct {
		name         string
		transactions [][]logtest.Item
		want         byte
		cancelled    int64
	}{
		{"before", [][]logtest.Item{{write(off, 1)}, {cancel}}, 0, 1},
		{"again after", [][]logtest.Item{{write(off, 1)}, {cancel}, {write(off, 2)}}, 2, 1},
		{"twice", [][]logtest.Item{{write(off, 1)}, {cancel}, {write(off, 2)}, {cancel}, {write(off, 3)}}, 3, 2},
		{"twice, and no more", [][]logtest.Item{{write(off, 1)}, {cancel}, {write(off, 2)}, {cancel}}, 0, 2},
		{"in the same", [][]logtest.Item{{cancel, write(off, 1)}}, 0, 1},
		{"another length", [][]logtest.Item{{write(off, 1)}, {logtest.Cancel(daddr(off), 8192)}}, 1, 0},
		{"another block", [][]logtest.Item{{write(off, 1)}, {logtest.Cancel(daddr(other), 4096)}}, 1, 0},
	} {
		g := plain(t)
		for _, items := range c.transactions {
			g.commit(items...)
		}
		rep := g.recover(nil)
		if got := g.bytes(off, 1)[0]; got != c.want || rep.Stats.Cancelled != c.cancelled {
			t.Errorf("%s: %d, want %d; %d cancelled, want %d", c.name, got, c.want, rep.Stats.Cancelled, c.cancelled)
		}
	}
}

// Of a block of inodes only the pointers to the next unlinked ones are replayed.
func TestUnlinkedPointers(t *testing.T) {
	for _, f := range []*filesystem{plain(t), version4(t)} {
		size := int(f.fs.Geometry.InodeSize)
		at, _ := f.inodeAt(0)
		off := at.Daddr * xlog.BlockSize
		n := at.Blocks * xlog.BlockSize
		want := f.bytes(off, n)
		logged := bytes.Repeat([]byte{0xee}, n)
		chunks := func(c int) bool { return c*logtest.Chunk/size%2 == 1 }
		for i := range n / size {
			be.PutUint32(logged[i*size+96:], uint32(1000+i))
			if chunks(i * size / logtest.Chunk) {
				be.PutUint32(want[i*size+96:], uint32(1000+i))
				if f.fs.V5 {
					ondisk.Seal(want[i*size:][:size], ondisk.InodeCRC)
				}
			}
		}
		f.commit(logtest.Buffer(uint8(ondisk.BufferInodes), logtest.Inodes, at.Daddr, logged, chunks))
		f.recover(nil)
		if !bytes.Equal(f.bytes(off, n), want) {
			t.Errorf("V5 %v: not as expected", f.fs.V5)
		}
		bad := plain(t)
		clear(logged)
		bad.commit(logtest.Buffer(uint8(ondisk.BufferInodes), logtest.Inodes, at.Daddr, logged, nil))
		if _, err := bad.try(nil); err == nil {
			t.Error("a pointer of 0 is replayed")
		}
	}
}

// A block of inodes that is freed in the same transaction is not changed: what
// is cancelled comes last.
func TestUnlinkedPointersCancelled(t *testing.T) {
	f := plain(t)
	at, _ := f.inodeAt(0)
	n := at.Blocks * xlog.BlockSize
	off := at.Daddr * xlog.BlockSize
	want := f.bytes(off, n)
	f.commit(
		logtest.Buffer(uint8(ondisk.BufferInodes), logtest.Inodes, at.Daddr, bytes.Repeat([]byte{7}, n), nil),
		logtest.Cancel(at.Daddr, n),
	)
	if rep := f.recover(nil); rep.Stats.Cancelled != 1 || !bytes.Equal(f.bytes(off, n), want) {
		t.Errorf("%+v", rep.Stats)
	}
}
