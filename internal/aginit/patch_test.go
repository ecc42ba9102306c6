package aginit

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"mkfs/internal/geometry"
)

// A header that was patched, in memory that held others before and rubbish
// before that, is the one that encoding gives.
func TestPatchedIsEncoded(t *testing.T) {
	every(t, func(t *testing.T, g *geometry.Geometry) {
		reused := New(g, testIdentity())
		frames := make([]Frame, 3)
		for i := range frames {
			frames[i].Data = bytes.Repeat([]byte{0xa5}, reused.HeaderSize())
		}
		r := rand.New(rand.NewPCG(1, uint64(g.AGCount)))
		order := r.Perm(int(g.AGCount))
		order = append(order, r.Perm(int(g.AGCount))...)
		for _, n := range order[:min(len(order), 300)] {
			agno := geometry.AGNumber(n)
			f := &frames[r.IntN(len(frames))]
			reused.Build(agno, f)

			fresh := New(g, testIdentity())
			want := Frame{Data: make([]byte, fresh.HeaderSize())}
			fresh.Build(agno, &want)
			compare(t, reused, agno, "built in fresh memory", f.Data, want.Data)

			encoded := make([]byte, fresh.HeaderSize())
			fresh.encode(agno, encoded)
			compare(t, reused, agno, "encoded", f.Data, encoded)
		}
	})
}

// AG numbers and addresses of full width, as only the largest devices have.
func TestPatchedIsEncodedFarOut(t *testing.T) {
	g := plan(t, 1<<63-1, func(*geometry.Spec) {})
	b := New(g, testIdentity())
	f, want := Frame{Data: make([]byte, b.HeaderSize())}, make([]byte, b.HeaderSize())
	r := rand.New(rand.NewPCG(2, 2))
	list := []geometry.AGNumber{0, 1, 2, g.AGCount/2 - 1, g.AGCount / 2, g.AGCount/2 + 1, g.AGCount - 2, g.AGCount - 1}
	for range 500 {
		list = append(list, geometry.AGNumber(r.IntN(int(g.AGCount))))
	}
	for _, agno := range list {
		b.Build(agno, &f)
		b.encode(agno, want)
		compare(t, b, agno, "encoded", f.Data, want)
	}
}

func compare(t *testing.T, b *Builder, agno geometry.AGNumber, how string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for _, p := range b.Pieces() {
		for i := p.At; i < p.At+p.Size; i++ {
			if got[i] != want[i] {
				t.Fatalf("AG %d (plain: %v): %s, byte %d is %#x; %s it is %#x",
					agno, b.isPlain(agno), p.Name, i-p.At, got[i], how, want[i])
			}
		}
	}
	t.Fatalf("AG %d: differs from the one %s outside of all pieces", agno, how)
}

// Pieces lie one behind the other, and without a gap where blocks are small
// enough for one write.
func TestPieces(t *testing.T) {
	every(t, func(t *testing.T, g *geometry.Geometry) {
		b := New(g, testIdentity())
		end := 0
		for _, p := range b.Pieces() {
			if p.At < end || p.At > end && g.BlockSize <= padTo || p.Size%int(g.SectorSize) != 0 || p.Name == "" {
				t.Errorf("%+v after byte %d", p, end)
			}
			end = p.At + p.Size
		}
		if end != b.HeaderSize() {
			t.Errorf("pieces end at byte %d of %d", end, b.HeaderSize())
		}
	})
}

func TestPlainTakesNoMemory(t *testing.T) {
	g := plan(t, 1<<50, func(*geometry.Spec) {})
	b := New(g, testIdentity())
	f := Frame{Data: make([]byte, b.HeaderSize())}
	b.Build(1, &f)
	agno := geometry.AGNumber(0)
	if n := testing.AllocsPerRun(400, func() {
		for agno++; !b.isPlain(agno); agno++ {
		}
		b.Build(agno, &f)
	}); n != 0 {
		t.Errorf("building a plain AG allocates %v times", n)
	}
}

// BenchmarkPlainFresh builds plain AGs into memory that has to be filled
// first; BenchmarkPlain is the other way.
func BenchmarkPlainFresh(b *testing.B) {
	g := plan(b, 1<<60, func(*geometry.Spec) {})
	build := New(g, testIdentity())
	memory := make([]byte, build.HeaderSize())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		build.Build(geometry.AGNumber(1+i%100000), &Frame{Data: memory})
	}
}

// BenchmarkEncode is what each AG would cost without patching.
func BenchmarkEncode(b *testing.B) {
	g := plan(b, 1<<60, func(*geometry.Spec) {})
	build := New(g, testIdentity())
	memory := make([]byte, build.HeaderSize())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		build.encode(geometry.AGNumber(1+i%100000), memory)
	}
}
