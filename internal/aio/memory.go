package aio

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the least that may be one page, of which the kernel makes one when it is first touched,
// instead of 512.
const hugePage = 2 << 20

// NewSlab maps size bytes of zeroed anonymous memory, aligned to a page and
// so fit for direct IO, and outside of the garbage collector's sight. release
// gives it back; no request may hold any of it then, and no slice of it may be
// used afterwards.
func NewSlab(size int) (slab []byte, release func() error, err error) {
	slab, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, nil, fmt.Errorf("map %d bytes for IO: %w", size, err)
	}
	if size >= hugePage {
		_ = unix.Madvise(slab, unix.MADV_HUGEPAGE) // it is as good without
	}
	return slab, func() error { return unix.Munmap(slab) }, nil
}

// iovecBytes is the memory of a piece.
func iovecBytes(v unix.Iovec) []byte {
	return unsafe.Slice(v.Base, int(v.Len))
}

// iovecFrom is v without its first n bytes, n < v.Len.
func iovecFrom(v unix.Iovec, n int) unix.Iovec {
	v.Base = &iovecBytes(v)[n]
	v.SetLen(int(v.Len) - n)
	return v
}
