package ondisk

// Dquots: quota records, of which a block holds as many as fit.
const (
	DquotSize  = 104 // what is logged
	DquotBlock = 136 // on disk, with what V5 adds
	DquotCRC   = 108
	dquotLSN   = 112
	dquotMagic = 0x4451 // "DQ"
)

// DquotType is the kind of quota.
type DquotType uint8

// The kinds of quota.
const (
	DquotUser    DquotType = 1
	DquotProject DquotType = 2
	DquotGroup   DquotType = 4
	dquotTypes             = DquotUser | DquotProject | DquotGroup
)

// DecodeDquot reads whose limits a dquot has, or tells by false that it is none.
func DecodeDquot(b []byte) (t DquotType, id uint32, ok bool) {
	if len(b) < DquotSize || be.Uint16(b) != dquotMagic || b[2] != 1 {
		return 0, 0, false
	}
	t = DquotType(b[3]) & dquotTypes
	return t, be.Uint32(b[4:]), t != 0
}

// DquotLSN reads the log sequence number of a dquot on disk.
func DquotLSN(b []byte) uint64 { return be.Uint64(b[dquotLSN:]) }
