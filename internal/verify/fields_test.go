package verify

import (
	"fmt"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/super"
)

const (
	null = 1<<32 - 1
	far  = 0x0fffffff // beyond any AG of a test
)

// fieldCase damages one field of one structure, with a valid checksum.
type fieldCase struct {
	agno     geometry.AGNumber
	place    place
	at, size int
	value    uint64
	want     string // begins the message
}

func superCase(at, size int, v uint64, want string) fieldCase {
	return fieldCase{0, placeSuperblock, at, size, v, want}
}
func copyCase(at, size int, want string) fieldCase {
	return fieldCase{1, placeSuperblock, at, size, 0x5a5a5a5a5a5a5a5a >> (64 - 8*size), want}
}
func agfCase(at int, v uint64, want string) fieldCase {
	return fieldCase{1, placeAGF, at, 4, v, want}
}
func agiCase(at int, v uint64, want string) fieldCase {
	return fieldCase{0, placeAGI, at, 4, v, want}
}
func rootCase(root, at, size int, v uint64, want string) fieldCase {
	return fieldCase{0, placeRoots + place(root), at, size, v, want}
}

// Every field that a rule of the tables is about.
var fieldCases = []fieldCase{
	superCase(0, 4, 1, "no XFS"),
	superCase(100, 2, 0xb4a3, "version"),
	superCase(4, 4, 8192, "block size"), superCase(120, 1, 13, "block size"),
	superCase(102, 2, 1024, "sector size"), superCase(121, 1, 40, "sector size"),
	superCase(104, 2, 1024, "inode size"), superCase(122, 1, 255, "inode size"),
	superCase(106, 2, 9, "number of inodes per block"), superCase(123, 1, 9, "logarithm of inodes per block"),
	superCase(84, 4, 100, "AG size in bytes"), superCase(124, 1, 60, "logarithm of the AG size"),
	superCase(88, 4, 0, "number of AGs"), superCase(88, 4, 5, "number of blocks"), superCase(8, 8, 1<<63, "number of blocks"),
	superCase(126, 1, 1, "in progress"), superCase(127, 1, 101, "percentage of inodes"),
	superCase(100, 2, 0xb4a5&^0x2000, "features"), superCase(100, 2, 0xb4a5|0x200, "features"), superCase(200, 4, 0x18a|1<<20, "features"),
	superCase(216, 4, 0xeb|1<<31, "incompatible features"), superCase(216, 4, 0xeb|0x10, "needs repair"),
	superCase(212, 4, 0xf|1<<9, "read-only compatible features"),
	superCase(179, 1, 1, "shared version"), superCase(192, 1, 5, "logarithm of the directory block size"),
	superCase(96, 4, 0, "size of the log"), superCase(96, 4, 1<<21, "size of the log"),
	superCase(48, 8, 0x2ffff, "start of the log"), superCase(48, 8, 1<<60, "start of the log"),
	superCase(194, 2, 512, "log sector size"), superCase(196, 4, 1000, "log stripe unit"),
	superCase(180, 4, 3, "inode alignment"), superCase(228, 4, 3, "inode alignment"),
	superCase(184, 4, 8, "stripe"), superCase(80, 4, 0, "realtime extent"), superCase(24, 8, 3, "realtime section"),
	superCase(16, 8, 30, "realtime section"), superCase(296, 8, 4, "reserve of the realtime section"), superCase(56, 8, 0, "root inode"), superCase(56, 8, 1<<63, "root inode"),
	superCase(240, 8, 1<<32|3, "LSN is 1:3, ahead of the log's head at 1:2"),
	superCase(144, 8, 12, "free blocks"), superCase(128, 8, 128, "inodes"), superCase(136, 8, 12, "free inodes"),

	copyCase(0, 4, "the magic number"), copyCase(32, 8, "UUID"), copyCase(4, 4, "block size"), copyCase(8, 8, "number of blocks"),
	copyCase(16, 8, "realtime blocks"), copyCase(24, 8, "realtime extents"), copyCase(48, 8, "start of the log"),
	copyCase(80, 4, "realtime extent"), copyCase(84, 4, "AG size"), copyCase(88, 4, "number of AGs"),
	copyCase(92, 4, "realtime bitmap blocks"), copyCase(96, 4, "size of the log"), copyCase(100, 2, "version"),
	copyCase(102, 2, "sector size"), copyCase(104, 2, "inode size"), copyCase(106, 2, "number of inodes per block"),
	copyCase(120, 1, "logarithm of the block size"), copyCase(121, 1, "logarithm of the sector size"),
	copyCase(122, 1, "logarithm of the inode size"), copyCase(123, 1, "logarithm of inodes per block"),
	copyCase(124, 1, "logarithm of the AG size"), copyCase(125, 1, "logarithm of realtime extents"),
	copyCase(127, 1, "percentage of inodes"), copyCase(179, 1, "shared version"), copyCase(180, 4, "inode alignment"),
	copyCase(192, 1, "logarithm of the directory block size"), copyCase(193, 1, "logarithm of the log sector size"),
	copyCase(194, 2, "log sector size"), copyCase(196, 4, "log stripe unit"), copyCase(228, 4, "sparse inode alignment"),
	copyCase(208, 4, "compatible features"), copyCase(212, 4, "read-only compatible features"), copyCase(216, 4, "incompatible features"),

	agfCase(0, 1, "the magic number"), agfCase(4, 2, "version"), agfCase(8, 2, "sequence number"), agfCase(12, 99, "length"),
	agfCase(16, far, "root of the bnobt"), agfCase(20, 0, "root of the cntbt"), agfCase(24, null, "root of the rmapbt"),
	agfCase(28, 0, "number of levels of the bnobt"), agfCase(32, 77, "number of levels of the cntbt"),
	agfCase(36, 0, "number of levels of the rmapbt"), agfCase(92, 99, "number of levels of the refcountbt"),
	agfCase(40, 119, "flfirst"), agfCase(44, 500, "fllast"), agfCase(48, 2, "flcount"), agfCase(48, 3000, "flcount"),
	agfCase(40, 3, "flcount"), agfCase(52, 5, "freeblks"), agfCase(52, far, "freeblks"), agfCase(56, 5, "longest"), agfCase(56, far, "longest"),
	agfCase(60, 1, "btreeblks"), agfCase(60, far, "btreeblks"), agfCase(64, 1, "UUID"),
	agfCase(80, 0, "number of rmapbt blocks"), agfCase(80, 2, "number of rmapbt blocks"), agfCase(84, 3, "number of refcountbt blocks"),
	agfCase(84, far, "number of refcountbt blocks"), agfCase(88, far, "root of the refcountbt"), agfCase(208, 9, "LSN"),

	agiCase(0, 1, "the magic number"), agiCase(4, 2, "version"), agiCase(8, 2, "sequence number"), agiCase(12, 99, "length"),
	agiCase(16, 128, "count"), agiCase(16, far, "count"), agiCase(20, far, "root of the inobt"), agiCase(24, 0, "number of levels of the inobt"),
	agiCase(28, 60, "freecount"), agiCase(28, 65, "freecount"), agiCase(32, 1, "newino"), agiCase(40, 5, "unlinked list 0"),
	agiCase(292, far, "unlinked list 63"), agiCase(296, 1, "UUID"), agiCase(320, 9, "LSN"), agiCase(328, 3<<28, "root of the finobt"),
	agiCase(332, 44, "number of levels of the finobt"), agiCase(336, 2, "number of inobt blocks"), agiCase(340, 0, "number of finobt blocks"),
	agiCase(340, 2, "number of finobt blocks"), agiCase(336, 0, "number of inobt blocks"),

	{1, placeAGFL, 0, 4, 1, "the magic number"}, {1, placeAGFL, 4, 4, 2, "sequence number"}, {1, placeAGFL, 8, 4, 1, "UUID"},
	{1, placeAGFL, 24, 8, 1 << 60, "LSN"}, {1, placeAGFL, 40, 4, 0, "entry 0 is block 0, which is no block"},
	{1, placeAGFL, 40, 4, null, "entry 0"}, {1, placeAGFL, 44, 4, 30000, "entry 1 is block 30000, which is free"},
	{1, placeAGFL, 44, 4, 1, "entry 1 is block 1, which is a btree root"}, {1, placeAGFL, 44, 4, 7, "entry 1 is block 7, which is there twice"},
	{1, placeAGFL, 500, 4, far, "entry 116"},

	rootCase(rootBno, 0, 4, 1, "the magic number"), rootCase(rootBno, 4, 2, 1, "level"), rootCase(rootBno, 6, 2, 9999, "number of records"),
	rootCase(rootBno, 8, 4, 1, "left sibling"), rootCase(rootBno, 12, 4, 1, "right sibling"), rootCase(rootBno, 16, 8, 7, "block number"),
	rootCase(rootBno, 24, 8, 1<<60, "LSN"), rootCase(rootBno, 32, 8, 1, "UUID"), rootCase(rootBno, 48, 4, 1, "owner"),
	rootCase(rootBno, 56, 4, 0, "record 0"), rootCase(rootBno, 60, 4, far, "record 0"), rootCase(rootBno, 60, 4, 0, "record 0"),
	rootCase(rootBno, 64, 4, 1, "record 1"), rootCase(rootCnt, 60, 4, far, "record 0"), rootCase(rootCnt, 68, 4, 1, "record 1"),
	rootCase(rootCnt, 56, 4, 50, "extents"),
	rootCase(rootIno, 56, 4, 0, "record 0 begins"), rootCase(rootIno, 56, 4, null, "record 0 begins"), rootCase(rootIno, 60, 2, 3, "record 0 has 64 inodes"),
	rootCase(rootIno, 62, 1, 63, "record 0 has 63 inodes"), rootCase(rootIno, 63, 1, 60, "record 0 has 60 free"), rootCase(rootIno, 64, 8, 7, "record 0 has 61 free"),
	rootCase(rootIno, 4, 2, 3, "level"), rootCase(rootIno, 6, 2, 0, ""), rootCase(rootFino, 6, 2, 0, "number of free inodes"),
	rootCase(rootFino, 48, 4, 9, "owner"),
	rootCase(rootRmap, 60, 4, 2, "record 0"), rootCase(rootRmap, 64, 8, 0, "record 0"), rootCase(rootRmap, 72, 8, 5, "record 0 has an offset"),
	rootCase(rootRmap, 80, 4, 0, "record 1"), rootCase(rootRmap, 84, 4, 1, "number of used blocks"), rootCase(rootRmap, 84, 4, 90, "record 2 begins"),
	rootCase(rootRefcount, 6, 2, 1, "record 0 is 0 blocks"), rootCase(rootRefcount, 32, 4, 9, "UUID"),
}

