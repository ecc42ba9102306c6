package verify

import (
	"context"
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// slabBytes bounds the memory of all slots, unless one alone needs more.
const slabBytes = 64 << 20

// slot is an AG whose headers are being read, in two steps: the header, from
// the AG's start to where all roots are in a new filesystem, and then the roots
// that are elsewhere by now.
//
//	free -> header in flight -> roots in flight? -> complete -> checked, free
type slot struct {
	agno    geometry.AGNumber
	header  []byte
	roots   [len(rootRows)][]byte
	pending int // reads in flight
	located bool
	err     error
	done    func(error)
	vec     [1][]byte

	memory []byte                // for the header
	extra  [len(rootRows)][]byte // for the roots elsewhere
}

func (s *slot) complete() bool { return s.located && s.pending == 0 }

// scanner reads AGs ahead and has them checked in order.
type scanner struct {
	*verifier
	check   *checker
	slots   []slot
	arrived []*slot // whose headers are there, but not their roots
	header  int     // bytes
}

// scan checks all AGs that the device has, and returns how many.
func (v *verifier) scan(ctx context.Context) (geometry.AGNumber, error) {
	s := &scanner{verifier: v, check: newChecker(v)}
	release, err := s.allocate()
	if err != nil {
		return 0, err
	}
	n, err := s.run(ctx)
	if err != nil {
		// The memory must not go while it is read into.
		_ = v.Data.Reader.Reap(maxInFlight)
	}
	if e := release(); err == nil {
		err = e
	}
	return n, err
}

// maxInFlight is more than any ring holds.
const maxInFlight = 1 << 30

// allocate makes the slots: twice the depth, so that the ring stays full while
// the first AG in order is waited for.
func (s *scanner) allocate() (release func() error, err error) {
	g, slack := &s.fs.Geometry, s.Data.slack()
	s.header = int(g.Bytes(g.HeaderBlocks()))
	pages := func(n int) int { return (n + slack + pageSize - 1) &^ (pageSize - 1) }
	header, root := pages(s.header), pages(int(g.BlockSize))
	size := header + len(rootRows)*root
	n := max(2, min(2*s.Depth, slabBytes/size, int(min(uint64(g.AGCount), maxInFlight))))
	slab, release, err := s.Memory(n * size)
	if err != nil {
		return nil, err
	}
	take := func(n int) []byte {
		b := slab[:n:n]
		slab = slab[n:]
		return b
	}
	s.slots = make([]slot, n)
	s.arrived = make([]*slot, 0, n)
	for i := range s.slots {
		at := &s.slots[i]
		at.memory = take(header)
		for j := range at.extra {
			at.extra[j] = take(root)
		}
		at.done = func(err error) {
			at.pending--
			if err != nil && at.err == nil {
				at.err = err
			}
			if !at.located {
				s.arrived = append(s.arrived, at)
			}
		}
	}
	return release, nil
}

// run keeps as many AGs in flight as there are slots.
func (s *scanner) run(ctx context.Context) (checked geometry.AGNumber, err error) {
	count := s.agsThere()
	batch := max(1, s.Depth/8)
	next := geometry.AGNumber(0)
	for checked < count {
		if err := ctx.Err(); err != nil {
			return checked, err
		}
		for ; next < count && int(next-checked) < len(s.slots); next++ {
			if err := s.start(next); err != nil {
				return checked, err
			}
		}
		first := s.slot(checked)
		least := batch
		if first.complete() {
			least = 0
		}
		if err := s.Data.Reader.Reap(least); err != nil {
			return checked, s.explain(err)
		}
		if err := s.locate(); err != nil {
			return checked, err
		}
		for ; checked < next && s.slot(checked).complete(); checked++ {
			at := s.slot(checked)
			if at.err != nil {
				return checked, s.explain(at.err)
			}
			c := s.check
			c.no, c.header, c.roots = at.agno, at.header, at.roots
			c.check()
		}
		s.Progress(int64(checked), int64(count))
	}
	return checked, nil
}

func (s *scanner) slot(agno geometry.AGNumber) *slot { return &s.slots[int(agno)%len(s.slots)] }

// agsThere is how many AGs lie within the device.
func (s *scanner) agsThere() geometry.AGNumber {
	g := &s.fs.Geometry
	if int64(g.Bytes(g.Blocks)) <= s.Data.Size {
		return g.AGCount
	}
	return geometry.AGNumber(geometry.Blocks(s.Data.Size) >> g.BlockLog / g.AGBlocks)
}

// start reads an AG's header.
func (s *scanner) start(agno geometry.AGNumber) error {
	at := s.slot(agno)
	at.agno, at.located, at.err = agno, false, nil
	at.roots = [len(rootRows)][]byte{}
	n := min(s.header, int(s.fs.Geometry.Bytes(s.fs.Geometry.AGLength(agno))))
	return s.into(at, &at.header, at.memory, s.fs.Geometry.Offset(agno, 0), n)
}

// into reads n bytes into a slot's memory and lets b be them.
func (s *scanner) into(at *slot, b *[]byte, memory []byte, off geometry.Bytes, n int) error {
	from, to := s.Data.span(int64(off), int64(n))
	at.vec[0] = memory[:to-from]
	*b = memory[int64(off)-from:][:n]
	at.pending++
	if err := s.Data.Reader.Read(from, at.vec[:], at.done); err != nil {
		at.pending--
		return s.explain(err)
	}
	return nil
}

// locate finds the roots of AGs whose headers have arrived, and reads those
// that are not behind the header. Headers arrive while it works.
func (s *scanner) locate() error {
	for len(s.arrived) > 0 {
		at := s.arrived[len(s.arrived)-1]
		s.arrived = s.arrived[:len(s.arrived)-1]
		at.located = true
		if at.err != nil {
			continue
		}
		if err := s.locateRoots(at); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) locateRoots(at *slot) error {
	g := &s.fs.Geometry
	sector, block := int(g.SectorSize), int(g.BlockSize)
	agf, _ := ondisk.DecodeAGF(at.header[int(placeAGF)*sector:][:sector])
	agi, _ := ondisk.DecodeAGI(at.header[int(placeAGI)*sector:][:sector])
	length := g.AGLength(at.agno)
	for i := range rootRows {
		row := &rootRows[i]
		agbno, _ := row.at(&agf, &agi)
		if !row.there(&s.fs) || geometry.Blocks(agbno) < g.SectorBlocks() || geometry.Blocks(agbno) >= length {
			continue // which the check will tell
		}
		if end := (int(agbno) + 1) * block; end <= len(at.header) {
			at.roots[i] = at.header[end-block : end]
			continue
		}
		if err := s.into(at, &at.roots[i], at.extra[i], g.Offset(at.agno, geometry.AGBlock(agbno)), block); err != nil {
			return err
		}
	}
	return nil
}

// explain says which AG an error of the ring is about, if one can tell.
func (s *scanner) explain(err error) error {
	for i := range s.slots {
		if at := &s.slots[i]; at.err != nil {
			return fmt.Errorf("headers of AG %d: %w", at.agno, at.err)
		}
	}
	return fmt.Errorf("headers of AGs: %w", err)
}
