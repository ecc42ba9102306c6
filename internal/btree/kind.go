package btree

import "mkfs/internal/ondisk"

// Kind is a kind of tree. All of them work alike; what tells one from another is a
// row of this.
type Kind struct {
	Name           string
	Magic, MagicV4 uint32 // MagicV4 is 0 if there are none in V4
	// Long trees are of files: pointers are FSBlocks and the root is in the
	// inode. Others are within an AG.
	Long bool
	// LeafRoot: the root in the inode may be a leaf.
	LeafRoot bool
	// The lengths in bytes of a record, and of a key as a node has it.
	Record, Key int

	// putKey makes the key of a record.
	putKey func(key, record []byte)
	// putHigh makes the key of the end of a record, in trees whose records may
	// overlap; it is nil in others. A node of theirs has two keys for each
	// pointer, which count as one of twice the length: the first key below the
	// pointer, and the last end.
	putHigh func(key, record []byte)
	// putEnd makes the key of the end of a record in trees whose records are runs that do not overlap; it is nil in
	// others, and where nobody asks.
	putEnd func(key, record []byte)
	// records and keys find a key among records, or among the first keys of the
	// entries of nodes.
	records, keys search
	// highest are the entries of a leaf, and of a node, with the last end of all, in
	// trees whose records may overlap.
	highest [2]func(entries []byte, n int) int

	v4, v5 buffers
}

// search finds a key in n entries, at least one, of size bytes: the last that is not
// behind the key, or if all are the first. sign tells how it compares with the
// key: negative if it is before.
type search func(entries []byte, n, size int, key []byte) (i, sign int)

// overlaps tells whether records may overlap.
func (k *Kind) overlaps() bool { return k.putHigh != nil }

// high is the second half of a pair of keys.
func (k *Kind) high(pair []byte) []byte { return pair[k.Key/2:] }

// compare compares a record with a key.
func (k *Kind) compare(record, key []byte) int {
	_, sign := k.records(record, 1, k.Record, key)
	return sign
}

// maxKey is the length of the longest key, a pair.
const maxKey = 2 * ondisk.RmapKeySize

// The kinds.
var (
	Bnobt = kind(Kind{
		Name: "bnobt", Magic: uint32(ondisk.BnoMagic), MagicV4: uint32(ondisk.BnoMagicV4),
		Record: ondisk.AllocRecordSize, Key: ondisk.AllocRecordSize,
		putKey: putAllocKey, putEnd: putRunEnd, records: searchStart, keys: searchStart,
	})
	Cntbt = kind(Kind{
		Name: "cntbt", Magic: uint32(ondisk.CntMagic), MagicV4: uint32(ondisk.CntMagicV4),
		Record: ondisk.AllocRecordSize, Key: ondisk.AllocRecordSize,
		putKey: putAllocKey, records: searchCount, keys: searchCount,
	})
	Inobt = kind(Kind{
		Name: "inobt", Magic: uint32(ondisk.InoMagic), MagicV4: uint32(ondisk.InoMagicV4),
		Record: ondisk.InodeRecordSize, Key: ondisk.InodeKeySize,
		putKey: putStartKey, records: searchStart, keys: searchStart,
	})
	Finobt = kind(Kind{
		Name: "finobt", Magic: uint32(ondisk.FinoMagic),
		Record: ondisk.InodeRecordSize, Key: ondisk.InodeKeySize,
		putKey: putStartKey, records: searchStart, keys: searchStart,
	})
	Rmapbt = kind(Kind{
		Name: "rmapbt", Magic: uint32(ondisk.RmapMagic),
		Record: ondisk.RmapRecordSize, Key: 2 * ondisk.RmapKeySize,
		putKey: putRmapKey, putHigh: putRmapHigh, records: searchOwned, keys: searchOwnedKey,
		highest: [2]func([]byte, int) int{highestOwned, highestOwnedKey},
	})
	Refcountbt = kind(Kind{
		Name: "refcountbt", Magic: uint32(ondisk.RefcountMagic),
		Record: ondisk.RefcountRecordSize, Key: startKeySize,
		putKey: putStartKey, putEnd: putRunEnd, records: searchStart, keys: searchStart,
	})
	Bmbt = kind(Kind{
		Name: "bmbt", Magic: ondisk.BmbtMagic, MagicV4: ondisk.BmbtMagicV4, Long: true,
		Record: ondisk.FileExtentSize, Key: ondisk.BmbtKeySize,
		putKey: putOffsetKey, records: searchExtent, keys: searchOffset,
	})
	RTRmapbt = kind(Kind{
		Name: "rtrmapbt", Magic: ondisk.RTRmapMagic, Long: true, LeafRoot: true,
		Record: ondisk.RmapRecordSize, Key: 2 * ondisk.RmapKeySize,
		putKey: putRmapKey, putHigh: putRmapHigh, records: searchOwned, keys: searchOwnedKey,
		highest: [2]func([]byte, int) int{highestOwned, highestOwnedKey},
	})
	RTRefcountbt = kind(Kind{
		Name: "rtrefcountbt", Magic: ondisk.RTRefcountMagic, Long: true, LeafRoot: true,
		Record: ondisk.RefcountRecordSize, Key: startKeySize,
		putKey: putStartKey, putEnd: putRunEnd, records: searchStart, keys: searchStart,
	})
)

// startKeySize is the length of a key that is a block number, or an inode within its AG.
const startKeySize = 4

// kind completes a row.
func kind(k Kind) *Kind {
	k.v5 = newBuffers(&k, true)
	if k.MagicV4 != 0 {
		k.v4 = newBuffers(&k, false)
	}
	return &k
}
