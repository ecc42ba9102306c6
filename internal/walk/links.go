package walk

import (
	"sync"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// linkTimes are the access times of symbolic links as they were before they were first read, which
// sets them: there is no way to read a link that does not. Later walks have them from here.
type linkTimes struct {
	mu    sync.Mutex
	times map[tree.Link]tree.Time
}

// first replaces the access time of a link by that of the first walk.
func (l *linkTimes) first(st *unix.Statx_t, accessed *tree.Time) {
	key := tree.Link{Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.times[key]; ok {
		*accessed = before
		return
	}
	if l.times == nil {
		l.times = map[tree.Link]tree.Time{}
	}
	l.times[key] = *accessed
}
