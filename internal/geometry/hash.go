package geometry

// HashName is the hash of a name in a directory, or of an attribute's, by
// which they are indexed.
func HashName(name string) (h uint32) {
	for i := range len(name) {
		h = h<<7 | h>>25
		h ^= uint32(name[i])
	}
	return h
}
