package live_test

import (
	"slices"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// The free list is a ring: what is taken first was put first, and slots keep their numbers.
func TestFreeListRing(t *testing.T) {
	for _, v5 := range []bool{true, false} {
		g := livetest.Plan(t, 64<<20, func(s *geometry.Spec) { s.Features.CRC = geometry.Given(v5) })
		fs, _ := livetest.New(t, g)
		a := getAGF(t, fs.Begin(0), 1)
		list, err := a.Listed()
		if err != nil || len(list) != int(a.ListLen()) || len(list) == 0 {
			t.Fatalf("%v, %d blocks: %v", list, a.ListLen(), err)
		}
		next := geometry.AGBlock(100)
		for range 500 { // several times around
			at, ok, err := a.TakeListed(true)
			if err != nil || !ok || at != list[0] {
				t.Fatalf("took %d (%v, %v), want %d", at, ok, err, list[0])
			}
			if err := a.PutListed(next, true); err != nil {
				t.Fatal(err)
			}
			list = append(list[1:], next)
			next++
		}
		if got, _ := a.Listed(); !slices.Equal(got, list) {
			t.Errorf("%v, want %v", got, list)
		}
		if n := a.Get(ondisk.AGFBtreeBlocks); n != 0 {
			t.Errorf("%d btree blocks", n)
		}
		for range list {
			if _, ok, err := a.TakeListed(true); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if n := int(a.Get(ondisk.AGFBtreeBlocks)); n != len(list) {
			t.Errorf("%d btree blocks, want %d", n, len(list))
		}
		if _, ok, err := a.TakeListed(true); ok || err != nil {
			t.Error("took from an empty list", err)
		}
		slots := geometry.Blocks(128)
		if v5 {
			slots = 119
		}
		for a.ListLen() < slots {
			if err := a.PutListed(next, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.PutListed(next, false); err == nil {
			t.Error("put into a full list")
		}
	}
}

func getAGF(t *testing.T, tr *live.Trans, agno geometry.AGNumber) live.AGF {
	t.Helper()
	a, err := tr.AGF(agno)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Damage in AGF and AGFL is told, by name and place.
func TestDamagedAGF(t *testing.T) {
	const agno = 1
	for _, c := range []struct {
		want   string
		sector int64
		damage func(b []byte)
	}{
		{"magic", 1, func(b []byte) { b[0] = 0 }},
		{"version", 1, func(b []byte) { ondisk.AGFVersion.Set(b, 2) }},
		{"of AG 3", 1, func(b []byte) { ondisk.AGFSeqno.Set(b, 3) }},
		{"AG of 5 blocks", 1, func(b []byte) { ondisk.AGFLength.Set(b, 5) }},
		{"free blocks", 1, func(b []byte) { ondisk.AGFFreeBlocks.Set(b, 1<<30) }},
		{"in one piece", 1, func(b []byte) { ondisk.AGFLongest.Add(b, 1) }},
		{"in slots", 1, func(b []byte) { ondisk.AGFFreeFirst.Set(b, 119) }},
		{"in slots", 1, func(b []byte) { ondisk.AGFFreeLast.Set(b, 119) }},
		{"in slots", 1, func(b []byte) { ondisk.AGFFreeCount.Add(b, 1) }},
		{"bnobt of 0 levels", 1, func(b []byte) { ondisk.AGFBnoLevel.Set(b, 0) }},
		{"cntbt of 9 levels", 1, func(b []byte) { ondisk.AGFCntLevel.Set(b, 9) }},
		{"rmapbt of 99 levels", 1, func(b []byte) { ondisk.AGFRmapLevel.Set(b, 99) }},
		{"root of the refcountbt", 1, func(b []byte) { ondisk.AGFRefcountRoot.Set(b, 0) }},
		{"rmapbt of 4294967295 blocks", 1, func(b []byte) { ondisk.AGFRmapBlocks.Set(b, 1<<32-1) }},
		{"UUID", 1, func(b []byte) { b[64]++ }},
		{"magic", 3, func(b []byte) { b[0] = 0 }},
		{"of AG 0", 3, func(b []byte) { b[7] = 0 }},
		{"UUID", 3, func(b []byte) { b[8]++ }},
		{"in slot 118", 3, func(b []byte) { b[len(b)-1] = 0 }},
	} {
		g := livetest.Plan(t, 64<<20, nil)
		fs, d := livetest.New(t, g)
		off := fs.Offset(agno, 0) + c.sector*int64(g.SectorSize)
		b := make([]byte, g.SectorSize)
		_, _ = d.ReadAt(b, off)
		c.damage(b)
		ondisk.Seal(b, map[int64]int{1: ondisk.AGFCRC, 3: ondisk.AGFLCRC}[c.sector])
		_, _ = d.WriteAt(b, off)
		a, err := fs.Begin(0).AGF(agno)
		if err == nil {
			_, err = a.Listed()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q: %v", c.want, err)
		}
		b[20]++ // and the checksum is wrong then
		_, _ = d.WriteAt(b, off)
		fs.Cache.Forget(off, int64(len(b)))
		if a, err = fs.Begin(0).AGF(agno); err == nil {
			_, err = a.Listed()
		}
		if err == nil {
			t.Error("a wrong checksum is taken")
		}
	}
}

// A block on the free list that is none of the AG's is not handed out.
func TestListedOutside(t *testing.T) {
	g := livetest.Plan(t, 64<<20, func(s *geometry.Spec) { s.Features.CRC = geometry.Given(false) })
	fs, d := livetest.New(t, g)
	b := make([]byte, g.SectorSize)
	for i := range 128 {
		ondisk.SetFreeListEntry(b, i, 1<<30)
	}
	_, _ = d.WriteAt(b, fs.Offset(0, 0)+3*int64(g.SectorSize))
	if _, ok, err := getAGF(t, fs.Begin(0), 0).TakeListed(false); ok || err == nil {
		t.Error("took it", err)
	}
}
