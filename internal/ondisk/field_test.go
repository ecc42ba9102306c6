package ondisk

import "testing"

// Fields are where Put puts them.
func TestAGFFields(t *testing.T) {
	b := make([]byte, AGFSize)
	a := AGF{
		Seqno: 1, Length: 2, BnoRoot: 3, CntRoot: 4, RmapRoot: 5, BnoLevel: 6, CntLevel: 7, RmapLevel: 8,
		FreeFirst: 9, FreeLast: 10, FreeCount: 11, FreeBlocks: 12, Longest: 13, BtreeBlocks: 14,
		RmapBlocks: 15, RefcountBlocks: 16, RefcountRoot: 17, RefcountLevel: 18,
	}
	a.Put(b)
	for i, f := range []Field32{
		AGFSeqno, AGFLength, AGFBnoRoot, AGFCntRoot, AGFRmapRoot, AGFBnoLevel, AGFCntLevel, AGFRmapLevel,
		AGFFreeFirst, AGFFreeLast, AGFFreeCount, AGFFreeBlocks, AGFLongest, AGFBtreeBlocks,
		AGFRmapBlocks, AGFRefcountBlocks, AGFRefcountRoot, AGFRefcountLevel,
	} {
		if got := f.Get(b); got != uint32(i+1) {
			t.Errorf("field at %d is %d, want %d", f, got, i+1)
		}
	}
	if AGFVersion.Get(b) != agVersion {
		t.Error("version")
	}
	AGFFreeBlocks.Set(b, 7)
	if got := AGFFreeBlocks.Add(b, -3); got != 4 || AGFFreeBlocks.Get(b) != 4 {
		t.Errorf("7-3 is %d", got)
	}
}
