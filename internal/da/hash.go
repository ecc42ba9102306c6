package da

// Hash is the hash of a name, by which directories and attributes are indexed
// (xfs_da_hashname in libxfs).
func Hash[T ~string | ~[]byte](name T) (h uint32) {
	for i := range len(name) {
		h = h<<7 | h>>25
		h ^= uint32(name[i])
	}
	return h
}

// HashFolded is the hash of a name in a directory of a filesystem with ascii-ci
// names (xfs_ascii_ci_hashname in libxfs).
func HashFolded[T ~string | ~[]byte](name T) (h uint32) {
	for i := range len(name) {
		h = h<<7 | h>>25
		h ^= uint32(Fold(name[i]))
	}
	return h
}

// Fold makes a capital letter of Latin-1 a small one, as ascii-ci filesystems
// compare names (xfs_ascii_ci_xfrm in libxfs).
func Fold(c byte) byte {
	if c >= 'A' && c <= 'Z' || c >= 0xc0 && c <= 0xde && c != 0xd7 {
		return c + 'a' - 'A'
	}
	return c
}
