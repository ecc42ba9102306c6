package aginit

import "mkfs/internal/ondisk"

// RealtimeSuper is the superblock of the realtime section, a block, or nil if
// it has none.
func (b *Builder) RealtimeSuper() []byte {
	if !b.g.HasRealtimeSuper() {
		return nil
	}
	block := make([]byte, b.g.BlockSize)
	s := ondisk.RTSuper{UUID: b.id.UUID, MetaUUID: b.id.UUID}
	copy(s.Label[:], b.g.Label)
	s.Put(block)
	ondisk.Seal(block, ondisk.RTSuperCRC)
	return block
}