// Each damaged field makes a fault that names its AG and structure.
func TestFields(t *testing.T) {
	clean := newImage(t, gib, 1, nil)
	if r := clean.verify(t, nil); r.Status() != Clean || !r.Compared || r.AGs != 4 {
		t.Fatalf("before any damage: %+v", r)
	}
	said := map[string]bool{}
	for _, c := range fieldCases {
		name := fmt.Sprintf("AG %d %s at %d %s", c.agno, c.place, c.at, c.want)
		r := clean.changed(t, c.agno, c.place, field(c.at, c.size, c.value)).verify(t, nil)
		found := false
		for _, f := range r.Faults {
			said[f.Structure+" "+f.Message] = true
			if f.AG == int64(c.agno) && f.Structure == c.place.String() && strings.HasPrefix(f.Message, c.want) {
				found = f.Offset == clean.part(c.agno, c.place).off || strings.HasPrefix(c.want, "root of")
			}
		}
		if c.want == "" {
			found = r.Count > 0
		}
		if !found || r.Status() != Faulty {
			t.Errorf("%s: %v", name, r.Faults)
		}
	}
	heard := func(structure, rule string) {
		for text := range said {
			if strings.HasPrefix(text, structure+" "+rule) {
				return
			}
		}
		t.Errorf("no case breaks the rule %q of the %s", rule, structure)
	}
	for _, name := range super.RuleNames() {
		heard("superblock", name)
	}
	for _, r := range copyRules {
		if r.Name != "metadata UUID" && r.Name != "realtime groups" && r.Name != "zoned realtime section" {
			heard("superblock", r.Name)
		}
	}
	for _, r := range agfRules {
		heard("AGF", r.Name)
	}
	for _, r := range agiRules {
		heard("AGI", r.Name)
	}
	for _, r := range agflRules {
		heard("AGFL", r.Name)
	}
	for _, r := range rootRules {
		heard("bnobt root", r.Name)
	}
	for _, r := range crossRules {
		heard(r.place.String(), r.name)
	}
}

