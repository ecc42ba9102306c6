package logtest

import "hash/crc32"

// Log is a log in memory that is being written.
type Log struct {
	B       []byte
	UUID    [16]byte
	Version uint32 // 1 or 2
	Buffer  int    // length of the record buffers, in bytes
	Stripe  int    // records are padded to this, in bytes; 0 for none
	Sum     bool   // records have checksums
	Format  uint32

	Head  int // where the next record goes
	Cycle uint32
	Last  int // block of the last record; -1 if there is none
	// Tail is what the next records say of the tail; 0 for the record itself.
	Tail uint64
}

// New makes a log of a number of blocks, with zeros in it.
func New(blocks int, uuid [16]byte) *Log {
	return &Log{
		B: make([]byte, blocks*Block), UUID: uuid, Version: 2, Buffer: 32 << 10, Sum: true, Format: 1,
		Cycle: 1, Last: -1,
	}
}

// Blocks is how many there are.
func (l *Log) Blocks() int { return len(l.B) / Block }

// LSN is the number that the next record will have.
func (l *Log) LSN() uint64 { return uint64(l.Cycle)<<32 | uint64(l.Head) }

// Start puts the head at a block, as if the log before it, and in the cycle
// before all of it, had been written. What is there is not of any record.
func (l *Log) Start(cycle uint32, block int) {
	l.Cycle, l.Head, l.Last = cycle, block, -1
	for i := range l.Blocks() {
		c := cycle
		if i >= block {
			c--
		}
		be.PutUint32(l.B[i*Block:], c)
	}
}

// Headers is how many blocks of headers a record has.
func (l *Log) Headers() int {
	if l.Version == 1 {
		return 1
	}
	return max(1, (l.Buffer+32<<10-1)/(32<<10))
}

// Room is how many bytes of operations fit a record.
func (l *Log) Room() int { return l.Buffer - l.Headers()*Block }

// Record is one that was made. It need not have been written.
type Record struct {
	Block int
	LSN   uint64
	Raw   []byte // as on disk
	Ops   []Op
	Data  []byte // what it holds, before it was packed
}

// Blocks is how many the record has.
func (r *Record) Blocks() int { return len(r.Raw) / Block }

// Make makes the record of some operations, and moves the head behind it.
func (l *Log) Make(ops ...Op) *Record {
	var data []byte
	for _, op := range ops {
		data = op.append(data)
	}
	r := l.MakeRaw(data, uint32(len(ops)))
	r.Ops = ops
	return r
}

// MakeRaw makes a record of bytes that are said to be a number of operations.
func (l *Log) MakeRaw(data []byte, operations uint32) *Record {
	headers := l.Headers()
	unit := Block
	if l.Version == 2 && l.Stripe > 0 {
		unit = l.Stripe
	}
	total := (headers*Block + len(data) + unit - 1) / unit * unit
	raw := make([]byte, total)
	body := raw[headers*Block:]
	copy(body, data)
	length := len(body)
	if l.Version == 1 {
		length = len(data)
	}
	tail := l.Tail
	if tail == 0 {
		tail = l.LSN()
	}
	h := raw
	for i, v := range []uint32{
		0xfeedbabe, l.Cycle, l.Version, uint32(length),
		l.Cycle, uint32(l.Head), uint32(tail >> 32), uint32(tail), 0, uint32(l.Last), operations,
	} {
		be.PutUint32(h[4*i:], v)
	}
	be.PutUint32(h[300:], l.Format)
	copy(h[304:], l.UUID[:])
	be.PutUint32(h[320:], uint32(l.Buffer))
	l.pack(raw, headers)
	rec := &Record{Block: l.Head, LSN: l.LSN(), Raw: raw, Data: data}
	for i := range rec.Blocks() { // behind the log's end the next cycle begins
		if l.Head+i >= l.Blocks() {
			be.PutUint32(raw[i*Block:], l.Cycle+1)
		}
	}
	l.Seal(rec)
	l.Last = l.Head
	if l.Head += rec.Blocks(); l.Head >= l.Blocks() {
		l.Head -= l.Blocks()
		l.Cycle++
	}
	return rec
}

// pack keeps the first word of each block in the headers.
func (l *Log) pack(raw []byte, headers int) {
	for i := 1; i < headers; i++ {
		be.PutUint32(raw[i*Block:], l.Cycle)
	}
	for i := range len(raw)/Block - headers {
		word := raw[(headers+i)*Block:][:4]
		switch {
		case i < 64:
			copy(raw[44+4*i:], word)
		case l.Version == 2:
			copy(raw[i/64*Block+4+4*(i%64):], word)
		}
		be.PutUint32(word, l.Cycle)
	}
}

// Seal makes the checksum of a record right, if it is to have one.
func (l *Log) Seal(r *Record) {
	if !l.Sum {
		return
	}
	headers, length := l.Headers(), int(be.Uint32(r.Raw[12:]))
	h := append([]byte(nil), r.Raw[:328]...)
	clear(h[32:36])
	sum := crc32.Update(0, crc, h)
	for i := 1; i < headers && i*32<<10 < length; i++ {
		sum = crc32.Update(sum, crc, r.Raw[i*Block:][:4+4*64])
	}
	sum = crc32.Update(sum, crc, r.Raw[headers*Block:][:length])
	le.PutUint32(r.Raw[32:], sum)
}

// Write writes blocks of a record: those that want says so of, or all.
func (l *Log) Write(r *Record, want func(i int) bool) {
	for i := range r.Blocks() {
		if want == nil || want(i) {
			copy(l.B[(r.Block+i)%l.Blocks()*Block:], r.Raw[i*Block:(i+1)*Block])
		}
	}
}

// Add makes a record and writes it.
func (l *Log) Add(ops ...Op) *Record {
	r := l.Make(ops...)
	l.Write(r, nil)
	return r
}

// AddAll writes as many records as the operations need.
func (l *Log) AddAll(ops ...Op) (list []*Record) {
	for _, part := range Split(ops, l.Room()) {
		list = append(list, l.Add(part...))
	}
	return list
}

// Unmount adds the note that the filesystem was unmounted.
func (l *Log) Unmount() *Record { return l.Add(UnmountOp()) }
