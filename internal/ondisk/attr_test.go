package ondisk

import (
	"bytes"
	"fmt"
	"testing"
)

// The header of a leaf of attributes is read and written at the places of the format.
func TestAttrLeafLayout(t *testing.T) {
	h := AttrLeaf{Count: 0x0102, UsedBytes: 0x0304, FirstUsed: 0x0506, Holes: true, Free: [AttrFreeRegions]AttrFree{
		{Base: 0x1112, Size: 0x1314}, {Base: 0x2122, Size: 0x2324}, {Base: 0x3132, Size: 0x3334}}}
	const want = "0102030405060100111213142122232431323334"
	for _, c := range []struct{ magic, at, size int }{
		{AttrLeafMagic, 56, AttrLeafHeader}, {AttrLeafMagicV4, 12, AttrLeafHeaderV4},
	} {
		b := make([]byte, 128)
		be.PutUint16(b[8:], uint16(c.magic))
		if n := AttrLeafHeaderSize(b); n != c.size {
			t.Errorf("%#x: a header of %d bytes, want %d", c.magic, n, c.size)
		}
		h.Put(b)
		if got := fmt.Sprintf("%x", b[c.at:c.at+len(want)/2]); got != want {
			t.Errorf("%#x: %s, want %s", c.magic, got, want)
		}
		if got := DecodeAttrLeaf(b); got != h {
			t.Errorf("%#x: read back %+v", c.magic, got)
		}
		clear(b[c.at : c.at+len(want)/2])
		be.PutUint16(b[8:], 0)
		if !bytes.Equal(b, make([]byte, len(b))) {
			t.Errorf("%#x: something else was written: %x", c.magic, b)
		}
	}
}

// A leaf of 64 KiB without names has 0 where they would begin.
func TestAttrLeafFirstUsed(t *testing.T) {
	b := make([]byte, 64<<10)
	be.PutUint16(b[8:], AttrLeafMagic)
	h := AttrLeaf{FirstUsed: 64 << 10}
	h.Put(b)
	if got := DecodeAttrLeaf(b).FirstUsed; got != 64<<10 {
		t.Errorf("names begin at %d", got)
	}
}

func TestAttrBlockLayout(t *testing.T) {
	a := AttrBlock{Offset: 0x01020304, Bytes: 0x05060708, UUID: UUID{0xaa, 15: 0xbb}, Owner: 0x1112131415161718,
		Blkno: 0x2122232425262728}
	b := make([]byte, AttrBlockHeader)
	a.Put(b)
	const want = "5841524d" + "01020304" + "05060708" + "00000000" + "aa0000000000000000000000000000bb" +
		"1112131415161718" + "2122232425262728" + "ffffffffffffffff"
	if got := fmt.Sprintf("%x", b); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, ok := DecodeAttrBlock(b); !ok || got != a {
		t.Errorf("read back %+v, %t", got, ok)
	}
	if _, ok := DecodeAttrBlock(b[:AttrBlockHeader-1]); ok {
		t.Error("a short block is taken")
	}
	b[0] = 0
	if _, ok := DecodeAttrBlock(b); ok {
		t.Error("another magic number is taken")
	}
}
