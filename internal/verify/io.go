package verify

import "fmt"

// span is a range of bytes widened to what the device can read.
func (d *Device) span(off, n int64) (from, to int64) {
	align := int64(max(1, d.Align))
	return off &^ (align - 1), (off + n + align - 1) &^ (align - 1)
}

// slack is how many bytes a buffer needs beyond what is to be read into it.
func (d *Device) slack() int {
	if d.Align <= 1 {
		return 0
	}
	return 2 * d.Align
}

// pageSize is the alignment of memory for reads.
const pageSize = 4096

// read reads n bytes and waits for them. It is for the few reads that nothing
// can be done without; the memory is its own.
func (v *verifier) read(d *Device, off, n int64) ([]byte, error) {
	if n <= 0 {
		return nil, nil
	}
	from, to := d.span(off, n)
	slab, release, err := v.Memory(int(to - from))
	if err != nil {
		return nil, err
	}
	var result error
	err = d.Reader.Read(from, [][]byte{slab[:to-from]}, func(err error) { result = err })
	if err == nil {
		err = d.Reader.Reap(1)
	}
	if err == nil {
		err = result
	}
	b := append([]byte(nil), slab[off-from:][:n]...)
	if e := release(); err == nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("reading %d bytes at byte %d: %w", n, off, err)
	}
	return b, nil
}
