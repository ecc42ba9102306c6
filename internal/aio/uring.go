package aio

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// uring is the io_uring engine. The kernel writes sqHead, sqFlags, cqTail and
// the CQEs, we write sqTail, cqHead and the SQEs. Go's atomic loads and
// stores are at least acquire and release, which is what the rings need: an
// SQE is complete before sqTail covers it, a CQE is read after cqTail has
// covered it and before cqHead gives it back.
//
// It is used from one thread, locked from newUring to close.
type uring struct {
	fd      int
	ops     []op
	file    int32 // fd for SQEs: the target's, or its index among registered files
	flags   uint8 // flags for SQEs
	rwPlain bool  // READ and WRITE exist beside READV and WRITEV

	fixedFrom, fixedTo uintptr // addresses of registered memory

	sqHead, sqTail, sqFlags *uint32
	cqHead, cqTail          *uint32
	sqes                    []uringSQE
	cqes                    []uringCQE
	tail                    uint32 // where the next SQE goes; sqTail follows at commit
	flying                  int    // submitted, not reaped

	maps [][]byte
}

// uringModes are setup flags, from the cheapest way of telling us about
// completions to the oldest.
var uringModes = []uint32{
	uringSetupSingleIssuer | uringSetupDeferTaskrun,
	uringSetupSingleIssuer | uringSetupCoopTaskrun,
	uringSetupCoopTaskrun,
	0,
}

// newUring makes a ring in the first of modes that the kernel knows.
func newUring(fd int, ops []op, modes []uint32) (_ *uring, err error) {
	runtime.LockOSThread()
	e := &uring{fd: -1, ops: ops, file: int32(fd)}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	var p uringParams
	for i, flags := range modes {
		p = uringParams{flags: flags}
		errno := setup(func() unix.Errno {
			n, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(len(ops)), uintptr(unsafe.Pointer(&p)), 0)
			if errno == 0 {
				e.fd = int(n)
			}
			return errno
		})
		if errno == 0 {
			break
		}
		if errno != unix.EINVAL || i == len(modes)-1 {
			return nil, setupError("io_uring_setup", errno)
		}
	}
	if err := e.mapRings(&p); err != nil {
		return nil, err
	}
	e.registerFile(fd)
	e.probeOps()
	if err := e.try(); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *uring) mapRings(p *uringParams) error {
	sqSize := uintptr(p.sqOff.array) + uintptr(p.sqEntries)*4
	cqSize := uintptr(p.cqOff.cqes) + uintptr(p.cqEntries)*unsafe.Sizeof(uringCQE{})
	if p.features&uringFeatSingleMmap != 0 {
		sqSize = max(sqSize, cqSize)
	}
	sq, err := e.mmap(uringOffSQRing, sqSize)
	if err != nil {
		return err
	}
	cq := sq
	if p.features&uringFeatSingleMmap == 0 {
		if cq, err = e.mmap(uringOffCQRing, cqSize); err != nil {
			return err
		}
	}
	sqes, err := e.mmap(uringOffSQEs, uintptr(p.sqEntries)*unsafe.Sizeof(uringSQE{}))
	if err != nil {
		return err
	}
	word := func(ring []byte, off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&ring[off])) }
	e.sqHead, e.sqTail, e.sqFlags = word(sq, p.sqOff.head), word(sq, p.sqOff.tail), word(sq, p.sqOff.flags)
	e.cqHead, e.cqTail = word(cq, p.cqOff.head), word(cq, p.cqOff.tail)
	e.sqes = unsafe.Slice((*uringSQE)(unsafe.Pointer(&sqes[0])), p.sqEntries)
	e.cqes = unsafe.Slice((*uringCQE)(unsafe.Pointer(&cq[p.cqOff.cqes])), p.cqEntries)
	// The SQ ring proper is a list of indexes into the SQEs. Ours are used in
	// turn, so it never changes.
	for i, array := uint32(0), unsafe.Slice(word(sq, p.sqOff.array), p.sqEntries); i < p.sqEntries; i++ {
		array[i] = i
	}
	e.tail = atomic.LoadUint32(e.sqTail)
	return nil
}

