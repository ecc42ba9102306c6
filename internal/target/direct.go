package target

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxAlign is the strictest alignment of direct I/O that is expected, and what
// is asked of the caller where nothing is known: a page, which is also the
// largest logical sector.
const maxAlign = 4096

// DirectIO reports whether I/O on Fd bypasses the page cache. If so, memory
// addresses, offsets and lengths must be multiples of align bytes, and the end
// of a file that is no multiple of it is out of reach: write that with WriteAt.
// If not, align is 1.
func (t *Target) DirectIO() (ok bool, align int) {
	if t.align == 0 {
		return false, 1
	}
	return true, t.align
}

// openDirect gives t a second descriptor that does direct I/O, if it can have
// one. That it cannot is no error: the I/O is the same, only slower.
func (t *Target) openDirect() {
	if t.info.Kind == File && inMemory(t.Fd()) {
		return // takes O_DIRECT and ignores it
	}
	flags := os.O_RDONLY
	if t.write {
		flags = os.O_RDWR
	}
	f, err := t.reopen(flags | unix.O_DIRECT)
	if err != nil {
		return
	}
	align := directAlign(int(f.Fd()), t.info)
	if align == 0 || t.info.Offset%int64(align) != 0 {
		_ = f.Close()
		return
	}
	t.file, t.align = f, align
}

// Buffered gives direct I/O up again.
func (t *Target) Buffered() {
	if t.file != t.small {
		_ = t.file.Close() // nothing was written to it
		t.file, t.align = t.small, 0
	}
}

// reopen opens what t has open once more. It goes through the descriptor, as
// the path may have become something else; where /proc is not mounted, through
// the path if that has not.
func (t *Target) reopen(flags int) (*os.File, error) {
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", t.Fd()), flags, 0)
	if err != nil {
		f, err = os.OpenFile(t.info.Path, flags, 0)
	}
	if err != nil {
		return nil, err
	}
	info, err := describe(int(f.Fd()), t.info.Path)
	if err == nil && !info.Same(t.info) {
		err = fmt.Errorf("%s was replaced", t.info.Path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// inMemory reports whether the file fd is page cache and nothing else.
func inMemory(fd int) bool {
	var host unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(fd, &host) }); err != nil {
		return false
	}
	switch int64(host.Type) {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.HUGETLBFS_MAGIC:
		return true
	}
	return false
}

// directAlign returns the alignment that direct I/O on fd wants in bytes, or 0
// if it is not direct in truth.
func directAlign(fd int, info Info) int {
	var stx unix.Statx_t
	err := retry(func() error {
		return unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &stx)
	})
	if err == nil && stx.Mask&unix.STATX_DIOALIGN != 0 {
		if stx.Dio_offset_align == 0 {
			return 0
		}
		return sector(int(max(stx.Dio_offset_align, stx.Dio_mem_align)), 512)
	}
	// Linux before 6.1, or a file system that does not say.
	if info.Kind == BlockDevice {
		return info.LogicalSector
	}
	return tryAlign(fd, info.Size)
}

// tryAlign returns the smallest alignment with which a read of the file fd, of
// size bytes, works. A read behind the end might work with any, so it takes
// none of those as a proof.
func tryAlign(fd int, size int64) int {
	mem := make([]byte, 3*maxAlign)
	// An address that is a multiple of n and of no more.
	at := func(n int) []byte {
		pad := int(-uintptr(unsafe.Pointer(&mem[0])) % maxAlign)
		return mem[pad+n%maxAlign:][:n]
	}
	for n := 512; n < maxAlign && int64(2*n) <= size; n *= 2 {
		err := retry(func() error { _, err := unix.Pread(fd, at(n), int64(n)); return err })
		if err == nil {
			return n
		}
	}
	return maxAlign
}
