package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// allowance tells of a sector that differs whether it may.
type allowance func(l layout, a, b []byte) bool

// changeTimes allows that inodes differ in their times of change. The kernel
// sets these when it finishes an intent in an inode, at each mount that does.
// They are not allowed to differ after a mere replay.
func changeTimes(l layout, a, b []byte) bool {
	size := min(int(l.inode), len(a))
	for at := 0; at < len(a); at += size {
		x, y := slices.Clone(a[at:at+size]), slices.Clone(b[at:at+size])
		if bytes.Equal(x, y) {
			continue
		}
		if string(x[:2]) != "IN" || string(y[:2]) != "IN" {
			return false
		}
		for _, inode := range [][]byte{x, y} {
			clear(inode[48:56])   // di_ctime
			clear(inode[100:104]) // di_crc
		}
		if !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}

// compare tells in which blocks an image of ours differs from the kernel's,
// outside of what recovery may fill as it likes; nothing if there are none.
func (t *trial) compare(m image, allowed ...allowance) (string, error) {
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
		for _, allow := range allowed {
			if allow(t.layout, a, b) {
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