// V4 has no checksums, so only what the rules see is seen.
func TestFieldsV4(t *testing.T) {
	clean := newImage(t, gib, 1, func(s *geometry.Spec) { s.Features.CRC = geometry.Given(false) })
	if r := clean.verify(t, nil); r.Status() != Clean || !r.Compared {
		t.Fatalf("before any damage: %+v", r)
	}
	for _, c := range []fieldCase{
		{2, placeAGF, 8, 4, 1, "sequence number"}, {2, placeAGF, 52, 4, 17, "freeblks"}, {0, placeAGI, 28, 4, 17, "freecount"},
		{2, placeAGFL, 4, 4, 0, "entry 0"}, {2, placeRoots + rootBno, 0, 4, 0x41423342, "the magic number"},
		{2, placeRoots + rootCnt, 20, 4, 1, "extents"}, {2, placeRoots + rootIno, 6, 2, 1, "record 0"}, {1, placeSuperblock, 84, 4, 1, "AG size"},
	} {
		r := clean.changed(t, c.agno, c.place, field(c.at, c.size, c.value)).verify(t, nil)
		found := false
		for _, f := range r.Faults {
			found = found || f.AG == int64(c.agno) && f.Structure == c.place.String() && strings.HasPrefix(f.Message, c.want)
		}
		if !found {
			t.Errorf("AG %d %s at %d: %v", c.agno, c.place, c.at, r.Faults)
		}
	}
}

