package undo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Source is a target that is read. NextData returns the first piece of
// [off, end) that may hold anything but zeros, NextAllocated the first one that has
// space of its host; end and end if there is none.
type Source interface {
	io.ReaderAt
	NextData(off, end int64) (from, to int64, err error)
	NextAllocated(off, end int64) (from, to int64, err error)
}

// file is what a Writer writes to; *os.File is one.
type file interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Close() error
}

// Writer makes an undo file.
type Writer struct {
	path    string
	f       file
	header  Header
	at      int64 // where the next byte goes
	buf     *bufio.Writer
	pending record // zeros or a hole that may go on
	count   int64  // of records
	data    int64  // bytes of data
	err     error  // the first one
}

// Create makes a new file. One that exists is refused.
func Create(path string, h Header) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s exists; what is overwritten is kept in a new file", path)
	}
	if err != nil {
		return nil, err
	}
	w, err := newWriter(path, f, h)
	if err != nil {
		_ = f.Close()
		_ = os.Remove(path)
		return nil, err
	}
	return w, nil
}

func newWriter(path string, f file, h Header) (*Writer, error) {
	w := &Writer{path: path, f: f, header: h}
	w.buf = bufio.NewWriterSize(appender{w}, 1<<20)
	lead, err := putHeader(&h)
	if err != nil {
		return nil, err
	}
	w.write(putState(Saving))
	w.write(lead)
	return w, w.err
}

// appender writes behind what is there.
type appender struct{ w *Writer }

func (a appender) Write(p []byte) (int, error) {
	n, err := a.w.f.WriteAt(p, a.w.at)
	a.w.at += int64(n)
	return n, err
}

func (w *Writer) write(p []byte) {
	if w.err == nil {
		if _, err := w.buf.Write(p); err != nil {
			w.err = fmt.Errorf("%s: %w", w.path, bare(err))
		}
	}
}

// Data is how many bytes were not zero.
func (w *Writer) Data() int64 { return w.data }

// unit is the least run of zeros that is left out.
const unit = 4096

// Save keeps the n bytes at off of a device, as far as it had them before.
func (w *Writer) Save(ctx context.Context, device int, src Source, off, n int64) error {
	before := w.header.Devices[device].Before
	end := before
	if n < before-off {
		end = off + n
	}
	buf := make([]byte, min(chunk, max(0, end-off)))
	for w.err == nil && off < end {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		from, to, err := src.NextData(off, end)
		if err != nil {
			return err
		}
		if err := w.saveGap(device, src, off, from); err != nil {
			return err
		}
		for off = from; off < to; {
			part := buf[:min(int64(len(buf)), to-off)]
			if n, err := src.ReadAt(part, off); n < len(part) {
				return fmt.Errorf("%s: reading %d bytes at byte %d, to keep them: %w", w.header.Devices[device].Path, len(part),
					off, bare(err))
			}
			w.save(device, off, part)
			off += int64(len(part))
		}
	}
	return w.err
}

// saveGap adds what has no data: holes, and zeros where space was set aside, which stay with the file.
func (w *Writer) saveGap(device int, src Source, off, end int64) error {
	for off < end {
		from, to, err := src.NextAllocated(off, end)
		if err != nil {
			return err
		}
		w.add(record{kind: kindHole, device: uint32(device), off: off, length: from - off}, nil)
		w.add(record{kind: kindZeros, device: uint32(device), off: from, length: to - from}, nil)
		off = to
	}
	return nil
}

// save adds data, less the zeros in it.
func (w *Writer) save(device int, off int64, p []byte) {
	for len(p) > 0 {
		n := run(p)
		r := record{kind: kindData, device: uint32(device), off: off, length: int64(n)}
		if allZero(p[:n]) {
			r.kind = kindZeros
			w.add(r, nil)
		} else {
			r.sum = checksum(p[:n])
			w.add(r, p[:n])
			w.data += int64(n)
		}
		off, p = off+int64(n), p[n:]
	}
}

// run is how many bytes at the start of p are alike: zeros, or not.
func run(p []byte) int {
	n := min(unit, len(p))
	zeros := allZero(p[:n])
	for n < len(p) {
		next := p[n:min(n+unit, len(p))]
		if allZero(next) != zeros {
			break
		}
		n += len(next)
	}
	return n
}

var zeroUnit [unit]byte

func allZero(p []byte) bool {
	for len(p) > unit {
		if !bytes.Equal(p[:unit], zeroUnit[:]) {
			return false
		}
		p = p[unit:]
	}
	return bytes.Equal(p, zeroUnit[:len(p)])
}

// add writes a record. What is not data may grow before it is written.
func (w *Writer) add(r record, data []byte) {
	p := &w.pending
	if r.length == 0 && r.kind != kindEnd {
		return
	}
	if r.kind != kindData && r.kind == p.kind && r.device == p.device && r.off == p.off+p.length {
		p.length += r.length
		return
	}
	if p.kind != 0 {
		w.write(p.put())
		w.count++
		p.kind = 0
	}
	switch r.kind {
	case kindZeros, kindHole:
		*p = r
	case kindEnd:
		r.off, r.length = w.count, w.at+int64(w.buf.Buffered())
		w.write(r.put())
	default:
		w.write(r.put())
		w.write(data)
		w.count++
	}
}

// Finish makes all that was saved durable. From then on targets may be written.
func (w *Writer) Finish() error {
	w.add(record{kind: kindEnd}, nil)
	if w.err == nil {
		w.err = w.buf.Flush()
	}
	if w.err == nil {
		w.err = w.f.Sync()
	}
	if w.err == nil {
		w.err = syncFolder(w.path)
	}
	if w.err != nil {
		return fmt.Errorf("%s: %w", w.path, bare(w.err))
	}
	return w.Mark(Saved)
}

// Mark notes how far the work has come, and makes it durable.
func (w *Writer) Mark(s State) error { return mark(w.path, w.f, s) }

func mark(path string, f file, s State) error {
	_, err := f.WriteAt(putState(s), 0)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, bare(err))
	}
	return nil
}

// Close closes the file.
func (w *Writer) Close() error { return w.f.Close() }

// Remove closes the file and removes it, if nothing was overwritten after all.
func (w *Writer) Remove() {
	_ = w.f.Close()
	_ = os.Remove(w.path)
}

// syncFolder makes a new file's name durable, where folders can be flushed.
func syncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil // one that may only be written to
	}
	defer d.Close()
	_ = d.Sync() // some hosts cannot
	return nil
}

// bare takes the path off an error of package os.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
