package recovery

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"mkfs/internal/aio/aiotest"
	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// mixture fills the log with transactions of all kinds of items that replaying
// can finish.
func (f *filesystem) mixture(seed uint64, transactions int) {
	r := rand.New(rand.NewPCG(seed, 2))
	const slots = 24
	for i := range slots {
		off := f.free(i)
		f.d.WriteAt(f.described(kindsOfBlocks[i%len(kindsOfBlocks)].magic, off, 0, 0), off)
	}
	dquots := f.free(30)
	f.d.WriteAt(f.dquotBlock(ondisk.DquotUser), dquots)
	const chunk = 2400 // of inodes
	for i := range transactions {
		var items []logtest.Item
		for range 1 + r.IntN(4) {
			slot := r.IntN(slots)
			k, off := kindsOfBlocks[slot%len(kindsOfBlocks)], f.free(slot)
			data := f.described(k.magic, off, 0, byte(r.Uint32()))
			mask := r.Uint32()
			items = append(items, logtest.Buffer(uint8(k.kind), 0, daddr(off), data, func(c int) bool { return mask>>c&1 != 0 || c < 3 }))
		}
		at, _ := f.inodeAt(3 + r.IntN(20))
		switch i % 7 {
		case 0:
			n := int(at.Number - f.fs.SB.RootInode)
			items = append(items, logtest.Inode(at, 0, 0, f.file(n, func(in *ondisk.Inode) { in.Size = r.Uint64() })))
		case 1:
			items = append(items, logtest.Create(0, chunk, 64, 512, 8, uint32(i)))
		case 2:
			items = append(items, logtest.Dquot(5, daddr(dquots), 5*ondisk.DquotBlock, f.dquot(ondisk.DquotUser, 5, byte(i))))
		case 3:
			off := f.free(40)
			items = append(items, logtest.Buffer(0, 0, daddr(off), bytes.Repeat([]byte{byte(i)}, 4096), nil))
		case 4:
			items = append(items, logtest.Cancel(daddr(f.free(40)), 4096))
		case 5:
			pointers := bytes.Repeat([]byte{0xff}, at.Blocks*xlog.BlockSize)
			be.PutUint32(pointers[8*512+96:], uint32(100+i))
			items = append(items, logtest.Buffer(uint8(ondisk.BufferInodes), logtest.Inodes, at.Daddr, pointers, func(c int) bool { return c/4 == 8 }))
		case 6:
			items = append(items,
				logtest.Intent(0x1236, uint64(i), 1, make([]byte, 16)), logtest.Intent(0x1237, uint64(i), 1, make([]byte, 16)))
		}
		f.commit(items...)
	}
	f.install()
}

// dquotBlock is a block of dquots of a kind.
func (f *filesystem) dquotBlock(t ondisk.DquotType) []byte {
	b := make([]byte, f.fs.Geometry.BlockSize)
	for i := range len(b) / ondisk.DquotBlock {
		d := b[i*ondisk.DquotBlock:][:ondisk.DquotBlock]
		copy(d, f.dquot(t, uint32(i), 0))
		if f.fs.V5 {
			copy(d[120:], f.fs.MetaUUID[:])
			ondisk.Seal(d, ondisk.DquotCRC)
		}
	}
	return b
}

// dquot is one as it is logged.
func (f *filesystem) dquot(t ondisk.DquotType, id uint32, seed byte) []byte {
	b := bytes.Repeat([]byte{seed}, ondisk.DquotSize)
	be.PutUint16(b, 0x4451)
	b[2], b[3] = 1, byte(t)
	be.PutUint32(b[4:], id)
	return b
}

// unstamped is a device without the numbers and checksums of blocks. How far a
// block has come before memory was short decides about these.
func (f *filesystem) unstamped(d *disk) *disk {
	c := d.clone()
	for i := range 24 {
		b := make([]byte, f.fs.Geometry.BlockSize)
		c.ReadAt(b, f.free(i))
		k := ondisk.Describe(b)
		if k == nil {
			f.t.Fatalf("block %d is none", i)
		}
		if !ondisk.Sealed(b, k.CRC) {
			f.t.Errorf("block %d is not sealed", i)
		}
		k.SetLSN(b, 0)
		ondisk.Seal(b, k.CRC)
		c.WriteAt(b, f.free(i))
	}
	return c
}

func mixed(t testing.TB, seed uint64, transactions int) *filesystem {
	f := plain(t)
	f.mixture(seed, transactions)
	return f
}

// result is the device after an undisturbed run.
func (f *filesystem) result() (*disk, Report) {
	f.t.Helper()
	d := f.d.clone()
	rep, err := attempt{}.run(f.t, d, nil)
	if err != nil || !rep.Finished {
		f.t.Fatalf("%+v, %v", rep, err)
	}
	again, err := attempt{}.run(f.t, d, nil)
	if err != nil || !again.Log.Clean || !again.Finished {
		f.t.Fatalf("afterwards: %+v, %v", again, err)
	}
	return d, rep
}

