package target

import (
	"fmt"
	"math"
	"sort"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"
)

// CheckLength refuses to write a file up to a length that this process or the
// file's host does not allow. Devices have no such limit.
func (t *Target) CheckLength(length int64) error {
	if t.info.Kind != File {
		return nil
	}
	end := t.info.Offset + length
	if limit := processLimit(); end > limit {
		return t.tooLong(end, limit, "this process may write (RLIMIT_FSIZE; ulimit -f shows it)")
	}
	if end > t.info.Offset+t.info.Size { // what is that long already, its host allows
		if limit := hostLimit(int(t.small.Fd())); end > limit {
			return t.tooLong(end, limit, "a file may have on the file system it is on")
		}
	}
	return nil
}

func (t *Target) tooLong(end, limit int64, whose string) error {
	return fmt.Errorf("%s: %d bytes (%s) are more than the %d (%s) that %s: %w", t.info.Path,
		end, humanize.IBytes(uint64(end)), limit, humanize.IBytes(uint64(limit)), whose, unix.EFBIG)
}

// processLimit is how many bytes of a file this process may write.
func processLimit() int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &l) != nil || l.Cur > math.MaxInt64 { // unlimited is the largest number
		return math.MaxInt64
	}
	return int64(l.Cur)
}

// hostLimit is how long the file fd may become on its host: lseek(2) takes no
// position behind that. It is 0 if the host takes none at all.
func hostLimit(fd int) int64 {
	// Search finds the first of 2^63-1 lengths, less one, that is refused.
	return int64(sort.Search(math.MaxInt64, func(n int) bool {
		_, err := seek(fd, int64(n)+1, unix.SEEK_SET)
		return err != nil
	}))
}
