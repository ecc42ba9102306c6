package walk

import (
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"

	"mkfs/internal/tree"
)

// Sizes of what a survey remembers.
const (
	memoryRoom  = 24 << 20
	memoryChunk = 256 << 10
	keptData    = 512     // a file with so many bytes is kept whole
	keptMost    = 4 << 10 // bytes of an entry at most
	lookAhead   = 64      // entries that may be missing in a row
)

// memory is what a survey remembers, in the order of the tree: of each entry that is no directory
// a record, which has the entry and all it holds if that is little. Once it is full, nothing more
// is remembered.
//
// A record is a tag of 8 bytes, its length in 4, and what encode writes, or nothing.
type memory struct {
	seed   maphash.Seed
	room   int // for so many chunks more
	chunks [][]byte
	full   atomic.Bool // set by the consumer of the survey, which alone adds
}

func newMemory(bytes int) *memory {
	m := &memory{seed: maphash.MakeSeed(), room: bytes / memoryChunk}
	m.full.Store(m.room == 0)
	return m
}

// tag is by what an entry is known again: its directory, and what that says of it.
func (m *memory) tag(dir *folder, n name) uint64 {
	return maphash.Bytes(m.seed, n.text) ^ mix(mix(dir.dev^dir.ino<<8)^n.ino<<4^uint64(n.kind))
}

func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}

const recordHead = 12

// add remembers an entry that has been read.
func (m *memory) add(s *slot) {
	if m.full.Load() {
		return
	}
	bound := recordHead
	if s.keep {
		if bound += encodedBound(s); bound > keptMost {
			bound, s.keep = recordHead, false
		}
	}
	last := len(m.chunks) - 1
	if last < 0 || cap(m.chunks[last])-len(m.chunks[last]) < bound {
		if m.room == 0 {
			m.full.Store(true)
			return
		}
		m.room--
		m.chunks = append(m.chunks, make([]byte, 0, memoryChunk))
		last++
	}
	p := m.chunks[last]
	at := len(p)
	p = binary.NativeEndian.AppendUint64(p, s.tag)
	p = append(p, 0, 0, 0, 0)
	if s.keep {
		p = encode(p, s)
	}
	binary.NativeEndian.PutUint32(p[at+8:], uint32(len(p)-at))
	m.chunks[last] = p
}

// recall goes through a memory.
type recall struct {
	*memory
	chunk, at int
}

// find gives what is remembered of the entry with a tag, without the head of the record; nil for
// nothing. Entries in between that are there no more are passed over.
func (r *recall) find(tag uint64) []byte {
	chunk, at := r.chunk, r.at
	for n := 0; n < lookAhead && chunk < len(r.chunks); {
		p := r.chunks[chunk][at:]
		if len(p) == 0 {
			chunk, at = chunk+1, 0
			continue
		}
		length := int(binary.NativeEndian.Uint32(p[8:]))
		at += length
		if binary.NativeEndian.Uint64(p) == tag {
			r.chunk, r.at = chunk, at
			if length == recordHead {
				return nil
			}
			return p[recordHead:length:length]
		}
		n++
	}
	return nil
}

// Flags of a record.
const (
	flagAccessed = 1 << iota
	flagLink
	flagAttrs
)

// encodedBound is a length that what encode writes does not exceed.
func encodedBound(s *slot) int {
	n := 2 + 1 + 12*binary.MaxVarintLen64 + len(s.content.memory) + len(s.entry.Target)
	for _, a := range s.entry.Attrs {
		n += 2*binary.MaxVarintLen32 + len(a.Name) + len(a.Value)
	}
	return n
}

// encode appends an entry, but for name and depth.
func encode(p []byte, s *slot) []byte {
	e := &s.entry
	flags := byte(0)
	if e.Accessed.Given {
		flags |= flagAccessed
	}
	if e.Link != (tree.Link{}) {
		flags |= flagLink
	}
	if len(e.Attrs) > 0 {
		flags |= flagAttrs
	}
	p = append(binary.NativeEndian.AppendUint16(p, e.Mode), flags)
	p = binary.AppendUvarint(p, uint64(e.UID))
	p = binary.AppendUvarint(p, uint64(e.GID))
	p = appendTime(p, e.Modified)
	if flags&flagAccessed != 0 {
		p = appendTime(p, e.Accessed)
	}
	if flags&flagLink != 0 {
		p = binary.AppendUvarint(p, e.Link.Dev)
		p = binary.AppendUvarint(p, e.Link.Ino)
	}
	switch e.Mode & tree.TypeMask {
	case tree.TypeRegular:
		p = appendText(p, s.content.memory)
	case tree.TypeSymlink:
		p = appendText(p, e.Target)
	case tree.TypeCharacter, tree.TypeBlock:
		p = binary.AppendUvarint(p, uint64(e.Major))
		p = binary.AppendUvarint(p, uint64(e.Minor))
	}
	if flags&flagAttrs != 0 {
		p = binary.AppendUvarint(p, uint64(len(e.Attrs)))
		for _, a := range e.Attrs {
			p = appendText(p, a.Name)
			p = appendText(p, a.Value)
		}
	}
	return p
}

func appendTime(p []byte, t tree.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(p, t.Sec), uint64(t.Nsec))
}

func appendText[T string | []byte](p []byte, text T) []byte {
	return append(binary.AppendUvarint(p, uint64(len(text))), text...)
}
