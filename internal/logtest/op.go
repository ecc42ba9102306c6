package logtest

// Op is an operation in a record.
type Op struct {
	Tid    uint32
	Client uint8
	Flags  uint8
	Data   []byte
}

// The flags of operations.
const (
	OpStart     = 0x01
	OpCommit    = 0x02
	OpContinue  = 0x04
	OpContinued = 0x08
	OpEnd       = 0x10
	OpUnmount   = 0x20
)

const (
	clientTransaction = 0x69
	clientLog         = 0xaa
	opHeader          = 12
)

func (o Op) append(b []byte) []byte {
	b = be.AppendUint32(b, o.Tid)
	b = be.AppendUint32(b, uint32(len(o.Data)))
	b = append(b, o.Client, o.Flags, 0, 0)
	return append(b, o.Data...)
}

// UnmountOp is the note that the filesystem was unmounted.
func UnmountOp() Op {
	return Op{Tid: 0xb0c0d0d0, Client: clientLog, Flags: OpUnmount, Data: []byte{'n', 'U', 0, 0, 0, 0, 0, 0}}
}

// Item is what is logged of an object: its regions, the description first.
type Item [][]byte

// Begin is the start of a transaction: it has no regions yet.
func Begin(tid uint32) []Op {
	header := le.AppendUint32(nil, 0x5452414e)
	for _, v := range []uint32{40, tid, 0} {
		header = le.AppendUint32(header, v)
	}
	return []Op{
		{Tid: tid, Client: clientTransaction, Flags: OpStart},
		{Tid: tid, Client: clientTransaction, Data: header},
	}
}

// Regions are the operations of items.
func Regions(tid uint32, items ...Item) (ops []Op) {
	for _, it := range items {
		for _, region := range it {
			ops = append(ops, Op{Tid: tid, Client: clientTransaction, Data: region})
		}
	}
	return ops
}

// Commit is the end of a transaction.
func Commit(tid uint32) Op { return Op{Tid: tid, Client: clientTransaction, Flags: OpCommit} }

// Transaction is a whole one.
func Transaction(tid uint32, items ...Item) []Op {
	return append(append(Begin(tid), Regions(tid, items...)...), Commit(tid))
}

// Split puts operations into records that have room for a number of bytes. One
// that does not fit is continued in the next.
func Split(ops []Op, room int) (records [][]Op) {
	var now []Op
	left := room
	end := func() {
		records = append(records, now)
		now, left = nil, room
	}
	for _, op := range ops {
		if left < opHeader+min(4, len(op.Data)) {
			end()
		}
		var continued uint8
		for {
			n := min(len(op.Data), (left-opHeader)&^3)
			part := op
			part.Data = op.Data[:n:n]
			op.Data = op.Data[n:]
			part.Flags |= continued
			left -= opHeader + n
			if len(op.Data) == 0 {
				if continued != 0 {
					part.Flags |= OpEnd
				}
				now = append(now, part)
				break
			}
			part.Flags |= OpContinue
			continued = OpContinued
			now = append(now, part)
			end()
		}
	}
	if len(now) > 0 {
		end()
	}
	return records
}
