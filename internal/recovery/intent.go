package recovery

import (
	"bytes"

	"mkfs/internal/ondisk"
)

// work is a kind of work that is promised in one transaction and done in
// others, so that a crash between leaves it to recovery.
type work struct {
	name         string
	intent, done ondisk.ItemType
	head         int   // length of the intent's description, without extents
	extents      []int // length of each extent that it counts, by machine; nil if it has none
	doneHead     int
	doneExtents  []int
}

// works are all kinds of work.
var works = []*work{
	{"extent free", ondisk.ItemFreeIntent, ondisk.ItemFreeDone, 16, []int{16, 12}, 16, []int{16, 12}},
	{"rmap update", ondisk.ItemRmapIntent, ondisk.ItemRmapDone, 16, []int{32}, 16, nil},
	{"refcount update", ondisk.ItemRefcountIntent, ondisk.ItemRefcountDone, 16, []int{16}, 16, nil},
	{"mapping update", ondisk.ItemMapIntent, ondisk.ItemMapDone, 16, []int{32}, 16, nil},
	{"attribute update", ondisk.ItemAttrIntent, ondisk.ItemAttrDone, 40, nil, 16, nil},
	{"mapping exchange", ondisk.ItemExchangeIntent, ondisk.ItemExchangeDone, 88, nil, 16, nil},
	{"realtime extent free", ondisk.ItemRTFreeIntent, ondisk.ItemRTFreeDone, 16, []int{16, 12}, 16, []int{16, 12}},
	{"realtime rmap update", ondisk.ItemRTRmapIntent, ondisk.ItemRTRmapDone, 16, []int{32}, 16, nil},
	{"realtime refcount update", ondisk.ItemRTRefcountIntent, ondisk.ItemRTRefcountDone, 16, []int{16}, 16, nil},
}

// promiseKey names an intent.
type promiseKey struct {
	work *work
	id   uint64
}

// promise notes work that is to be done.
func (w *work) promise(r *replay, it *item) error {
	id, err := w.id(it, w.head, w.extents)
	if err != nil {
		return err
	}
	r.promises[promiseKey{w, id}] = bytes.Clone(it.regions[0])
	return nil
}

// fulfil notes that it has been. What was promised before the log's tail is
// of no interest.
func (w *work) fulfil(r *replay, it *item) error {
	id, err := w.id(it, w.doneHead, w.doneExtents)
	if err != nil {
		return err
	}
	delete(r.promises, promiseKey{w, id})
	return nil
}

// id checks an item's length and returns the number of its intent.
func (w *work) id(it *item, head int, extents []int) (uint64, error) {
	b := it.regions[0]
	id, ok := ondisk.IntentID(b)
	fits := ok && len(b) == head
	for _, n := range extents {
		fits = fits || ok && uint64(len(b)) == uint64(head)+uint64(n)*uint64(ondisk.IntentCount(b))
	}
	if extents != nil && ok && ondisk.IntentCount(b) > 0 {
		fits = fits && len(b) > head
	}
	if !fits {
		return 0, corrupt(it.block, "an item of type %s has %d bytes", it.kind.name, len(b))
	}
	return id, nil
}
