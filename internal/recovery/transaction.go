package recovery

import (
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// item is what a transaction logged of one object: a description and what
// was changed of it.
type item struct {
	kind    *itemKind
	regions [][]byte
	want    int      // regions, says the description
	block   int      // of the log, where the record is that it begins in
	lsn     xlog.LSN // of the transaction
}

// newItem makes an item with room for a few regions, in one piece of memory.
func newItem() *item {
	var both struct {
		item
		room [usualRegions][]byte
	}
	both.regions = both.room[:0]
	return &both.item
}

// usualRegions is how many an inode has, or a block that was changed in one place.
const usualRegions = 3

func (it *item) complete() bool { return len(it.regions) == it.want && it.want > 0 }

// transaction is what was logged together: a checkpoint.
type transaction struct {
	id     uint32
	lsn    xlog.LSN // of the record that it begins in
	header int      // bytes seen of its header
	items  []*item
	bytes  int // of the records that it is in
	record int // the last of them
}

// maxPending is how many bytes of transactions can be without an end. The
// kernel does not let one have more than twice 32 MiB.
const maxPending = 256 << 20

// itemBytes is about what an item takes besides.
const itemBytes = 192

// maxOpen is how many transactions can be without an end. The kernel has a few.
const maxOpen = 64 << 10

// assembler puts transactions together from the operations in records.
type assembler struct {
	open   map[uint32]*transaction
	bytes  int
	commit func(t *transaction) error
}

func newAssembler(commit func(*transaction) error) *assembler {
	return &assembler{open: map[uint32]*transaction{}, commit: commit}
}

// add takes a record. Its memory is kept until its transactions have ended.
func (a *assembler) add(rec *xlog.Record) error {
	data, left := rec.Data, rec.Header.Operations
	for len(data) > 0 && left > 0 {
		op, ok := ondisk.DecodeLogOp(data)
		if !ok {
			return corrupt(rec.Block, "the record ends within the header of an operation")
		}
		data = data[ondisk.LogOpSize:]
		switch {
		case op.Client != ondisk.ClientTransaction && op.Client != ondisk.ClientLog:
			return corrupt(rec.Block, "an operation of client %#x, which is none", op.Client)
		case uint64(op.Length) > uint64(len(data)):
			return corrupt(rec.Block, "an operation of %d bytes, with %d left in the record", op.Length, len(data))
		}
		if err := a.operation(rec, op, data[:op.Length:op.Length]); err != nil {
			return err
		}
		data = data[op.Length:]
		left--
	}
	return nil
}

func (a *assembler) operation(rec *xlog.Record, op ondisk.LogOp, data []byte) error {
	t := a.open[op.Transaction]
	if t == nil {
		// Others are the rest of transactions that began before the tail.
		if op.Flags&ondisk.OpStart != 0 {
			if len(a.open) >= maxOpen {
				return corrupt(rec.Block, "more than %d transactions without an end", maxOpen)
			}
			a.open[op.Transaction] = &transaction{id: op.Transaction, lsn: xlog.LSN(rec.Header.LSN), record: -1}
		}
		return nil
	}
	flags := op.Flags &^ ondisk.OpEnd
	if flags&ondisk.OpContinued != 0 {
		flags &^= ondisk.OpContinue
	}
	switch flags {
	case 0, ondisk.OpContinue:
		return a.region(rec, t, data)
	case ondisk.OpContinued:
		return a.more(rec, t, data)
	case ondisk.OpCommit:
		a.close(t)
		for _, it := range t.items {
			if !it.complete() {
				return corrupt(it.block, "an item of %d regions has %d", it.want, len(it.regions))
			}
		}
		return a.commit(t)
	case ondisk.OpUnmount:
		a.close(t)
		return nil
	}
	return corrupt(rec.Block, "an operation with flags %#x, which is none", op.Flags)
}

func (a *assembler) close(t *transaction) {
	delete(a.open, t.id)
	a.bytes -= t.bytes
}

// count bounds what a log can make us keep: the records that regions are in.
func (a *assembler) count(rec *xlog.Record, t *transaction) error {
	if t.record == rec.Block {
		return nil
	}
	t.record = rec.Block
	t.bytes += len(rec.Data)
	if a.bytes += len(rec.Data); a.bytes > maxPending {
		return corrupt(rec.Block, "transactions without an end have more than %d bytes", maxPending)
	}
	return nil
}

// region takes the next region of a transaction. The first is its header.
func (a *assembler) region(rec *xlog.Record, t *transaction, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if err := a.count(rec, t); err != nil {
		return err
	}
	if t.header < ondisk.TransactionHeader {
		if t.header > 0 || !ondisk.IsTransaction(data) {
			return corrupt(rec.Block, "a transaction that does not begin as one")
		}
		return t.head(rec, data)
	}
	it := t.last()
	if it == nil || it.complete() {
		kind, regions, ok := ondisk.ItemHead(data)
		switch {
		case !ok:
			return corrupt(rec.Block, "an item's description of %d bytes", len(data))
		case regions == 0 || regions > ondisk.MaxRegions:
			return corrupt(rec.Block, "an item of %d regions; there can be 1 to %d", regions, ondisk.MaxRegions)
		}
		it = newItem()
		it.kind, it.want, it.block, it.lsn = kinds[kind], regions, rec.Block, t.lsn
		if it.kind == nil {
			return corrupt(rec.Block, "an item of the unknown type %#x", kind)
		}
		t.items = append(t.items, it)
		t.bytes += itemBytes
		a.bytes += itemBytes
	}
	it.regions = append(it.regions, data)
	return nil
}

// more takes the rest of a region that did not fit the record before.
func (a *assembler) more(rec *xlog.Record, t *transaction, data []byte) error {
	if err := a.count(rec, t); err != nil {
		return err
	}
	it := t.last()
	switch {
	case t.header < ondisk.TransactionHeader:
		return t.head(rec, data)
	case it == nil || len(it.regions) == 0:
		return corrupt(rec.Block, "the rest of a region that has no beginning")
	}
	last := &it.regions[len(it.regions)-1]
	*last = append(*last, data...) // a region's capacity ends with it: this copies
	return nil
}

func (t *transaction) head(rec *xlog.Record, data []byte) error {
	if t.header += len(data); t.header > ondisk.TransactionHeader {
		return corrupt(rec.Block, "a transaction's header of %d bytes, not %d", t.header, ondisk.TransactionHeader)
	}
	return nil
}

func (t *transaction) last() *item {
	if len(t.items) == 0 {
		return nil
	}
	return t.items[len(t.items)-1]
}

// ordered returns the items in the order in which they are replayed. Blocks
// come first, as inodes are in them; blocks of inodes, of which only the
// unlinked pointers are replayed, after the inodes; and cancelled ones last, as
// replaying one lifts the ban on its block.
func (t *transaction) ordered() []*item {
	var lists [4][]*item
	for _, it := range t.items {
		o := orderOther
		if it.kind.order != nil {
			o = it.kind.order(it)
		}
		lists[o] = append(lists[o], it)
	}
	out := append(lists[orderBlock], lists[orderOther]...)
	for _, o := range []order{orderInodes, orderCancel} { // the last first
		for i := len(lists[o]) - 1; i >= 0; i-- {
			out = append(out, lists[o][i])
		}
	}
	return out
}

// order is the place of an item among those of its transaction.
type order int

const (
	orderBlock order = iota
	orderOther
	orderInodes
	orderCancel
)
