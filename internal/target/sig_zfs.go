package target

import "strings"

// ZFS keeps four labels of 256 KiB, two at each end. In each is a list of names
// and values that says what the device belongs to.
const (
	zfsLeast  = 64 * mib // a target with a label
	zfsLabel  = 256 * kib
	zfsList   = 16 * kib  // where in the label
	zfsLength = 112 * kib // of the list
)

func findZFS(v *view) (int64, bool) {
	for _, label := range zfsLabels(v.size) {
		off := label.Offset + zfsList
		if head := v.at(off, 16); head == nil || head[0] != 1 || head[1] > 1 || be.Uint32(head[12:]) == 0 {
			continue // as on nearly all targets: the rest need not be read
		}
		if b := v.at(off, zfsLength); b != nil && isZFSList(b) {
			return off, true
		}
	}
	return 0, false
}

// zfsLabels is where the labels are on a target of a size. Behind the list they
// have a ring of blocks that libblkid before 2.41 knows ZFS by, so all of a label
// has to go, also where another prober sees nothing in it any more.
func zfsLabels(size int64) []Window {
	end := size - size%zfsLabel
	return []Window{{0, zfsLabel}, {zfsLabel, zfsLabel}, {end - 2*zfsLabel, zfsLabel}, {end - zfsLabel, zfsLabel}}
}

// Types of values in the list, encoded as XDR does.
const (
	zfsNumber = 8
	zfsNested = 19
)

// isZFSList reports whether a list has what every device of a pool has: an
// identity, and a state in which it is in use or could be.
func isZFSList(b []byte) bool {
	var guid, txg uint64
	state := ^uint64(0)
	depth := 0
	for b = b[12:]; len(b) > 12; {
		size, nameLength := int64(be.Uint32(b)), int64(be.Uint32(b[8:]))
		if size == 0 { // the end of a list
			if depth == 0 {
				break
			}
			depth--
			b = b[8:]
			continue
		}
		value := 12 + (nameLength+3)&^3 // where it begins
		if size > int64(len(b)) || value+4 > size {
			return false
		}
		name, kind := string(b[12:12+nameLength]), be.Uint32(b[value:])
		next := size
		switch {
		case kind == 0:
			return false
		case kind == zfsNested:
			if next = value + 16; next > size {
				return false
			}
			depth++
		case kind == zfsNumber && depth == 0:
			if value+16 > size {
				return false
			}
			number := be.Uint64(b[value+8:])
			switch strings.TrimRight(name, "\x00") {
			case "guid":
				guid = number
			case "state":
				state = number
			case "txg":
				txg = number
			}
		}
		b = b[next:]
	}
	// Spares and caches (3 and 4) have no transactions.
	return guid != 0 && state <= 7 && (state == 3 || state == 4 || txg > 0)
}
