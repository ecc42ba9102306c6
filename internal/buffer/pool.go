package buffer

import (
	"errors"
	"math/bits"
)

// pool gives memory for frames: powers of two from unit to MaxBlock.
type pool struct {
	get      func(size int) (slab []byte, release func() error, err error)
	releases []func() error
	empty    []*slab
	partial  [classes][]*slab // with room for more frames of a class
}

// slab is cut into frames of one class.
type slab struct {
	memory []byte
	class  int
	free   []uint16 // frames
	at     int      // in the list of the class, if any frame is free
}

const (
	slabSize = 256 << 10
	classes  = 8

	// After a few slabs many are asked for at a time, as many bytes as a huge page has.
	few      = 4
	manySize = 2 << 20
)

// classOf is the class of frames for n bytes.
func classOf(n int) int { return max(0, bits.Len(uint(n-1))-bits.Len(uint(unit-1))) }

func classSize(class int) int { return unit << class }

// frame is memory of a slab.
type frame struct {
	slab   *slab
	number uint16
}

// take gives n bytes.
func (p *pool) take(n int) ([]byte, frame, error) {
	class := classOf(n)
	if len(p.partial[class]) == 0 {
		s, err := p.slab()
		if err != nil {
			return nil, frame{}, err
		}
		s.class, s.free, s.at = class, s.free[:0], 0
		for i := slabSize/classSize(class) - 1; i >= 0; i-- {
			s.free = append(s.free, uint16(i))
		}
		p.partial[class] = append(p.partial[class], s)
	}
	list := p.partial[class]
	s := list[len(list)-1]
	k := len(s.free) - 1
	number := s.free[k]
	if s.free = s.free[:k]; k == 0 {
		p.partial[class] = list[:len(list)-1]
	}
	at := int(number) * classSize(class)
	return s.memory[at : at+n : at+n], frame{s, number}, nil
}

// slab returns one that is empty.
func (p *pool) slab() (*slab, error) {
	if n := len(p.empty); n > 0 {
		s := p.empty[n-1]
		p.empty = p.empty[:n-1]
		return s, nil
	}
	n := slabSize
	if len(p.releases) >= few {
		n = manySize
	}
	memory, release, err := p.get(n)
	if err != nil {
		return nil, err
	}
	p.releases = append(p.releases, release)
	for ; len(memory) > slabSize; memory = memory[slabSize:] {
		p.empty = append(p.empty, &slab{memory: memory[:slabSize:slabSize]})
	}
	return &slab{memory: memory}, nil
}

// give takes a frame back.
func (p *pool) give(f frame) {
	s := f.slab
	list := &p.partial[s.class]
	if len(s.free) == 0 {
		s.at = len(*list)
		*list = append(*list, s)
	}
	s.free = append(s.free, f.number)
	if len(s.free)*classSize(s.class) == slabSize {
		last := (*list)[len(*list)-1]
		(*list)[s.at], last.at = last, s.at
		*list = (*list)[:len(*list)-1]
		p.empty = append(p.empty, s)
	}
}

func (p *pool) release() error {
	var errs []error
	for _, f := range p.releases {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
