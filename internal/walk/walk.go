package walk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// readers is how many goroutines read entries.
const readers = 2

// Options say what is taken from the host.
type Options struct {
	// Accessed: access times too.
	Accessed bool
	// Sorted: names and attributes in the order of their bytes, not as the host lists them, so that
	// equal trees are the same whatever that is.
	Sorted bool
}

// Tree is a directory of the host with all that is in it. It is a tree.Tree.
type Tree struct {
	name    string
	options Options
	host    host
	rights  rights
	left    map[string]bool // what the last survey left out, by path
	links   linkTimes
	memory  *memory // of the last survey, until it is to be forgotten
	room    int     // for it, in bytes
}

// New takes a directory by its path. Nothing is opened.
func New(dir string, o Options) *Tree {
	return &Tree{name: dir, options: o, host: linux{}, rights: ownRights(), room: memoryRoom}
}

// Name is that of tree.Tree.
func (t *Tree) Name() string { return t.name }

// Survey is that of tree.Tree. Values of attributes have but the right length. With unreadable nil
// an unreadable file is an error.
func (t *Tree) Survey(ctx context.Context, block int64, unreadable func(path string, err error)) (tree.Source, error) {
	t.left = map[string]bool{}
	t.memory = newMemory(t.room)
	w := &walk{survey: true, block: block, memory: t.memory}
	note := func(path string, err error) bool {
		if unreadable == nil {
			return false
		}
		t.left[path] = true
		unreadable(path, err)
		return true
	}
	return t.start(ctx, w, note)
}

// Open is that of tree.Tree. What the last survey left out is left out, if it still cannot be read.
func (t *Tree) Open(ctx context.Context) (tree.Source, error) {
	return t.start(ctx, &walk{memory: t.memory}, func(path string, _ error) bool { return t.left[path] })
}

// Forget is that of tree.Tree.
func (t *Tree) Forget() { t.memory = nil }

// start opens the directory, which may not be a symbolic link, as with mkfs.xfs.
func (t *Tree) start(ctx context.Context, w *walk, leaveOut func(string, error) bool) (*source, error) {
	path := strings.TrimRight(t.name, "/")
	if path == "" && t.name != "" {
		path = "/"
	}
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", legible(t.name), err)
	}
	root, err := openDir(t.host, unix.AT_FDCWD, name)
	if (err == unix.ENOTDIR || err == unix.ELOOP) && linked(t.host, name) {
		err = errors.New("it is a symbolic link; its directory itself is needed")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be opened: %w", legible(t.name), err)
	}
	w.host, w.rights, w.links, w.options = t.host, &t.rights, &t.links, t.options
	w.free, w.toRead, w.listed = make(chan *batch, batches), make(chan *batch, batches), make(chan *batch, batches)
	s := &source{walk: w, parent: ctx, leaveOut: leaveOut, path: append([]byte(nil), path...)}
	w.ctx, s.cancel = context.WithCancel(ctx)
	for i := range s.all {
		s.all[i] = newBatch()
		w.free <- s.all[i]
	}
	s.work.Go(func() { (&lister{walk: w, recall: recall{memory: w.memory}}).list(root) })
	for range readers {
		s.work.Go((&reader{walk: w, little: true}).run)
	}
	return s, nil
}

func linked(h host, name *byte) bool {
	var st unix.Statx_t
	return h.stat(unix.AT_FDCWD, name, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// walk is what the lister, the readers and the source of a walk share.
type walk struct {
	ctx     context.Context
	host    host
	rights  *rights
	links   *linkTimes
	options Options
	survey  bool
	memory  *memory // that a survey fills, and that others use; nil for none
	block   int64   // of the new filesystem, in bytes

	free   chan *batch // empty ones
	toRead chan *batch // those whose slots are to be read
	listed chan *batch // all in the order of the tree, read or not; closed behind the last
}

// source hands out what the others have made ready. It is a tree.Source.
type source struct {
	*walk
	parent   context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup
	all      [batches]*batch
	leaveOut func(path string, err error) bool

	batch *batch // the one that entries come from
	at    int    // of the next slot
	last  *slot
	path  []byte // of the directory of the last entry, and the entry itself
	ends  []int  // of the paths of the directories on the way, by depth
	err   error  // what ended it
}
