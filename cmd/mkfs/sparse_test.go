package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// content is what a sparse file holds, whatever its holes are.
type content struct {
	size    int64
	sectors int // that are not all zero
	hash    string
}

// contentOf reads the parts of a file that are no holes. The hash is the
// SHA-256 of, for each 512-byte sector that is not all zero, its offset as a
// big-endian 64-bit number and its bytes; so a file of terabytes takes no
// longer than what is in it.
func contentOf(f *os.File) (c content, err error) {
	if c.size, err = f.Seek(0, io.SeekEnd); err != nil {
		return c, err
	}
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		start, end, err := nextData(f, at)
		if err != nil {
			return c, err
		}
		if start >= c.size {
			break
		}
		for at = start &^ (sector - 1); at < end; {
			n, err := f.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
			if n == 0 {
				return c, err
			}
			for part := buf[:n]; len(part) > 0; {
				one := part[:min(sector, len(part))]
				if !bytes.Equal(one, zeroSector[:len(one)]) {
					c.sectors++
					sum.Write(binary.BigEndian.AppendUint64(nil, uint64(at)))
					sum.Write(one)
				}
				at += int64(len(one))
				part = part[len(one):]
			}
		}
	}
	c.hash = hex.EncodeToString(sum.Sum(nil))
	return c, nil
}

const sector = 512

var zeroSector [sector]byte

// nextData is the first part at or behind off that is no hole; behind the
// last one it is at the end of the file.
func nextData(f *os.File, off int64) (start, end int64, err error) {
	start, err = f.Seek(off, unix.SEEK_DATA)
	if errors.Is(err, syscall.ENXIO) {
		end, err := f.Seek(0, io.SeekEnd)
		return end, end, err
	}
	if err != nil {
		return 0, 0, err
	}
	end, err = f.Seek(start, unix.SEEK_HOLE)
	return start, end, err
}

// allocated is the number of bytes that a file takes.
func allocated(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512, nil
}

func TestContentOf(t *testing.T) {
	make := func(size int64, parts map[int64]string) content {
		t.Helper()
		f, err := os.Create(t.TempDir() + "/f")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		for off, text := range parts {
			if _, err := f.WriteAt([]byte(text), off); err != nil {
				t.Fatal(err)
			}
		}
		c, err := contentOf(f)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const size = 1<<40 + 100
	base := make(size, map[int64]string{4096: "abc", 1 << 39: "x"})
	if base.size != size || base.sectors != 2 {
		t.Errorf("got %d bytes with %d sectors, want %d with 2", base.size, base.sectors, int64(size))
	}
	zeros := string(bytes.Repeat([]byte{0}, 70000))
	if same := make(size, map[int64]string{4096: "abc", 1 << 39: "x", 1 << 30: zeros}); same != base {
		t.Errorf("zeros differ from a hole: %+v, %+v", same, base)
	}
	for name, parts := range map[string]map[int64]string{
		"other byte": {4096: "abd", 1 << 39: "x"},
		"moved":      {4096 + 512: "abc", 1 << 39: "x"},
		"missing":    {4096: "abc"},
		"at the end": {4096: "abc", 1 << 39: "x", size - 1: "y"},
	} {
		if other := make(size, parts); other.hash == base.hash {
			t.Errorf("%s: same hash", name)
		}
	}
}
