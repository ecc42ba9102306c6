package xlog

import (
	"encoding/binary"
	"testing"

	"mkfs/internal/logtest"
)

// FuzzLog edits a log, and makes checksums right again if the first byte says
// so. Whatever is in it, reading it ends, and what would be written is within it.
func FuzzLog(f *testing.F) {
	const blocks = 700
	type base struct {
		w       *logtest.Log
		records []*logtest.Record
	}
	var bases []base
	for _, s := range shapes[:7] {
		for _, laps := range []uint32{0, 1} {
			w := formatted(blocks, s.change)
			w.Buffer = min(w.Buffer, 64<<10)
			var records []*logtest.Record
			for i := 0; w.Cycle <= laps || i%5 != 4; i++ {
				if n := len(records); n > 2 {
					w.Tail = records[n-2].LSN
				}
				records = append(records, w.Add(fill(500+i*3001%15000, byte(i))))
			}
			bases = append(bases, base{w, records[len(records)-3:]})
		}
	}
	for i := range bases {
		f.Add(byte(i), []byte{})
		f.Add(byte(i)|0x80, []byte{0, 3, 0, 12, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 9})
	}
	f.Fuzz(func(t *testing.T, which byte, edits []byte) {
		b := bases[int(which&0x7f)%len(bases)]
		w := copied(b.w)
		for ; len(edits) >= 8; edits = edits[8:] {
			block := int(binary.BigEndian.Uint16(edits)) % blocks
			if which&0x80 != 0 { // one of the headers
				r := b.records[block%len(b.records)]
				block = r.Block
			}
			at := int(binary.BigEndian.Uint16(edits[2:])) % (BlockSize - 3)
			copy(w.B[block*BlockSize+at:], edits[4:8])
		}
		if which&0x80 != 0 {
			for _, r := range b.records {
				n := min(r.Blocks(), blocks-r.Block) * BlockSize
				c := logtest.Record{Block: r.Block, Raw: append([]byte(nil), r.Raw...)}
				copy(c.Raw, w.B[r.Block*BlockSize:][:n])
				if length := binary.BigEndian.Uint32(c.Raw[12:]); uint64(length) <= uint64(len(c.Raw)-w.Headers()*BlockSize) {
					w.Seal(&c)
					w.Write(&c, nil)
				}
			}
		}
		l := reading(w)
		s, err := l.Find()
		if err != nil {
			return
		}
		if s.Head < 0 || s.Head >= blocks || s.Tail < 0 || s.Tail >= blocks {
			t.Fatalf("head %d, tail %d", s.Head, s.Tail)
		}
		if s.Clean {
			return
		}
		n := 0
		for r, err := range l.Records(s.Tail, s.Head) {
			if err != nil {
				break
			}
			l.Open(r)
			if n += r.Blocks(); n > 2*blocks {
				t.Fatal("more records than there is log")
			}
		}
		total := 0
		for _, p := range append(l.Stale(&s), l.Unmount(&s)...) {
			if p.Block < 0 || len(p.Data)%BlockSize != 0 || p.Block+len(p.Data)/BlockSize > blocks {
				t.Fatalf("%d bytes are to be written at block %d", len(p.Data), p.Block)
			}
			total += len(p.Data) / BlockSize
		}
		if unmount := len(blocksIn(l.Unmount(&s))); total-unmount > (s.Tail-s.Head+blocks)%blocks && s.Tail == s.TailLSN.Block() {
			t.Fatalf("%d blocks from %d, and the tail is at %d", total-unmount, s.Head, s.Tail)
		}
	})
}
