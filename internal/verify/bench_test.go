package verify

import (
	"testing"

	"mkfs/internal/geometry"
)

// BenchmarkCheck checks AGs that are in memory: 26 KiB each to sum and decode.
func BenchmarkCheck(b *testing.B) {
	m := newImage(b, 64*gib, 1, func(s *geometry.Spec) { s.Data.AGCount = geometry.Given(int64(64)) })
	v := &verifier{Options: Options{Data: Device{Reader: newReader(m, 1, 1), Size: m.size}, Memory: goMemory}}
	if ok, err := v.superblock(); !ok || err != nil {
		b.Fatal(err)
	}
	if err := v.log(); err != nil {
		b.Fatal(err)
	}
	headers := make([][]byte, 64)
	for i := range headers {
		headers[i] = m.bytes(b, int64(m.g.Offset(geometry.AGNumber(i), 0)), int(m.g.Bytes(m.g.HeaderBlocks())))
	}
	c := newChecker(v)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.no, c.header = geometry.AGNumber(i%64), headers[i%64]
		for j := range c.roots {
			c.roots[j] = c.header[(j+1)*4096:][:4096]
		}
		c.check()
	}
	if v.report.Count > 0 {
		b.Fatal(v.report.Faults)
	}
}
