package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// extent is a run of bytes.
type extent struct{ start, end int64 }

// dataExtents are those parts of a file that are not holes.
func dataExtents(f *os.File) (extents []extent, err error) {
	for at := int64(0); ; {
		start, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return extents, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		end, err := unix.Seek(int(f.Fd()), start, unix.SEEK_HOLE)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		extents = append(extents, extent{start, end})
		at = end
	}
}

// copySparse copies a file and its holes.
func copySparse(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if err := dst.Truncate(info.Size()); err != nil {
		return err
	}
	extents, err := dataExtents(src)
	if err != nil {
		return err
	}
	for _, e := range extents {
		in := io.NewSectionReader(src, e.start, e.end-e.start)
		if _, err := io.Copy(io.NewOffsetWriter(dst, e.start), in); err != nil {
			return err
		}
	}
	return dst.Close()
}

// sum is the SHA-256 of a whole file, with these parts of it taken as zeros.
func sum(name string, without ...extent) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := io.ReadFull(f, buf)
		for _, w := range without {
			if from, to := max(w.start, at), min(w.end, at+int64(n)); from < to {
				clear(buf[from-at : to-at])
			}
		}
		h.Write(buf[:n])
		at += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		} else if err != nil {
			return "", err
		}
	}
}

// sums is the SHA-256 of an image, and of its log.
func (m image) sums() (string, error) {
	s, err := sum(m.data)
	if err != nil || m.log == "" {
		return s, err
	}
	l, err := sum(m.log)
	return s + " " + l, err
}

// differences calls f for each block of size bytes, of those in which two
// files differ, in order, until it returns false.
func differences(a, b string, size int64, f func(at int64, a, b []byte) bool) error {
	fa, err := os.Open(a)
	if err != nil {
		return err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return err
	}
	defer fb.Close()
	ia, err := fa.Stat()
	if err != nil {
		return err
	}
	ib, err := fb.Stat()
	if err != nil {
		return err
	}
	if ia.Size() != ib.Size() {
		return fmt.Errorf("sizes differ: %d and %d bytes", ia.Size(), ib.Size())
	}
	ea, err := dataExtents(fa)
	if err != nil {
		return err
	}
	eb, err := dataExtents(fb)
	if err != nil {
		return err
	}
	// A chunk is read if either file has data in it.
	const chunk = 1 << 20
	wanted := make([]bool, ia.Size()/chunk+1)
	for _, extents := range [][]extent{ea, eb} {
		for _, e := range extents {
			for i := e.start / chunk; i <= (e.end-1)/chunk; i++ {
				wanted[i] = true
			}
		}
	}
	ba, bb := make([]byte, chunk), make([]byte, chunk)
	for i, w := range wanted {
		if !w {
			continue
		}
		at := int64(i) * chunk
		n, err := fa.ReadAt(ba, at)
		if err != nil && err != io.EOF {
			return err
		}
		if _, err := fb.ReadAt(bb[:n], at); err != nil && err != io.EOF {
			return err
		}
		if bytes.Equal(ba[:n], bb[:n]) {
			continue
		}
		for o := int64(0); o < int64(n); o += size {
			end := min(o+size, int64(n))
			if !bytes.Equal(ba[o:end], bb[o:end]) && !f(at+o, ba[o:end], bb[o:end]) {
				return nil
			}
		}
	}
	return nil
}
