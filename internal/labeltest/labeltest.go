// Package labeltest makes partition tables, for tests.
package labeltest

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Part is a partition, in sectors. A GPT skips the entries of empty ones.
type Part struct{ Start, Length int64 }

var le = binary.LittleEndian

// gptEntries are as many as all tools make.
const gptEntries = 128

// GPT puts a table, with its copy at the end, on a disk of size bytes.
func GPT(w io.WriterAt, size, sector int64, parts ...Part) error {
	sectors := size / sector
	tableSectors := gptEntries * 128 / sector
	entries := make([]byte, gptEntries*128)
	for i, p := range parts {
		e := entries[128*i:]
		if p.Length == 0 {
			continue
		}
		copy(e, "\xaf\x3d\xc6\x0f\x83\x84\x72\x47\x8e\x79\x3d\x69\xd8\x47\x7d\xe4") // a Linux filesystem
		e[16] = byte(i + 1)
		le.PutUint64(e[32:], uint64(p.Start))
		le.PutUint64(e[40:], uint64(p.Start+p.Length-1))
	}
	header := func(at, other, table int64) []byte {
		h := make([]byte, sector)
		copy(h, "EFI PART\x00\x00\x01\x00\x5c\x00\x00\x00")
		for off, v := range map[int]int64{
			24: at, 32: other, 40: 2 + tableSectors, 48: sectors - 2 - tableSectors, 72: table,
		} {
			le.PutUint64(h[off:], uint64(v))
		}
		le.PutUint32(h[80:], gptEntries)
		le.PutUint32(h[84:], 128)
		le.PutUint32(h[88:], crc32.ChecksumIEEE(entries))
		le.PutUint32(h[16:], crc32.ChecksumIEEE(h[:92]))
		return h
	}
	cover := mbr(0xee, []Part{{1, min(sectors-1, 1<<32-1)}})
	for _, x := range []struct {
		off  int64
		data []byte
	}{
		{0, cover},
		{sector, header(1, sectors-1, 2)},
		{2 * sector, entries},
		{(sectors - 1 - tableSectors) * sector, entries},
		{(sectors - 1) * sector, header(sectors-1, 1, sectors-1-tableSectors)},
	} {
		if _, err := w.WriteAt(x.data, x.off); err != nil {
			return err
		}
	}
	return nil
}

// DOS puts a table of up to four partitions on a disk. If there are logical
// ones, the last of parts is extended and holds them: each is one sector
// behind the start of its own link of the chain.
func DOS(w io.WriterAt, sector int64, parts []Part, logical ...Part) error {
	b := mbr(0x83, parts)
	last := len(parts) - 1
	if len(logical) > 0 {
		b[446+16*last+4] = 0x05
	}
	if _, err := w.WriteAt(b, 0); err != nil {
		return err
	}
	for i, p := range logical {
		link := mbr(0x83, []Part{{1, p.Length}})
		if i+1 < len(logical) {
			n := logical[i+1]
			le.PutUint32(link[446+16+8:], uint32(n.Start-1-parts[last].Start))
			le.PutUint32(link[446+16+12:], uint32(n.Length+1))
			link[446+16+4] = 0x05
		}
		if _, err := w.WriteAt(link, (p.Start-1)*sector); err != nil {
			return err
		}
	}
	return nil
}

// mbr is a sector with a table.
func mbr(kind byte, parts []Part) []byte {
	b := make([]byte, 512)
	copy(b[510:], "\x55\xaa")
	for i, p := range parts {
		if p.Length == 0 {
			continue
		}
		e := b[446+16*i:]
		e[4] = kind
		le.PutUint32(e[8:], uint32(p.Start))
		le.PutUint32(e[12:], uint32(p.Length))
	}
	return b
}
