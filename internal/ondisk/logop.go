package ondisk

import "encoding/binary"

var le = binary.LittleEndian

// LogOp is the header of an operation in a log record. Operations of several
// transactions may be mixed, and a long one is continued in the next record.
type LogOp struct {
	Transaction uint32
	Length      uint32 // bytes that follow the header
	Client      uint8
	Flags       OpFlags
}

// LogOpSize is the length of the header.
const LogOpSize = opHeader

// OpFlags say what an operation is for.
type OpFlags uint8

// The bits of OpFlags.
const (
	OpStart     OpFlags = 0x01 // begins a transaction
	OpCommit    OpFlags = 0x02 // ends it
	OpContinue  OpFlags = 0x04 // is not complete
	OpContinued OpFlags = 0x08 // goes on with one that was not
	OpEnd       OpFlags = 0x10 // and completes it
	OpUnmount   OpFlags = opUnmount
)

// Who writes operations.
const (
	ClientTransaction = 0x69
	ClientLog         = clientLog
)

// DecodeLogOp reads a header.
func DecodeLogOp(b []byte) (op LogOp, ok bool) {
	if len(b) < LogOpSize {
		return op, false
	}
	c := cursor{b: b}
	return LogOp{c.get32(), c.get32(), c.get8(), OpFlags(c.get8())}, true
}

// The header of a transaction, which its first operation has.
const (
	TransactionHeader = 16
	TransactionMagic  = 0x5452414e // "TRAN"
)

// IsTransaction tells whether b begins as the header of a transaction does.
func IsTransaction(b []byte) bool { return len(b) >= 4 && le.Uint32(b) == TransactionMagic }

// ItemType is what an item of a transaction is about.
type ItemType uint16

// The types of items. Those with "Intent" promise work, of which those with
// "Done" say that it has been done.
const (
	ItemFreeIntent       ItemType = 0x1236
	ItemFreeDone         ItemType = 0x1237
	ItemInode            ItemType = 0x123b
	ItemBuffer           ItemType = 0x123c
	ItemDquot            ItemType = 0x123d
	ItemQuotaOff         ItemType = 0x123e
	ItemInodeCreate      ItemType = 0x123f
	ItemRmapIntent       ItemType = 0x1240
	ItemRmapDone         ItemType = 0x1241
	ItemRefcountIntent   ItemType = 0x1242
	ItemRefcountDone     ItemType = 0x1243
	ItemMapIntent        ItemType = 0x1244
	ItemMapDone          ItemType = 0x1245
	ItemAttrIntent       ItemType = 0x1246
	ItemAttrDone         ItemType = 0x1247
	ItemExchangeIntent   ItemType = 0x1248
	ItemExchangeDone     ItemType = 0x1249
	ItemRTFreeIntent     ItemType = 0x124a
	ItemRTFreeDone       ItemType = 0x124b
	ItemRTRmapIntent     ItemType = 0x124c
	ItemRTRmapDone       ItemType = 0x124d
	ItemRTRefcountIntent ItemType = 0x124e
	ItemRTRefcountDone   ItemType = 0x124f
)

// MaxRegions is how many regions an item can have: one for its description and
// one for every other chunk of the largest block.
const MaxRegions = 64<<10/BufferChunk/2 + 1

// ItemHead reads the two numbers that every item's description begins with:
// its type and how many regions it has, this one included.
func ItemHead(b []byte) (t ItemType, regions int, ok bool) {
	if len(b) < 4 {
		return 0, 0, false
	}
	return ItemType(le.Uint16(b)), int(le.Uint16(b[2:])), true
}
