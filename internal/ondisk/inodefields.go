package ondisk

// InodeVersion reads the version of an inode, or tells by false that there is none.
func InodeVersion(b []byte) (version uint8, ok bool) { return b[4], be.Uint16(b) == InodeMagic }

// InodeMode reads the mode of an inode, 0 of a free one, or tells by false that there is
// none.
func InodeMode(b []byte) (mode uint16, ok bool) {
	return be.Uint16(b[2:]), be.Uint16(b) == InodeMagic
}

// SetInodeNumber renumbers an inode of V5, which then wants sealing.
func SetInodeNumber(b []byte, ino uint64) { be.PutUint64(b[152:], ino) }

// NextUnlinked reads the inode of the AG that follows one on its list of unlinked
// inodes, or NullAGInode.
func NextUnlinked(b []byte) uint32 { return be.Uint32(b[InodeUnlinked:]) }

// SetNextUnlinked changes NextUnlinked; a V5 inode then wants sealing.
func SetNextUnlinked(b []byte, agino uint32) { be.PutUint32(b[InodeUnlinked:], agino) }

// DataMigration reads the field of an inode that was for a service that never was.
func DataMigration(b []byte) [6]byte { return [6]byte(b[84:90]) }

// Device reads the number of a device node from its data fork.
func Device(fork []byte) uint32 { return be.Uint32(fork) }

// DeviceNumber is a device node's number as it is on disk.
func DeviceNumber(major, minor uint32) uint32 {
	return major<<minorBits | minor&(1<<minorBits-1)
}

// DeviceOf takes the number of a device node apart.
func DeviceOf(n uint32) (major, minor uint32) { return n >> minorBits, n & (1<<minorBits - 1) }

// minorBits is how many bits the minor number of a device has.
const minorBits = 18

// LocalAttrSize reads how many bytes a local attribute fork says that it has; ok is
// false if it has no room to say.
func LocalAttrSize(fork []byte) (n int, ok bool) {
	if len(fork) < attrListHeader {
		return 0, false
	}
	return int(be.Uint16(fork)), true
}