func (e *uring) mmap(off int64, size uintptr) ([]byte, error) {
	var m []byte
	errno := setup(func() unix.Errno {
		var err error
		m, err = unix.Mmap(e.fd, off, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
		errno, _ := err.(unix.Errno)
		return errno
	})
	if errno != 0 {
		return nil, setupError("io_uring mmap", errno)
	}
	e.maps = append(e.maps, m)
	return m, nil
}

func (e *uring) register(what uintptr, arg unsafe.Pointer, n int) bool {
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(e.fd), what, uintptr(arg), uintptr(n), 0, 0)
	return errno == 0
}

// registerFile saves the kernel looking up the descriptor for every request.
// It counts against a limit of its own, so it may fail, and nothing is lost.
func (e *uring) registerFile(fd int) {
	fds := [1]int32{int32(fd)}
	if e.register(uringRegisterFiles, unsafe.Pointer(&fds), len(fds)) {
		e.file, e.flags = 0, uringSQEFixedFile
	}
}

func (e *uring) probeOps() {
	var p uringProbe
	e.rwPlain = e.register(uringRegisterProbe, unsafe.Pointer(&p), len(p.ops)) &&
		p.ops[uringOpRead].flags&p.ops[uringOpWrite].flags&uringProbeSupported != 0
}

// try sends a request through that does nothing: a filter may let a ring be
// made and not be used.
func (e *uring) try() error {
	e.push(uringSQE{opcode: uringOpNop, fd: -1})
	atomic.StoreUint32(e.sqTail, e.tail)
	for atomic.LoadUint32(e.cqTail) == *e.cqHead {
		errno := setup(func() unix.Errno {
			_, errno := e.enter(e.unsent(), 1)
			return errno
		})
		if errno != 0 {
			return setupError("io_uring_enter", errno)
		}
	}
	atomic.StoreUint32(e.cqHead, *e.cqHead+1)
	return nil
}

func (e *uring) name() string { return Uring.String() }

// push fills the next SQE; there is room.
func (e *uring) push(s uringSQE) {
	e.sqes[e.tail&uint32(len(e.sqes)-1)] = s
	e.tail++
}

// unsent is how many SQEs the kernel has not taken.
func (e *uring) unsent() int { return int(e.tail - atomic.LoadUint32(e.sqHead)) }

func (e *uring) queue(o *op) status {
	if e.unsent() == len(e.sqes) {
		return busy
	}
	s := uringSQE{flags: e.flags, fd: e.file, off: uint64(o.off), userData: uint64(o.slot)}
	if len(o.iov) == 1 && e.rwPlain {
		s.opcode = uringOpWrite
		s.addr, s.len = uint64(uintptr(unsafe.Pointer(o.iov[0].Base))), uint32(o.iov[0].Len)
		switch fixed := e.isFixed(o.iov[0]); {
		case fixed && o.read:
			s.opcode = uringOpReadFixed
		case fixed:
			s.opcode = uringOpWriteFixed
		case o.read:
			s.opcode = uringOpRead
		}
	} else {
		s.opcode = uringOpWritev
		s.addr, s.len = uint64(uintptr(unsafe.Pointer(&o.iov[0]))), uint32(len(o.iov))
		if o.read {
			s.opcode = uringOpReadv
		}
	}
	e.push(s)
	return queued
}

// close gives the registered file back first: the kernel frees a ring some time
// after its descriptor is closed, and until then the file would stay in use.
func (e *uring) close() error {
	defer runtime.UnlockOSThread()
	if e.flags&uringSQEFixedFile != 0 {
		e.register(uringUnregisterFiles, nil, 0)
	}
	for _, m := range e.maps {
		unix.Munmap(m)
	}
	e.maps = nil
	if e.fd < 0 {
		return nil
	}
	return unix.Close(e.fd)
}
