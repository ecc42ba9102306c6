package ondisk

// LogRecord is the header of a record in the log. The log is made of 512-byte
// basic blocks; each begins with a record's magic number or with the number of
// its cycle, for whose sake the header keeps the block's own first word.
type LogRecord struct {
	Cycle      uint32
	Version    uint32
	Length     uint32 // bytes behind the header blocks
	LSN        uint64
	TailLSN    uint64
	CRC        uint32
	PrevBlock  uint32
	Operations uint32
	CycleData  [cyclesPerHeader]uint32
	Format     uint32
	UUID       UUID
	Size       uint32 // of the record buffer, in bytes
}

// Sizes and numbers of the log.
const (
	LogMagic         = 0xfeedbabe
	LogRecordSize    = 328
	logBlock         = 512
	cyclesPerHeader  = 64
	bytesPerHeader   = cyclesPerHeader * logBlock
	LogFormatLinux   = 1 // what is logged is little-endian
	firstCycle       = 1
	smallRecord      = 32 << 10
	unmountTID       = 0xb0c0d0d0
	unmountMagic     = 0x556e // "Un"
	clientLog        = 0xaa
	opUnmount        = 0x20
	noPreviousRecord = ^uint32(0)
)

// Put writes the header.
func (r *LogRecord) Put(b []byte) {
	c := cursor{b: b}
	c.u32(LogMagic)
	c.u32(r.Cycle)
	c.u32(r.Version)
	c.u32(r.Length)
	c.u64(r.LSN)
	c.u64(r.TailLSN)
	c.crc(r.CRC)
	c.u32(r.PrevBlock)
	c.u32(r.Operations)
	for _, v := range r.CycleData {
		c.u32(v)
	}
	c.u32(r.Format)
	c.uuid(&r.UUID)
	c.u32(r.Size)
}

// DecodeLogRecord reads a header, or tells by false that there is none.
func DecodeLogRecord(b []byte) (r LogRecord, ok bool) {
	if len(b) < LogRecordSize || be.Uint32(b) != LogMagic {
		return r, false
	}
	c := cursor{b: b, at: 4}
	r.Cycle, r.Version, r.Length = c.get32(), c.get32(), c.get32()
	r.LSN, r.TailLSN = c.get64(), c.get64()
	r.CRC, r.PrevBlock, r.Operations = c.getCRC(), c.get32(), c.get32()
	for i := range r.CycleData {
		r.CycleData[i] = c.get32()
	}
	r.Format, r.UUID, r.Size = c.get32(), c.getUUID(), c.get32()
	return r, true
}

// CleanLogSize is the length of what PutCleanLog writes.
func CleanLogSize(stripe int) int { return max(stripe, 2*logBlock) }

// Unmount is the record with nothing but the note that the filesystem was
// unmounted.
type Unmount struct {
	UUID     UUID
	Version  uint32
	Stripe   int    // bytes that records are padded to; 0 for none
	LSN      uint64 // of the record
	Previous uint32 // block of the record before
	Sealed   bool   // with a checksum
	Left     int    // blocks up to the log's end, behind which the next cycle begins; 0 for enough
}

// PutCleanLog writes what makes a zeroed log clean. mkfs.xfs gives that record
// no checksum.
func PutCleanLog(b []byte, id UUID, version uint32, stripe int) {
	PutUnmount(b, Unmount{UUID: id, Version: version, Stripe: stripe, LSN: firstCycle << 32, Previous: noPreviousRecord})
}

// PutUnmount writes the record, CleanLogSize bytes.
//
//	block 0      record header
//	block 1...   header extensions, one for each further 32 KiB of record
//	next block   the unmount operation
//	rest         empty
//
// The first word of each block is its cycle.
func PutUnmount(b []byte, u Unmount) {
	size := CleanLogSize(u.Stripe)
	b = b[:size]
	clear(b)
	headers := 1
	if u.Version == 2 {
		headers = max(1, (u.Stripe+bytesPerHeader-1)/bytesPerHeader)
	}
	cycle := uint32(u.LSN >> 32)
	r := LogRecord{
		Cycle: cycle, Version: u.Version, Length: uint32(size - headers*logBlock),
		LSN: u.LSN, TailLSN: u.LSN,
		PrevBlock: u.Previous, Operations: 1,
		Format: LogFormatLinux, UUID: u.UUID, Size: uint32(max(u.Stripe, smallRecord)),
	}
	r.CycleData[0] = unmountTID
	r.Put(b)
	for i := 1; i < size/logBlock; i++ {
		if i == u.Left {
			cycle++
		}
		be.PutUint32(b[i*logBlock:], cycle)
	}
	c := cursor{b: b, at: headers*logBlock + 4} // where the transaction's id was
	c.u32(8)                                    // length of what follows the operation's header
	c.u8(clientLog)
	c.u8(opUnmount)
	c.u16(0)
	c.bytes([]byte{unmountMagic & 0xff, unmountMagic >> 8}) // in the format's byte order
	if u.Sealed {
		SealLog(b[:headers*logBlock], b[headers*logBlock:])
	}
}
