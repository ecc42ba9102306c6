package ondisk

// SymlinkMagic is that of blocks of a symbolic link's target in V5: "XSLM".
const SymlinkMagic = 0x58534c4d

// Of a symbolic link's target.
const (
	SymlinkHeader = AttrBlockHeader // of each run of its blocks in V5
	SymlinkCRC    = AttrBlockCRC
)

// SymlinkBlock heads a run of blocks of a symbolic link's target in V5. Its fields lie as those of
// the header of an attribute's value.
type SymlinkBlock AttrBlock

// Put writes the header, unsealed, with an LSN of 0.
func (s *SymlinkBlock) Put(b []byte) { (*AttrBlock)(s).put(b, SymlinkMagic, 0) }

// DecodeSymlinkBlock reads a header, or tells by false that there is none.
func DecodeSymlinkBlock(b []byte) (SymlinkBlock, bool) {
	a, ok := decodeRemote(b, SymlinkMagic)
	return SymlinkBlock(a), ok
}
