package buffer

import "math/bits"

// index finds parts of blocks by their first byte, and those that lie across a place.
type index struct {
	buckets []*part
	shift   int // of a hash, to a bucket's number
	n       int
	regions map[int64]*part // by off / MaxBlock, those that begin there
	found   []*part
}

const (
	unit       = 512 // that places are multiples of
	minBuckets = 1 << 10
)

func (x *index) init() {
	x.resize(minBuckets)
	x.regions = map[int64]*part{}
}

func (x *index) resize(n int) {
	old := x.buckets
	x.buckets, x.shift = make([]*part, n), 64-bits.TrailingZeros(uint(n))
	for _, p := range old {
		for p != nil {
			next := p.chain
			b := x.bucket(p.Off)
			p.chain, *b = *b, p
			p = next
		}
	}
}

func (x *index) bucket(off int64) **part {
	return &x.buckets[uint64(off/unit)*0x9e3779b97f4a7c15>>x.shift&uint64(len(x.buckets)-1)]
}

// find returns the part that begins at a byte, or nil.
func (x *index) find(off int64) *part {
	p := *x.bucket(off)
	for p != nil && p.Off != off {
		p = p.chain
	}
	return p
}

func (x *index) add(p *part) {
	if x.n++; x.n > len(x.buckets) {
		x.resize(2 * len(x.buckets))
	}
	b := x.bucket(p.Off)
	p.chain, *b = *b, p
	region := p.Off / MaxBlock
	head := x.regions[region]
	p.prev, p.next = nil, head
	if head != nil {
		head.prev = p
	}
	x.regions[region] = p
}

func (x *index) remove(p *part) {
	x.n--
	b := x.bucket(p.Off)
	for *b != p {
		b = &(*b).chain
	}
	*b, p.chain = p.chain, nil
	if p.next != nil {
		p.next.prev = p.prev
	}
	switch region := p.Off / MaxBlock; {
	case p.prev != nil:
		p.prev.next = p.next
	case p.next != nil:
		x.regions[region] = p.next
	default:
		delete(x.regions, region)
	}
	p.prev, p.next = nil, nil
}

// across returns the parts that have any of n bytes at a place, in no order. They are
// the index's until the next call.
func (x *index) across(off, n int64) []*part {
	x.found = x.found[:0]
	if x.n == 0 {
		return nil
	}
	for r := max(0, off-MaxBlock+1) / MaxBlock; r <= (off+n-1)/MaxBlock; r++ {
		for p := x.regions[r]; p != nil; p = p.next {
			if p.Off < off+n && off < p.Off+int64(len(p.Data)) {
				x.found = append(x.found, p)
			}
		}
	}
	return x.found
}
