package main

import (
	"fmt"
	"os"
	"strings"
)

// compare tells in which blocks an image of ours differs from the kernel's,
// outside of what recovery may fill as it likes; nothing if there are none.
func (t *trial) compare(m image) (string, error) {
	ours, err := os.Open(m.data)
	if err != nil {
		return "", err
	}
	defer ours.Close()
	const shown = 4
	var text []string
	blocks, last := 0, int64(-1)
	err = differences(m.data, t.kernel.data, t.layout.sector, func(at int64, a, b []byte) bool {
		for _, v := range t.layout.volatile() {
			if v.start <= at && at < v.end {
				return true
			}
		}
		block := at / t.layout.block
		if block == last {
			return true
		}
		blocks++
		last = block
		if blocks <= shown {
			o := 0
			for a[o] == b[o] {
				o++
			}
			magic := make([]byte, 4)
			ours.ReadAt(magic, block*t.layout.block)
			text = append(text, fmt.Sprintf("%s (a block of %q, a sector of %q) byte %d: %.8x, not %.8x",
				t.layout.place(at), magic, a[:4], o, a[o:], b[o:]))
		}
		return true
	})
	if err != nil || blocks == 0 {
		return "", err
	}
	return fmt.Sprintf("%d blocks are not the kernel's: %s", blocks, strings.Join(text, "; ")), nil
}
