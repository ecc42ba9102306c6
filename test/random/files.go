package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"

	"golang.org/x/sys/unix"
)

// compareFolders tells how the files of two folders differ, or "". Holes equal
// zeros.
func compareFolders(ours, theirs string) (string, error) {
	a, err := names(ours)
	if err != nil {
		return "", err
	}
	b, err := names(theirs)
	if err != nil {
		return "", err
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		return fmt.Sprintf("  files: ours %v, theirs %v", a, b), nil
	}
	for _, name := range a {
		detail, err := compareFiles(filepath.Join(ours, name), filepath.Join(theirs, name))
		if err != nil || detail != "" {
			return "  " + name + ": " + detail, err
		}
	}
	return "", nil
}

func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list, err
}

func compareFiles(ours, theirs string) (string, error) {
	a, err := os.Open(ours)
	if err != nil {
		return "", err
	}
	defer a.Close()
	b, err := os.Open(theirs)
	if err != nil {
		return "", err
	}
	defer b.Close()
	sizeA, err := a.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	sizeB, err := b.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	if sizeA != sizeB {
		return fmt.Sprintf("size: ours %d, theirs %d", sizeA, sizeB), nil
	}
	dataA, err := data(a, sizeA)
	if err != nil {
		return "", err
	}
	dataB, err := data(b, sizeB)
	if err != nil {
		return "", err
	}
	behind := slackOf(b)
	for _, s := range union(append(dataA, dataB...)) {
		if detail, err := compareRange(a, b, s, behind); err != nil || detail != "" {
			return detail, err
		}
	}
	return "", nil
}

// piece is a range of a file.
type piece struct{ start, end int64 }

// data lists where a file has no holes.
func data(f *os.File, size int64) (list []piece, err error) {
	for at := int64(0); at < size; {
		start, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		if err != nil {
			return nil, err
		}
		if at, err = f.Seek(start, unix.SEEK_HOLE); err != nil {
			return nil, err
		}
		list = append(list, piece{start, at})
	}
	return list, nil
}

func union(list []piece) (merged []piece) {
	sort.Slice(list, func(i, j int) bool { return list[i].start < list[j].start })
	for _, s := range list {
		if n := len(merged); n > 0 && s.start <= merged[n-1].end {
			merged[n-1].end = max(merged[n-1].end, s.end)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

func compareRange(a, b *os.File, s piece, behind func(int64) bool) (string, error) {
	const sector = 512
	var x, y [1 << 20]byte
	for at := s.start; at < s.end; at += int64(len(x)) {
		n := min(int64(len(x)), s.end-at)
		for f, buf := range map[*os.File][]byte{a: x[:n], b: y[:n]} {
			clear(buf)
			if _, err := f.ReadAt(buf, at); err != nil && err != io.EOF {
				return "", err
			}
		}
		if bytes.Equal(x[:n], y[:n]) {
			continue
		}
		for i := int64(0); i < n; i += sector {
			end := min(i+sector, n)
			p, q := x[i:end], y[i:end]
			if bytes.Equal(p, q) || behind(at+i) && len(bytes.Trim(p, "\x00")) == 0 {
				continue
			}
			j := 0
			for p[j] == q[j] {
				j++
			}
			k := min(j+16, len(p))
			return fmt.Sprintf("byte %#x: ours %x, theirs %x", at+i+int64(j), p[j:k], q[j:k]), nil
		}
	}
	return "", nil
}

// slackOf tells which sectors of the reference's image lie behind the four
// header sectors in the first block of an AG. There we write zeros and the
// reference leaves what was there, so that an AG's headers can be one write.
func slackOf(f *os.File) func(int64) bool {
	none := func(int64) bool { return false }
	sb := make([]byte, 128)
	if _, err := f.ReadAt(sb, 0); err != nil || string(sb[:4]) != "XFSB" {
		return none
	}
	block := int64(binary.BigEndian.Uint32(sb[4:]))
	ag := block * int64(binary.BigEndian.Uint32(sb[84:]))
	sector := int64(binary.BigEndian.Uint16(sb[102:]))
	if ag == 0 {
		return none
	}
	return func(off int64) bool {
		in := off % ag
		return off >= ag && in >= 4*sector && in < block
	}
}
