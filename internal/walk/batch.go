package walk

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// Sizes of a batch and of what is ahead of the consumer.
const (
	batches      = 8
	batchEntries = 64
	batchFolders = 32       // directories that a batch keeps open
	batchFiles   = 8        // files that a batch keeps open
	batchData    = 1 << 20  // contents of small files
	batchAttrs   = 64 << 10 // names and values of attributes, but for one file with more
	small        = 64 << 10 // a file of so many bytes is read ahead
)

// slot is an entry on its way to the consumer.
type slot struct {
	entry   tree.Entry
	dir     *folder // where its name is; nil for the root
	self    *folder // a directory itself
	name    *byte   // zero-terminated
	kind    uint8   // unix.DT_REG and others, as the directory has it
	tag     uint64  // in a survey: by which it is known again
	keep    bool    // in a survey: the entry is whole, and can be remembered
	kept    []byte  // what the survey has remembered of it
	content content
	err     error
	ofDir   bool // err is of the directory that the entry would be in
}

// batch is some entries in a row. The lister puts names into it; a reader gets what they stand for;
// the consumer takes it. Its memory is used again.
type batch struct {
	slots   [batchEntries]slot
	count   int
	read    int // so many slots have been read
	folders []*folder
	names   []byte
	data    []byte // of small files
	files   int    // open ones
	attrs   []tree.Attr
	text    []byte // names and values of attributes, and targets: the newest piece of memory
	held    int    // bytes of text, in all pieces
	ready   chan struct{}
}

func newBatch() *batch {
	return &batch{
		names: make([]byte, 0, batchEntries*(tree.MaxName+1)),
		data:  make([]byte, 0, batchData),
		ready: make(chan struct{}, 1),
	}
}

// full tells that another entry would have no room for certain.
func (b *batch) full() bool { return b.count == batchEntries || len(b.folders)+2 > batchFolders }

// add appends an entry, of whom nothing but its name is known.
func (b *batch) add(depth int, dir *folder, name []byte, kind uint8) *slot {
	s := &b.slots[b.count]
	b.count++
	*s = slot{kind: kind, entry: tree.Entry{Depth: depth}}
	if dir != nil {
		s.dir = b.keep(dir)
	}
	if len(name) > tree.MaxName {
		s.entry.Name, s.err = string(name), fail("its name is too long", unix.ENAMETOOLONG)
		return s
	}
	at := len(b.names)
	b.names = append(append(b.names, name...), 0) // never grows: strings point into it
	s.name = &b.names[at]
	s.entry.Name = unsafe.String(s.name, len(name))
	return s
}

// keep holds a directory as long as the batch is in use.
func (b *batch) keep(f *folder) *folder {
	if n := len(b.folders); n == 0 || b.folders[n-1] != f {
		b.folders = append(b.folders, f.hold())
	}
	return f
}

// reuse forgets what has been read of the files, which the consumer has had.
func (b *batch) reuse() {
	b.data, b.attrs, b.text, b.files, b.held = b.data[:0], b.attrs[:0], b.text[:0], 0, 0
}

// clear closes all that is open, and empties the batch.
func (b *batch) clear(h host) {
	for i := range b.slots[:b.count] {
		b.slots[i].content.close()
	}
	for _, f := range b.folders {
		f.drop(h)
	}
	b.folders, b.names, b.count, b.read = b.folders[:0], b.names[:0], 0, 0
	b.reuse()
}
