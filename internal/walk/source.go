package walk

import (
	"fmt"
	"io"
	"os"

	"mkfs/internal/tree"
)

// Next is that of tree.Source.
func (s *source) Next() (*tree.Entry, error) {
	for s.err == nil {
		next := s.next()
		if next == nil {
			break
		}
		s.locate(next)
		if next.err == nil {
			if s.survey && next.self == nil {
				s.memory.add(next)
			}
			return &next.entry, nil
		}
		path := string(s.path)
		if !denied(next.err) || !s.leaveOut(path, next.err) {
			s.err = fmt.Errorf("%s: %w", legible(path), next.err)
		}
	}
	return nil, s.err
}

// next gives the next slot, once it is read; nil if s.err tells why there is none.
func (s *source) next() *slot {
	if s.last != nil {
		s.last.content.close()
		s.last = nil
	}
	if s.batch == nil || s.at == s.batch.count {
		if s.change(); s.err != nil {
			return nil
		}
	}
	if s.at == s.batch.read { // the batch could not hold all at once
		s.batch.reuse()
		s.toRead <- s.batch
		if !s.await() {
			return nil
		}
	}
	s.last = &s.batch.slots[s.at]
	s.at++
	return s.last
}

// change gives the batch back and takes the next.
func (s *source) change() {
	if s.batch != nil {
		s.batch.clear(s.host)
		s.free <- s.batch
		s.batch = nil
	}
	var ok bool
	select {
	case s.batch, ok = <-s.listed:
	case <-s.ctx.Done():
	}
	switch {
	case s.ctx.Err() != nil:
		s.end()
	case !ok:
		s.err = io.EOF
	default:
		s.at = 0
		s.await()
	}
}

// await waits until a reader is done with the batch.
func (s *source) await() bool {
	select {
	case <-s.batch.ready:
	case <-s.ctx.Done():
	}
	if s.ctx.Err() != nil {
		s.end()
		return false
	}
	return true
}

// end tells why the walk is over.
func (s *source) end() {
	if s.err = s.parent.Err(); s.err == nil {
		s.err = os.ErrClosed
	}
}

// locate makes the path of an entry out of that of its directory.
func (s *source) locate(l *slot) {
	depth := l.entry.Depth
	if depth == 0 {
		s.ends = append(s.ends[:0], len(s.path))
		return
	}
	s.path = s.path[:s.ends[depth-1]]
	if l.ofDir {
		return
	}
	if n := len(s.path); n == 0 || s.path[n-1] != '/' {
		s.path = append(s.path, '/')
	}
	s.path = append(s.path, l.entry.Name...)
	if l.self != nil {
		s.ends = append(s.ends[:depth], len(s.path))
	}
}

// Path is that of tree.Source.
func (s *source) Path() string { return string(s.path) }

// Close is that of tree.Source. It waits for all that the walk has begun.
func (s *source) Close() error {
	s.cancel()
	s.work.Wait()
	for _, b := range s.all {
		b.clear(s.host)
	}
	if s.err == nil {
		s.err = os.ErrClosed
	}
	return nil
}
