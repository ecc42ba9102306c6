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

// PutCleanLog writes what makes a zeroed log clean: one record with nothing
// but the note that the filesystem was unmounted. stripe is the log stripe
// unit in bytes, and the whole record is as long; 0 stands for none.
//
//	block 0      record header
//	block 1...   header extensions, one for each further 32 KiB of record
//	next block   the unmount operation
//	rest         empty
func PutCleanLog(b []byte, id UUID, version uint32, stripe int) {
	size := CleanLogSize(stripe)
	clear(b[:size])
	headers := 1
	if version == 2 {
		headers = max(1, (stripe+bytesPerHeader-1)/bytesPerHeader)
	}
	r := LogRecord{
		Cycle: firstCycle, Version: version, Length: uint32(size - headers*logBlock),
		LSN: firstCycle << 32, TailLSN: firstCycle << 32,
		PrevBlock: noPreviousRecord, Operations: 1,
		Format: LogFormatLinux, UUID: id, Size: uint32(max(stripe, smallRecord)),
	}
	r.CycleData[0] = unmountTID
	r.Put(b)
	for at := logBlock; at < size; at += logBlock {
		be.PutUint32(b[at:], firstCycle)
	}
	c := cursor{b: b, at: headers*logBlock + 4} // where the transaction's id was
	c.u32(8)                                    // length of what follows the operation's header
	c.u8(clientLog)
	c.u8(opUnmount)
	c.u16(0)
	c.bytes([]byte{unmountMagic & 0xff, unmountMagic >> 8}) // in the format's byte order
}
