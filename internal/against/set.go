package against

// set is a set of numbers. Those of a row below some limit take a bit each, others that
// are near each other not much more.
type set struct {
	low  []uint64
	high map[uint64]uint64 // words, by their number
}

const maxLow = 1 << 12 // words

// word is a number's word, and its bit.
func word(n uint64) (uint64, uint64) { return n / 64, 1 << (n % 64) }

// add adds a number, and tells whether it is new.
func (s *set) add(n uint64) bool {
	w, bit := word(n)
	if w < maxLow {
		for uint64(len(s.low)) <= w {
			s.low = append(s.low, 0)
		}
		was := s.low[w]
		s.low[w] |= bit
		return was&bit == 0
	}
	if s.high == nil {
		s.high = map[uint64]uint64{}
	}
	was := s.high[w]
	s.high[w] = was | bit
	return was&bit == 0
}

// has tells whether a number is in it.
func (s *set) has(n uint64) bool { return s.from(n)&1 != 0 }

// from has a bit for each of the 64 numbers from one on.
func (s *set) from(n uint64) uint64 {
	w, skip := n/64, n%64
	bits := s.at(w) >> skip
	if skip > 0 {
		bits |= s.at(w+1) << (64 - skip)
	}
	return bits
}

func (s *set) at(w uint64) uint64 {
	if w < uint64(len(s.low)) {
		return s.low[w]
	}
	return s.high[w]
}

// reset makes it empty.
func (s *set) reset() {
	s.low = s.low[:0]
	s.high = nil
}
