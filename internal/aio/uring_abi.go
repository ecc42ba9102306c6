package aio

// The kernel's io_uring interface, as far as it is used here; see
// io_uring_setup(2), io_uring_enter(2) and io_uring_register(2).

const (
	uringSetupCoopTaskrun  = 1 << 8
	uringSetupSingleIssuer = 1 << 12
	uringSetupDeferTaskrun = 1 << 13

	uringFeatSingleMmap = 1 << 0

	uringOffSQRing = 0
	uringOffCQRing = 0x8000000
	uringOffSQEs   = 0x10000000

	uringEnterGetEvents = 1 << 0

	uringSQCQOverflow = 1 << 1 // in the SQ ring's flags

	uringRegisterBuffers = 0
	uringRegisterFiles   = 2
	uringUnregisterFiles = 3
	uringRegisterProbe   = 8

	uringSQEFixedFile = 1 << 0

	uringOpNop    = 0
	uringOpReadv  = 1
	uringOpWritev = 2
	// The buffer's index among the registered ones is 0 in our requests.
	uringOpReadFixed  = 4
	uringOpWriteFixed = 5

	uringOpRead  = 22
	uringOpWrite = 23

	uringProbeSupported = 1 << 0
)

// uringParams is struct io_uring_params.
type uringParams struct {
	sqEntries, cqEntries      uint32
	flags                     uint32
	sqThreadCPU, sqThreadIdle uint32
	features                  uint32
	wqFd                      uint32
	_                         [3]uint32
	sqOff                     uringSQOffsets
	cqOff                     uringCQOffsets
}

type uringSQOffsets struct {
	head, tail, ringMask, ringEntries, flags, dropped, array, _ uint32
	_                                                           uint64
}

type uringCQOffsets struct {
	head, tail, ringMask, ringEntries, overflow, cqes, flags, _ uint32
	_                                                           uint64
}

// uringSQE is struct io_uring_sqe.
type uringSQE struct {
	opcode   uint8
	flags    uint8
	ioprio   uint16
	fd       int32
	off      uint64
	addr     uint64
	len      uint32
	rwFlags  uint32
	userData uint64
	_        [3]uint64
}

// uringCQE is struct io_uring_cqe.
type uringCQE struct {
	userData uint64
	res      int32
	flags    uint32
}

// uringProbe is struct io_uring_probe with room for every opcode used here.
type uringProbe struct {
	lastOp, opsLen uint8
	_              uint16
	_              [3]uint32
	ops            [uringOpWrite + 1]struct {
		op, _ uint8
		flags uint16
		_     uint32
	}
}
