package format

import (
	"context"
	"testing"

	"mkfs/internal/geometry"
)

// A dense job writes every byte that it has to say something of: on devices where
// each unwritten page is junk, as in a copy of the data, it leaves what a job
// leaves that zeroes. It neither zeroes otherwise nor discards.
func TestDense(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize, func(s *geometry.Spec) { s.Log.External = true; realtimeSpec(s) })
	make := func(dense bool) (d, log, rt *disk) {
		d, log, rt = olderFilesystem(t), newDisk(16<<20), newDisk(testRealtime)
		foreign(d)
		log.junk, rt.junk = 0xa5, 0xa5
		job := testJob(g, d)
		job.Log, job.Realtime, job.Dense, job.Discard = log, rt, dense, dense
		if _, err := Run(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		return d, log, rt
	}
	d, log, rt := make(true)
	plain, plainLog, plainRT := make(false)
	for _, c := range [][2]*disk{{d, plain}, {log, plainLog}, {rt, plainRT}} {
		if err := c[0].same(c[1]); err != nil {
			t.Error(err)
		}
		if c[0].count("zero")+c[0].count("discard") > 0 || c[0].count("zeros") == 0 || c[0].count("zeros") != c[1].count("zero") {
			t.Errorf("dense: %d ranges zeroed, %d written, %d discarded; else %d zeroed",
				c[0].count("zero"), c[0].count("zeros"), c[0].count("discard"), c[1].count("zero"))
		}
	}
}

// Every byte of the headers of a dense job is written, also behind a sector that is
// much shorter than a block.
func TestDenseHeaders(t *testing.T) {
	const large = 2 << 30
	for _, size := range []int64{4096, 65536} {
		g := testGeometry(t, large, large/4, func(s *geometry.Spec) { s.BlockSize = geometry.Given(size) })
		d := newDisk(large)
		job := testJob(g, d)
		job.Dense = true
		if _, err := Run(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		for agno := range g.AGCount {
			at := int64(g.Offset(agno, 0))
			end := at + int64(g.Bytes(g.HeaderBlocks()))
			for written := true; at < end && written; {
				written = false
				for _, e := range d.events {
					if e.what == "write" && e.off <= at && at < e.off+e.n {
						at, written = e.off+e.n, true
					}
				}
			}
			if at < end {
				t.Errorf("%d-byte blocks, AG %d: byte %d is not written", size, agno, at)
			}
		}
	}
}

// The room that a dense filesystem takes counts its log where that is.
func TestSpace(t *testing.T) {
	in := testGeometry(t, testSize, testAGSize)
	ex := testGeometry(t, testSize, testAGSize, func(s *geometry.Spec) { s.Log.External = true })
	log := func(g *geometry.Geometry) int64 { return int64(g.Bytes(g.Log.Blocks)) }
	space := func(g *geometry.Geometry, dense bool) int64 {
		n, err := Space(context.Background(), g, nil, dense)
		if most := MostSpace(g, geometry.Load{}, dense); err != nil || n > most {
			t.Errorf("%d bytes, at most %d: %v", n, most, err)
		}
		return n
	}
	if got := space(in, true) - space(in, false); got < log(in) || got > log(in)+1<<20 {
		t.Errorf("%d bytes more with a log of %d", got, log(in))
	}
	if got := space(ex, true) - space(ex, false); got > 1<<20 {
		t.Errorf("%d bytes more without a log", got)
	}
	if got := LogSpace(ex, true); got != log(ex) {
		t.Errorf("%d bytes of a log of %d", got, log(ex))
	}
	if got := LogSpace(ex, false); got >= log(ex) || got <= 0 {
		t.Errorf("%d bytes of a log that stays sparse", got)
	}
}
