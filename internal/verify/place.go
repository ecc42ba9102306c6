package verify

// place is a kind of structure that can be at fault.
type place int

const (
	placeSuperblock place = iota
	placeAGF
	placeAGI
	placeAGFL
	placeLog
	placeRoots // the first of rootRows
)

// String is the structure's name in messages.
func (p place) String() string {
	if p >= placeRoots {
		return rootRows[p-placeRoots].name
	}
	return [...]string{"superblock", "AGF", "AGI", "AGFL", "log"}[p]
}
