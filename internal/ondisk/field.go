package ondisk

// Field32 is where a number of 32 bits is in a structure, in bytes from its start.
// It reads and changes the number in place.
type Field32 int

// Get reads the number.
func (f Field32) Get(b []byte) uint32 { return be.Uint32(b[f:]) }

// Set changes the number.
func (f Field32) Set(b []byte, v uint32) { be.PutUint32(b[f:], v) }

// Add changes the number by n. It wraps around.
func (f Field32) Add(b []byte, n int) uint32 {
	v := f.Get(b) + uint32(n)
	f.Set(b, v)
	return v
}

// The fields of an AGF. Those from AGFRmapBlocks on are of V5.
const (
	AGFVersion     Field32 = 4
	AGFSeqno       Field32 = 8
	AGFLength      Field32 = 12
	AGFBnoRoot     Field32 = 16
	AGFCntRoot     Field32 = 20
	AGFRmapRoot    Field32 = 24
	AGFBnoLevel    Field32 = 28
	AGFCntLevel    Field32 = 32
	AGFRmapLevel   Field32 = 36
	AGFFreeFirst   Field32 = 40
	AGFFreeLast    Field32 = 44
	AGFFreeCount   Field32 = 48
	AGFFreeBlocks  Field32 = 52
	AGFLongest     Field32 = 56
	AGFBtreeBlocks Field32 = 60

	AGFRmapBlocks     Field32 = 80
	AGFRefcountBlocks Field32 = 84
	AGFRefcountRoot   Field32 = 88
	AGFRefcountLevel  Field32 = 92
)

// SetFreeListEntry changes entry i of a free list (FreeList).
func SetFreeListEntry(b []byte, i int, v uint32) { be.PutUint32(b[4*i:], v) }
