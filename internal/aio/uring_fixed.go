package aio

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fix makes memory known to the kernel ahead of the requests that use it, where
// the engine can (io_uring): the pages are then looked up and pinned once, not
// for each request. Pieces of other memory may be used as before. The memory
// stays pinned until Close. Once for a Ring.
//
// It counts against RLIMIT_MEMLOCK of an unprivileged user, so it may fail; then
// everything is as without it.
func (r *Ring) Fix(memory []byte) {
	if e, ok := r.eng.(*uring); ok && len(memory) > 0 {
		e.fix(memory)
	}
}

func (e *uring) fix(memory []byte) {
	base := unsafe.SliceData(memory)
	iov := unix.Iovec{Base: base}
	iov.SetLen(len(memory))
	if e.register(uringRegisterBuffers, unsafe.Pointer(&iov), 1) {
		e.fixedFrom = uintptr(unsafe.Pointer(base))
		e.fixedTo = e.fixedFrom + uintptr(len(memory))
	}
}

// isFixed tells whether a piece lies in the memory that was made known.
func (e *uring) isFixed(v unix.Iovec) bool {
	at := uintptr(unsafe.Pointer(v.Base))
	return e.fixedFrom <= at && at+uintptr(v.Len) <= e.fixedTo
}
