package recovery

import "mkfs/internal/ondisk"

// itemKind says what to do with the items of a type. A function that is nil
// has nothing to do.
type itemKind struct {
	name string
	// order is the item's place in its transaction.
	order func(it *item) order
	// first is done in the first pass over the log.
	first func(r *replay, it *item) error
	// place is the block that the item is about, to be read ahead.
	place func(r *replay, it *item) (off int64, n int, ok bool)
	// second is done in the second pass.
	second func(r *replay, it *item) error
}

// kinds are all types of items that there are. It is filled at the start since
// the functions in it lead back to it.
var kinds map[ondisk.ItemType]*itemKind

func init() {
	kinds = map[ondisk.ItemType]*itemKind{
		ondisk.ItemBuffer: {name: "block", order: orderOfBlock, first: noteCancel, place: placeOfBlock, second: replayBlock},
		ondisk.ItemInode:  {name: "inode", place: placeOfInode, second: replayInode},
		ondisk.ItemInodeCreate: {
			name: "inode creation", order: func(*item) order { return orderBlock }, second: replayInodeCreate,
		},
		ondisk.ItemDquot:    {name: "dquot", place: placeOfDquot, second: replayDquot},
		ondisk.ItemQuotaOff: {name: "quota off", first: noteQuotaOff},
	}
	for _, w := range works {
		kinds[w.intent] = &itemKind{name: w.name + " intent", second: w.promise}
		kinds[w.done] = &itemKind{name: w.name + " done", second: w.fulfil}
	}
}
