package delwri

import "testing"

// headers are the buffers of so many allocation groups: eleven each, 28 KiB, in
// one slab, ascending.
func headers(ags int) []Buffer {
	sizes := [11]int{512, 512, 512, 512 + 2048, 4096, 4096, 4096, 4096, 4096, 2048, 2048}
	const agSize = 1 << 30
	slab := make([]byte, ags*28<<10)
	at := 0
	var list []Buffer
	for ag := range ags {
		off := int64(ag) * agSize
		for _, n := range sizes {
			list = append(list, Buffer{Off: off, Data: slab[at : at+n], Place: Place{int64(ag), "bnobt"}})
			off += int64(n)
			at += n
		}
	}
	return list
}

func TestNoAllocations(t *testing.T) {
	l := NewList(&null{}, Config{})
	bufs := headers(256)
	batch := func() {
		for i := range bufs {
			l.Add(&bufs[i])
		}
		if err := l.Submit(); err != nil {
			t.Fatal(err)
		}
	}
	batch()
	if n := testing.AllocsPerRun(10, batch); n != 0 {
		t.Errorf("%g allocations for 256 AGs of 11 buffers", n)
	}
	if s := l.Stats(); s.Buffers != 11*s.Requests || s.Pieces != s.Requests || s.Bytes != s.Requests*28<<10 {
		t.Errorf("%+v", s)
	}
}

// BenchmarkList is the cost of the list for the headers of an AG.
func BenchmarkList(b *testing.B) {
	const ags = 256
	l := NewList(&null{}, Config{})
	bufs := headers(ags)
	b.ReportAllocs()
	for b.Loop() {
		for i := range bufs {
			l.Add(&bufs[i])
		}
		if err := l.Submit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/ags, "ns/AG")
}

// BenchmarkAged is the cost for each buffer that is written when it is old, among many
// younger ones at random places.
func BenchmarkAged(b *testing.B) {
	const n = 1 << 14
	l := NewList(&null{}, Config{Age: n})
	bufs := make([]Buffer, n)
	for i := range bufs {
		bufs[i] = Buffer{Off: int64(i*7919%n) * 4096, Data: make([]byte, 4096)}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Add(&bufs[i%n])
		if l.Tick(); l.Due() >= 1<<20 {
			if err := l.IssueDue(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
