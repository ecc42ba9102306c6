package walk

import (
	"context"

	"golang.org/x/sys/unix"
)

// lister goes through the names of the tree, depth first, and puts them into batches.
type lister struct {
	*walk
	levels []level
	parked int // so many of the levels, from the root, are parked
	unused [][]byte
	batch  *batch
	recall recall
}

// list lists the whole tree. What fails becomes an entry with an error, which is the last.
func (l *lister) list(root *folder) {
	defer close(l.listed)
	defer l.release()
	s := l.slot(0, nil, nil, unix.DT_DIR)
	if s == nil {
		root.drop(l.host)
		return
	}
	s.self = l.batch.keep(root)
	if !l.enter(s, root) {
		l.send()
		return
	}
	for len(l.levels) > 0 && l.step() {
	}
	l.send()
}

// step goes on by a name. It tells whether there may be more.
func (l *lister) step() bool {
	depth := len(l.levels)
	top := &l.levels[depth-1]
	n, ok, err := top.next(l.host)
	switch {
	case err != nil:
		return l.stop(depth, err)
	case !ok:
		return l.leave()
	}
	s := l.slot(depth, top.folder, n.text, n.kind)
	switch {
	case s == nil:
		return false
	case s.err != nil:
		return true // the consumer ends at it
	}
	if n.kind != unix.DT_DIR && l.known(s, n) {
		return true
	}
	if n.kind == unix.DT_UNKNOWN {
		l.ask(s)
	}
	if s.kind != unix.DT_DIR || s.err != nil {
		return true
	}
	f, err := openDir(l.host, top.folder.fd, s.name)
	if err != nil {
		s.err = fail("it cannot be opened", err)
		return true
	}
	s.self = l.batch.keep(f)
	return l.enter(s, f)
}

// known tells that what the entry is and holds is remembered.
func (l *lister) known(s *slot, n name) bool {
	switch {
	case l.memory == nil:
	case l.survey:
		s.tag = l.memory.tag(s.dir, n)
	default:
		s.kept = l.recall.find(l.memory.tag(s.dir, n))
	}
	return s.kept != nil
}

// ask finds the type of a file that its directory does not have.
func (l *lister) ask(s *slot) {
	var st unix.Statx_t
	if err := l.host.stat(s.dir.fd, s.name, &st); err != nil {
		s.err = fail("its status cannot be read", err)
		return
	}
	s.kind = uint8(st.Mode & unix.S_IFMT >> 12)
}

// enter goes into a directory, unless its files cannot be reached: then it gets an error.
func (l *lister) enter(s *slot, f *folder) bool {
	if err := l.rights.enter(l.host, f, l.survey); err != nil {
		s.err, s.self = err, nil
		f.drop(l.host)
		return true
	}
	if len(l.levels)-l.parked == openLevels {
		if err := l.levels[l.parked].park(l.host); err != nil {
			f.drop(l.host)
			return l.stop(l.parked+1, err)
		}
		l.reuse(&l.levels[l.parked])
		l.parked++
	}
	l.levels = append(l.levels, level{folder: f, buffer: l.buffer(), sorted: l.options.Sorted})
	return true
}

func (l *lister) buffer() []byte {
	if n := len(l.unused); n > 0 {
		b := l.unused[n-1]
		l.unused = l.unused[:n-1]
		return b
	}
	return make([]byte, listBytes)
}

// reuse keeps the buffer of a level for another one. A level that was parked before has none.
func (l *lister) reuse(of *level) {
	if of.buffer != nil {
		l.unused = append(l.unused, of.buffer)
		of.buffer = nil
	}
}

// leave leaves a directory whose names are all done.
func (l *lister) leave() bool {
	n := len(l.levels) - 1
	below := l.levels[n]
	if n > 0 && n == l.parked {
		if err := l.levels[n-1].wake(l.host, below.folder); err != nil {
			return l.stop(n, err)
		}
		l.parked--
	}
	l.reuse(&below)
	below.folder.drop(l.host)
	l.levels = l.levels[:n]
	return true
}

// stop ends the list with an error of the directory whose entries have a depth.
func (l *lister) stop(depth int, err error) bool {
	if s := l.slot(depth, nil, nil, 0); s != nil {
		s.err, s.ofDir = err, true
	}
	return false
}

// slot gives a place for an entry; nil if the walk is over.
func (l *lister) slot(depth int, dir *folder, text []byte, kind uint8) *slot {
	if l.batch != nil && l.batch.full() && !l.send() {
		return nil
	}
	if l.batch == nil {
		select {
		case l.batch = <-l.free:
		case <-l.ctx.Done():
			return nil
		}
	}
	return l.batch.add(depth, dir, text, kind)
}

// send gives the batch to the readers, and to the consumer in its turn.
func (l *lister) send() bool {
	b := l.batch
	l.batch = nil
	if b == nil {
		return true
	}
	return l.give(l.ctx, l.toRead, b) && l.give(l.ctx, l.listed, b)
}

func (*lister) give(ctx context.Context, to chan *batch, b *batch) bool {
	select {
	case to <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

// release closes the directories that are still open.
func (l *lister) release() {
	for i := range l.levels[l.parked:] {
		l.levels[l.parked+i].folder.drop(l.host)
	}
}
