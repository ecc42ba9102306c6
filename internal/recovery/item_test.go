package recovery

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

func TestInodeCreation(t *testing.T) {
	const at = 2400
	cluster := int64(32) // basic blocks
	for _, c := range []struct {
		name   string
		inodes uint32
		items  func(f *filesystem) []logtest.Item // of another transaction
		made   int
		refuse string
	}{
		{"full", 64, nil, 64, ""},
		{"sparse", 32, nil, 32, ""},
		{"cancelled", 64, func(f *filesystem) []logtest.Item {
			return []logtest.Item{logtest.Cancel(daddr(f.place(0, at)), 16<<10), logtest.Cancel(daddr(f.place(0, at))+cluster, 16<<10)}
		}, 0, ""},
		{"cancelled in part", 64, func(f *filesystem) []logtest.Item {
			return []logtest.Item{logtest.Cancel(daddr(f.place(0, at))+cluster, 16<<10)}
		}, 0, ""},
		{"neither", 16, nil, 0, "16 inodes in 2 blocks"},
		{"none", 0, nil, 0, "0 inodes in 0 blocks"},
	} {
		f := plain(t)
		off := f.place(0, at)
		old := bytes.Repeat([]byte{0x55}, 64*512)
		f.d.WriteAt(old, off)
		f.commit(logtest.Create(0, at, c.inodes, 512, c.inodes/8, 0xabcd))
		if c.items != nil {
			f.commit(c.items(f)...)
		}
		want := old
		for i := range c.made {
			in := ondisk.Inode{
				Version: 3, Generation: 0xabcd, NextUnlinked: ondisk.NullAGInode, Number: at*8 + uint64(i), UUID: f.fs.MetaUUID,
			}
			b := want[i*512:][:512]
			clear(b)
			in.Put(b)
			ondisk.Seal(b, ondisk.InodeCRC)
		}
		_, err := f.try(nil)
		if c.refuse == "" && err != nil || c.refuse != "" && (err == nil || !strings.Contains(err.Error(), c.refuse)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := f.bytes(off, len(want)); !bytes.Equal(got, want) {
			t.Errorf("%s: not as expected", c.name)
		}
	}
}

func TestDquots(t *testing.T) {
	for _, c := range []struct {
		name     string
		v4       bool
		lsn      int64 // on disk, from that of the change; -9 for none
		off      uint32
		kind     ondisk.DquotType
		cancel   bool
		replayed bool
	}{
		{"none", false, -9, 0, ondisk.DquotUser, false, true},
		{"older", false, -1, 0, ondisk.DquotUser, false, true},
		{"equal", false, 0, 0, ondisk.DquotUser, false, false},
		{"newer", false, 1, 0, ondisk.DquotUser, false, false},
		{"V4", true, -9, 0, ondisk.DquotUser, false, true},
		{"user quota off", false, -9, 0x01, ondisk.DquotUser, false, false},
		{"project quota off", false, -9, 0x08, ondisk.DquotProject, false, false},
		{"group quota off", false, -9, 0x40, ondisk.DquotGroup, false, false},
		{"another quota off", false, -9, 0x01, ondisk.DquotGroup, false, true},
		{"cancelled", false, -9, 0, ondisk.DquotUser, true, false},
	} {
		f := plain(t)
		if c.v4 {
			f = version4(t)
		}
		off := f.free(0)
		want := f.dquotBlock(c.kind)
		disk := want[6*ondisk.DquotBlock:][:ondisk.DquotBlock]
		if c.lsn != -9 {
			be.PutUint64(disk[112:], uint64(int64(f.log.LSN())+c.lsn))
			ondisk.Seal(disk, ondisk.DquotCRC)
		}
		f.d.WriteAt(want, off)
		// A block of dquots is replayed as it is, unless its kind is off.
		whole, other := f.dquotBlock(c.kind), f.free(1)
		flag := map[ondisk.DquotType]uint16{ondisk.DquotUser: 4, ondisk.DquotProject: 8, ondisk.DquotGroup: 16}[c.kind]
		f.commit(
			logtest.Dquot(6, daddr(off), 6*ondisk.DquotBlock, f.dquot(c.kind, 6, 0x77)),
			logtest.Buffer(1, flag, daddr(other), whole, nil),
		)
		if c.off != 0 {
			f.commit(logtest.QuotaOff(c.off))
		}
		if c.cancel {
			f.commit(logtest.Cancel(daddr(off), 4096))
		}
		if c.replayed {
			copy(disk, f.dquot(c.kind, 6, 0x77))
			if f.fs.V5 {
				ondisk.Seal(disk, ondisk.DquotCRC)
			}
		}
		f.recover(nil)
		if !bytes.Equal(f.bytes(off, len(want)), want) {
			t.Errorf("%s: not as expected", c.name)
		}
		off1 := c.off != 0 && !c.replayed
		if got := bytes.Equal(f.bytes(other, len(whole)), whole); got == off1 {
			t.Errorf("%s: its block is replayed: %v", c.name, got)
		}
	}
}

// Work that was promised but not done leaves the log as it is.
func TestIntents(t *testing.T) {
	for _, c := range []struct {
		name         string
		intent, done uint16
		count        int
		extra        int // bytes behind the number
		doneCount    int
		doneExtra    int
		regions      int
	}{
		{"extent free", 0x1236, 0x1237, 2, 32, 2, 32, 0},
		{"extent free", 0x1236, 0x1237, 2, 24, 2, 24, 0}, // of 32 bits
		{"rmap update", 0x1240, 0x1241, 2, 64, 0, 0, 0},
		{"refcount update", 0x1242, 0x1243, 3, 48, 0, 0, 0},
		{"mapping update", 0x1244, 0x1245, 1, 32, 0, 0, 0},
		{"attribute update", 0x1246, 0x1247, 0, 24, 0, 0, 1},
		{"mapping exchange", 0x1248, 0x1249, 0, 72, 0, 0, 0},
		{"realtime extent free", 0x124a, 0x124b, 1, 16, 1, 12, 0},
		{"realtime rmap update", 0x124c, 0x124d, 1, 32, 0, 0, 0},
		{"realtime refcount update", 0x124e, 0x124f, 1, 16, 0, 0, 0},
	} {
		for _, done := range []bool{false, true} {
			f := plain(t)
			f.commit(
				logtest.Intent(c.intent, 77, c.count, make([]byte, c.extra), make([][]byte, c.regions)...),
				logtest.Buffer(0, 0, daddr(f.free(0)), bytes.Repeat([]byte{1}, 4096), nil),
			)
			if c.regions > 0 {
				f = plain(t)
				f.commit(
					logtest.Intent(c.intent, 77, c.count, make([]byte, c.extra), []byte("name")),
					logtest.Buffer(0, 0, daddr(f.free(0)), bytes.Repeat([]byte{1}, 4096), nil),
				)
			}
			f.commit(logtest.Intent(c.done, 78, c.doneCount, make([]byte, c.doneExtra))) // began before the tail
			if done {
				f.commit(logtest.Intent(c.done, 77, c.doneCount, make([]byte, c.doneExtra)))
			}
			rep := f.recover(nil)
			if rep.Finished != done || (rep.Remains.Intents[c.name] == 1) == done {
				t.Errorf("%s, done %v: %+v", c.name, done, rep)
			}
			if f.bytes(f.free(0), 1)[0] != 1 {
				t.Errorf("%s, done %v: what can be is not replayed", c.name, done)
			}
			f.checkLog(!done)
		}
		f := plain(t)
		f.commit(logtest.Intent(c.intent, 77, c.count, make([]byte, c.extra+4)))
		var bad *xlog.Corrupt
		if _, err := f.try(nil); !errors.As(err, &bad) {
			t.Errorf("%s, too long: %v", c.name, err)
		}
	}
}

// checkLog tells whether the log on disk is what was written.
func (f *filesystem) checkLog(same bool) {
	f.t.Helper()
	b := make([]byte, len(f.log.B))
	f.logDisk().ReadAt(b, f.base)
	if bytes.Equal(b, f.log.B) != same {
		f.t.Errorf("the log is what it was: %v, want %v", !same, same)
	}
}

// changeBlock changes part of a block outside of the log.
func (f *filesystem) changeBlock(off int64, n, crc int, change func(b []byte)) {
	b := f.bytes(off, n)
	change(b)
	if f.fs.V5 {
		ondisk.Seal(b, crc)
	}
	f.d.WriteAt(b, off)
}

func TestUnlinkedRemain(t *testing.T) {
	for _, f := range []*filesystem{plain(t), version4(t)} {
		at, off := f.inodeAt(10)
		_, next := f.inodeAt(40)
		f.changeBlock(f.place(0, 0)+1024, 512, ondisk.AGICRC, func(b []byte) {
			be.PutUint32(b[40+4*5:], uint32(at.Number))
		})
		size := int(f.fs.Geometry.InodeSize)
		f.changeBlock(off, size, ondisk.InodeCRC, func(b []byte) { be.PutUint32(b[96:], uint32(at.Number+30)) })
		for _, circle := range []bool{false, true} {
			f.changeBlock(next, size, ondisk.InodeCRC, func(b []byte) {
				if be.PutUint32(b[96:], ondisk.NullAGInode); circle {
					be.PutUint32(b[96:], uint32(at.Number))
				}
			})
			g := *f
			g.d = f.d.clone()
			g.newLog()
			g.commit(logtest.QuotaOff(0))
			rep := g.recover(nil)
			if n := rep.Remains.Unlinked; rep.Finished || n < 2 || n > 2 && !circle {
				t.Errorf("%+v", rep)
			}
			g.checkLog(true)
		}
	}
}

// Nor does a circle take for ever if the AG is said to have any number of inodes.
func TestUnlinkedCircle(t *testing.T) {
	f := plain(t)
	at, off := f.inodeAt(10)
	f.changeBlock(f.place(0, 0)+1024, 512, ondisk.AGICRC, func(b []byte) {
		be.PutUint32(b[16:], 1<<31)
		be.PutUint32(b[40:], uint32(at.Number))
	})
	f.changeBlock(off, 512, ondisk.InodeCRC, func(b []byte) { be.PutUint32(b[96:], uint32(at.Number)) })
	f.commit(logtest.QuotaOff(0))
	if rep := f.recover(nil); rep.Finished || rep.Remains.Unlinked > 1<<17 {
		t.Errorf("%+v", rep)
	}
}

func TestStagingRemains(t *testing.T) {
	f := plain(t)
	agf, _ := ondisk.DecodeAGF(f.bytes(512, 512))
	f.changeBlock(f.place(0, geometry.AGBlock(agf.RefcountRoot)), 4096, 52, func(b []byte) {
		be.PutUint16(b[6:], 3)
		for i, start := range []uint32{3000, 1<<31 | 3000, 1<<31 | 4000} {
			be.PutUint32(b[56+12*i:], start)
			be.PutUint32(b[56+12*i+4:], 1)
			be.PutUint32(b[56+12*i+8:], 1)
		}
	})
	f.commit(logtest.QuotaOff(0))
	if rep := f.recover(nil); rep.Finished || rep.Remains.Staging != 2 {
		t.Errorf("%+v", rep)
	}
	f.checkLog(true)
}
