package alloc

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/rmap"
)

// BenchmarkNear takes a block and gives it back.
func BenchmarkNear(b *testing.B) {
	fs, _ := livetest.New(b, livetest.Plan(b, 320<<20, nil))
	o := rmap.Owner{Owner: 128}
	b.ReportAllocs()
	for b.Loop() {
		t := fs.Begin(0)
		at, _, ok, err := Near(t, fs.G.FSBlock(0, 1000), Request{Min: 1, Max: 1, Owner: o})
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
		agno, agbno := fs.G.BlockAddress(at)
		if err := Free(t, agno, agbno, 1, o, ReserveNone); err != nil {
			b.Fatal(err)
		}
		if err := t.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLater frees and takes blocks of files in an AG with a thousand free extents, with
// what is put off to the end of a transaction.
func BenchmarkLater(b *testing.B) {
	fs, _ := livetest.New(b, livetest.Plan(b, 320<<20, nil))
	const agno = 1
	for i := range 1000 {
		t := fs.Begin(0)
		_, _, ok, err := Exact(t, fs.G.FSBlock(agno, geometry.AGBlock(100+7*i)), Request{
			Min: 3, Max: 3, Owner: rmap.Owner{Owner: uint64(1000 + i)},
		})
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
		if err := t.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		t := fs.Begin(0)
		i = (i + 389) % 1000
		at := fs.G.FSBlock(agno, geometry.AGBlock(100+7*i))
		t.Defer(&owners, live.Item{Op: ownerUnmap, Start: at, Blocks: 3, Owner: uint64(1000 + i)})
		FreeLater(t, at, 3, rmap.Owner{}, ReserveNone)
		if err := t.Commit(); err != nil {
			b.Fatal(err)
		}
		t = fs.Begin(0)
		if _, _, ok, err := StartAG(t, at, Request{Min: 3, Max: 3, UserData: true}); err != nil || !ok {
			b.Fatal(ok, err)
		}
		t.Defer(&owners, live.Item{Op: ownerMap, Start: at, Blocks: 3, Owner: uint64(1000 + i)})
		if err := t.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}
