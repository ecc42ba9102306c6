package undo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// File is an undo file that was checked from its first to its last byte.
type File struct {
	Header
	State   State
	Records int64
	Data    int64 // bytes that are not zeros

	path    string
	f       file
	records int64 // where they begin
	// first is what the data device began with, as much as it had of firstBytes.
	first []byte
}

// firstBytes are where most filesystems have their superblock.
const firstBytes = 4096

// Open opens a file. It is refused unless all of it is there and sound.
func Open(path string) (*File, error) {
	// For writing, since it is noted here how far putting back has come.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	u, err := open(path, f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return u, nil
}

// ErrUnfinished says that a file does not hold all, and that the target is
// as it was: nothing is overwritten before all is saved.
var ErrUnfinished = errors.New("the undo file was never finished; nothing has been overwritten yet")

func open(path string, f file) (*File, error) {
	u := &File{path: path, f: f}
	var err error
	if u.State, err = readState(f); err != nil {
		return nil, err
	}
	if u.State == Saving {
		return nil, ErrUnfinished
	}
	r := &counter{r: bufio.NewReaderSize(io.NewSectionReader(f, stateSize, 1<<62), 1<<20)}
	if u.Header, err = readHeader(r); err != nil {
		return nil, err
	}
	u.records = stateSize + r.n
	u.first = make([]byte, min(max(firstBytes, int64(u.SectorSize)), u.Devices[0].Before))
	err = u.each(func(rec record, data []byte) error {
		u.Records++
		if rec.kind == kindData {
			u.Data += rec.length
			if rec.device == 0 && rec.off < int64(len(u.first)) {
				copy(u.first[rec.off:], data)
			}
		}
		return nil
	})
	return u, err
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// each calls do for all records, with their data, which is only good for the
// call. It checks all that there is to check.
func (u *File) each(do func(rec record, data []byte) error) error {
	r := &counter{r: bufio.NewReaderSize(io.NewSectionReader(u.f, u.records, 1<<62), 1<<20)}
	data := make([]byte, chunk)
	lead := make([]byte, recordSize)
	for count := int64(0); ; count++ {
		at := u.records + r.n
		if _, err := io.ReadFull(r, lead); err != nil {
			return short(err)
		}
		rec, err := decodeRecord(lead)
		switch {
		case err != nil:
			return err
		case rec.kind == kindEnd && (rec.off != count || rec.length != at):
			return errDamaged
		case rec.kind == kindEnd:
			return nil
		case int(rec.device) >= len(u.Devices), rec.length > u.Devices[rec.device].Before-rec.off:
			return errDamaged
		}
		var p []byte
		if rec.kind == kindData {
			p = data[:rec.length]
			if _, err := io.ReadFull(r, p); err != nil {
				return short(err)
			}
			if checksum(p) != rec.sum {
				return errDamaged
			}
		}
		if err := do(rec, p); err != nil {
			return err
		}
	}
}

// Close closes the file.
func (u *File) Close() error { return u.f.Close() }
