package ondisk

func structures() []structure {
	v5 := superblockFields()
	v4 := v5[:len(v5)-numV5Super]
	inode3 := inodeFields()
	inode2 := inode3[:len(inode3)-numV3Inode]
	btree5 := btreeFields()
	return []structure{
		{
			name: "superblock V5", size: 304, magic: []byte("XFSB"), base: &Superblock{Version: Version5},
			put:    func(v any, b []byte) { v.(*Superblock).Put(b) },
			get:    func(b []byte) (any, bool) { s, ok := DecodeSuperblock(b); return &s, ok },
			sets:   map[string]uint64{"Version": 0xa1f5},
			fields: v5,
		},
		{
			name: "superblock V4", size: 208, magic: []byte("XFSB"), base: &Superblock{Version: Version4},
			put:    func(v any, b []byte) { v.(*Superblock).Put(b) },
			get:    func(b []byte) (any, bool) { s, ok := DecodeSuperblock(b); return &s, ok },
			sets:   map[string]uint64{"Version": 0xa1f4},
			fields: v4,
		},
		{
			name: "AGF", size: 224, magic: []byte("XAGF\x00\x00\x00\x01"), base: &AGF{},
			put: func(v any, b []byte) { v.(*AGF).Put(b) },
			get: func(b []byte) (any, bool) { a, ok := DecodeAGF(b); return &a, ok },
			fields: []place{
				{"Seqno", 8, 4}, {"Length", 12, 4},
				{"BnoRoot", 16, 4}, {"CntRoot", 20, 4}, {"RmapRoot", 24, 4},
				{"BnoLevel", 28, 4}, {"CntLevel", 32, 4}, {"RmapLevel", 36, 4},
				{"FreeFirst", 40, 4}, {"FreeLast", 44, 4}, {"FreeCount", 48, 4},
				{"FreeBlocks", 52, 4}, {"Longest", 56, 4}, {"BtreeBlocks", 60, 4},
				{"UUID", 64, 16},
				{"RmapBlocks", 80, 4}, {"RefcountBlocks", 84, 4}, {"RefcountRoot", 88, 4}, {"RefcountLevel", 92, 4},
				{"LSN", 208, 8}, {"CRC", 216, 4},
			},
		},
		{
			name: "AGI", size: 344, magic: []byte("XAGI\x00\x00\x00\x01"), base: &AGI{},
			put: func(v any, b []byte) { v.(*AGI).Put(b) },
			get: func(b []byte) (any, bool) { a, ok := DecodeAGI(b); return &a, ok },
			fields: []place{
				{"Seqno", 8, 4}, {"Length", 12, 4}, {"Count", 16, 4}, {"Root", 20, 4}, {"Level", 24, 4},
				{"FreeCount", 28, 4}, {"NewInode", 32, 4}, {"DirInode", 36, 4}, {"Unlinked", 40, 64 * 4},
				{"UUID", 296, 16}, {"CRC", 312, 4}, {"LSN", 320, 8},
				{"FreeRoot", 328, 4}, {"FreeLevel", 332, 4}, {"InodeBlocks", 336, 4}, {"FreeBlocks", 340, 4},
			},
		},
		{
			name: "AGFL", size: 36, magic: []byte("XAFL"), base: &AGFL{},
			put:    func(v any, b []byte) { v.(*AGFL).Put(b) },
			get:    func(b []byte) (any, bool) { a, ok := DecodeAGFL(b); return &a, ok },
			fields: []place{{"Seqno", 4, 4}, {"UUID", 8, 16}, {"LSN", 24, 8}, {"CRC", 32, 4}},
		},
		{
			name: "btree block V5", size: 56, base: &BtreeBlock{},
			put:    func(v any, b []byte) { v.(*BtreeBlock).Put(b, true) },
			get:    func(b []byte) (any, bool) { h, ok := DecodeBtreeBlock(b, true); return &h, ok },
			fields: btree5,
		},
		{
			name: "btree block V4", size: 16, base: &BtreeBlock{},
			put:    func(v any, b []byte) { v.(*BtreeBlock).Put(b, false) },
			get:    func(b []byte) (any, bool) { h, ok := DecodeBtreeBlock(b, false); return &h, ok },
			fields: btree5[:5],
		},
		{
			name: "alloc record", size: 8, base: &AllocRecord{},
			put:    func(v any, b []byte) { v.(*AllocRecord).Put(b) },
			get:    func(b []byte) (any, bool) { r := DecodeAllocRecord(b); return &r, true },
			fields: []place{{"Start", 0, 4}, {"Blocks", 4, 4}},
		},
		{
			name: "inode record", size: 16, base: &InodeRecord{},
			put:    func(v any, b []byte) { v.(*InodeRecord).Put(b) },
			get:    func(b []byte) (any, bool) { r := DecodeInodeRecord(b, false); return &r, true },
			fields: []place{{"Start", 0, 4}, {"FreeCount", 4, 4}, {"Free", 8, 8}},
		},
		{
			name: "sparse inode record", size: 16, base: &InodeRecord{Sparse: true},
			put:    func(v any, b []byte) { v.(*InodeRecord).Put(b) },
			get:    func(b []byte) (any, bool) { r := DecodeInodeRecord(b, true); return &r, true },
			sets:   map[string]uint64{"FreeCount": 0x9c},
			fields: []place{{"Start", 0, 4}, {"HoleMask", 4, 2}, {"Count", 6, 1}, {"FreeCount", 7, 1}, {"Free", 8, 8}},
		},
		{
			name: "rmap record", size: 24, base: &RmapRecord{},
			put:    func(v any, b []byte) { v.(*RmapRecord).Put(b) },
			get:    func(b []byte) (any, bool) { r := DecodeRmapRecord(b); return &r, true },
			fields: []place{{"Start", 0, 4}, {"Blocks", 4, 4}, {"Owner", 8, 8}, {"Offset", 16, 8}},
		},
		{
			name: "refcount record", size: 12, base: &RefcountRecord{},
			put:    func(v any, b []byte) { v.(*RefcountRecord).Put(b) },
			get:    func(b []byte) (any, bool) { r := DecodeRefcountRecord(b); return &r, true },
			fields: []place{{"Start", 0, 4}, {"Blocks", 4, 4}, {"Count", 8, 4}},
		},
		{
			name: "inode V3", size: 176, magic: []byte("IN"), base: &Inode{Version: 3},
			put:    func(v any, b []byte) { v.(*Inode).Put(b) },
			get:    func(b []byte) (any, bool) { i, ok := DecodeInode(b); return &i, ok },
			sets:   map[string]uint64{"Version": 0xf4},
			fields: inode3,
		},
		{
			name: "inode V2", size: 100, magic: []byte("IN"), base: &Inode{Version: 2},
			put:    func(v any, b []byte) { v.(*Inode).Put(b) },
			get:    func(b []byte) (any, bool) { i, ok := DecodeInode(b); return &i, ok },
			sets:   map[string]uint64{"Version": 1},
			fields: inode2,
		},
		{
			name: "realtime superblock", size: 56, magic: []byte("Frog"), base: &RTSuper{},
			put:    func(v any, b []byte) { v.(*RTSuper).Put(b) },
			get:    func(b []byte) (any, bool) { r, ok := DecodeRTSuper(b); return &r, ok },
			fields: []place{{"CRC", 4, 4}, {"Label", 12, 12}, {"UUID", 24, 16}, {"MetaUUID", 40, 16}},
		},
		{
			name: "realtime block", size: 48, base: &RTBlock{Magic: RTBitmapMagic},
			put:  func(v any, b []byte) { v.(*RTBlock).Put(b) },
			get:  func(b []byte) (any, bool) { h, ok := DecodeRTBlock(b); return &h, ok },
			sets: map[string]uint64{"Magic": 0x53554d59},
			fields: []place{
				{"Magic", 0, 4}, {"CRC", 4, 4}, {"Owner", 8, 8}, {"Blkno", 16, 8}, {"LSN", 24, 8}, {"UUID", 32, 16},
			},
		},
		{
			// 328 bytes with the padding at its end, which is not written.
			name: "log record", size: 324, magic: []byte{0xfe, 0xed, 0xba, 0xbe}, base: &LogRecord{},
			put: func(v any, b []byte) { v.(*LogRecord).Put(b) },
			get: func(b []byte) (any, bool) { r, ok := DecodeLogRecord(b); return &r, ok },
			fields: []place{
				{"Cycle", 4, 4}, {"Version", 8, 4}, {"Length", 12, 4}, {"LSN", 16, 8}, {"TailLSN", 24, 8},
				{"CRC", 32, 4}, {"PrevBlock", 36, 4}, {"Operations", 40, 4}, {"CycleData", 44, 64 * 4},
				{"Format", 300, 4}, {"UUID", 304, 16}, {"Size", 320, 4},
			},
		},
	}
}