// limited makes memory so short that blocks are written in the middle of checkpoints.
func limited(o *Options) { o.Limit = 64 << 10 }

// The result is the same however deep the reading is, in whatever order reads
// and writes complete, and with any amount of memory: but for the numbers of
// blocks that were written when memory was short, which may be older.
func TestResultIsTheSame(t *testing.T) {
	f := mixed(t, 1, 100)
	want, rep := f.result()
	if rep.Stats.Transactions != 100 || rep.Stats.Cancelled == 0 {
		t.Errorf("%+v", rep.Stats)
	}
	for _, depth := range []int{1, 7, 100} {
		for seed := range uint64(3) {
			d := f.d.clone()
			rep, err := attempt{seed: seed, change: func(o *Options) { o.Depth = depth }}.run(t, d, nil)
			if err != nil || !rep.Finished {
				t.Fatal(rep, err)
			}
			if list := d.differs(want); list != nil {
				t.Errorf("depth %d, seed %d: pages %v differ", depth, seed, list)
			}
			d = f.d.clone()
			_, err = attempt{seed: seed, change: func(o *Options) { o.Depth = depth; limited(o) }}.run(t, d, nil)
			if err != nil {
				t.Fatal(err)
			}
			if list := f.unstamped(d).differs(f.unstamped(want)); list != nil {
				t.Errorf("depth %d, seed %d, little memory: pages %v differ", depth, seed, list)
			}
		}
	}
}

// The engine that is used for tests elsewhere finds misuse of its own.
func TestRealRing(t *testing.T) {
	f := mixed(t, 1, 100)
	want, _ := f.result()
	for seed := range uint64(3) {
		ring, err := aiotest.Open(f.d, seed, aiotest.Faults{Short: 20, Retry: 10, Busy: 10, Now: 10})
		if err != nil {
			t.Fatal(err)
		}
		d := f.d
		_, err = Run(context.Background(), Options{
			Data: Device{Name: "data", Ring: ring, Size: d.size, Align: 512}, Depth: 30, Memory: memory,
		})
		if e := ring.Close(); err != nil || e != nil {
			t.Fatal(err, e)
		}
		if list := d.differs(want); list != nil {
			t.Errorf("seed %d: pages %v differ", seed, list)
		}
		f = mixed(t, 1, 100)
	}
}

func TestDryRun(t *testing.T) {
	f := mixed(t, 2, 60)
	_, want := f.result()
	before := f.d.clone()
	rep, err := attempt{
		change: func(o *Options) { o.DryRun = true },
		ring:   func(r *testRing) { r.failWrite, r.failSync = 1, 1 },
	}.run(t, f.d, nil)
	if err != nil || f.d.differs(before) != nil {
		t.Fatalf("%v, pages %v are written", err, f.d.differs(before))
	}
	rep.Stats.Written, rep.Stats.Reads = want.Stats.Written, want.Stats.Reads
	if !sameReport(rep, want) {
		t.Errorf("%+v, want %+v", rep, want)
	}
	_, err = attempt{change: func(o *Options) { o.DryRun = true; limited(o) }}.run(t, f.d, nil)
	if !errors.Is(err, ErrTooLarge) || f.d.differs(before) != nil {
		t.Errorf("with little memory: %v", err)
	}
}

func sameReport(a, b Report) bool {
	for name, n := range a.Stats.Items {
		if b.Stats.Items[name] != n {
			return false
		}
	}
	return a.Log == b.Log && a.Finished == b.Finished && a.Remains.None() == b.Remains.None() &&
		a.Stats.Skipped == b.Stats.Skipped && a.Stats.Cancelled == b.Stats.Cancelled &&
		a.Stats.Transactions == b.Stats.Transactions && a.Stats.Records == b.Stats.Records
}

func TestStopped(t *testing.T) {
	f := mixed(t, 2, 60)
	want, _ := f.result()
	for n := range 12 {
		ctx, stop := context.WithCancel(context.Background())
		left := n * 10
		ring := newRing(f.d, 1)
		_, err := Run(ctx, Options{
			Data: Device{Name: "data", Ring: ring, Size: f.d.size, Align: 512}, Depth: 9, Memory: memory, Limit: 64 << 10,
			Progress: func(int64, int64) {
				if left--; left <= 0 {
					stop()
				}
			},
		})
		stop()
		if !errors.Is(err, context.Canceled) || len(ring.flying) > 0 {
			t.Errorf("%v, %d in flight", err, len(ring.flying))
		}
	}
	if _, err := (attempt{}).run(t, f.d, nil); err != nil {
		t.Fatal(err)
	}
	if list := f.unstamped(f.d).differs(f.unstamped(want)); list != nil {
		t.Errorf("pages %v differ", list)
	}
}