// A node of a tree of two levels: its keys and pointers.
func TestNode(t *testing.T) {
	clean := newImage(t, gib, 1, nil)
	node := func(records uint64, key1, pointer uint64) *image {
		m := clean.changed(t, 1, placeAGF, field(28, 4, 2))
		return m.changed(t, 1, placeRoots+rootBno, func(b []byte) {
			field(4, 2, 1)(b)
			field(6, 2, records)(b)
			most := ondisk.NodeCapacity(len(b)-ondisk.BtreeHeader, 8)
			field(ondisk.BtreeHeader+8, 4, key1)(b)
			field(ondisk.BtreeHeader+most*8, 4, pointer)(b)
			field(ondisk.BtreeHeader+most*8+4, 4, pointer+1)(b)
		})
	}
	for _, c := range []struct {
		m    *image
		want string
	}{
		{node(2, 100, 500), ""},
		{node(2, 1, 500), "key 1 is out of order"},
		{node(2, 100, 1), "pointer 0"},
		{node(1, 100, far), "pointer 0"},
		{node(0, 100, 500), "number of records"},
		{node(400, 100, 500), "number of records"},
	} {
		r := c.m.verify(t, nil)
		if c.want == "" && r.Count > 0 || c.want != "" && (r.Count != 1 || !strings.HasPrefix(r.Faults[0].Message, c.want)) {
			t.Errorf("want %q: %v", c.want, r.Faults)
		}
	}
}
