package fusetest

import (
	"encoding/binary"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of FUSE: what is asked for, and how long the parts of messages are.
const (
	fuseLookup, fuseForget, fuseGetattr, fuseSetattr        = 1, 2, 3, 4
	fuseOpen, fuseRead, fuseWrite, fuseStatfs, fuseRelease  = 14, 15, 16, 17, 18
	fuseFsync, fuseFlush, fuseInit, fuseOpendir             = 20, 25, 26, 27
	fuseReleasedir, fuseInterrupt, fuseDestroy, fuseForgets = 29, 36, 38, 42

	fuseHead, fuseReply, fuseWriteHead = 40, 16, 40
	fuseMost                           = 1 << 20 // bytes of a read or write
)

// Inodes.
const (
	rootNode = 1
	fileNode = 2
)

var le = binary.LittleEndian

// serve answers requests until the filesystem is unmounted. Reads and writes,
// which have to wait, are answered by others.
func (h *Host) serve() {
	buf := make([]byte, fuseMost+pageSize)
	for {
		n, err := unix.Read(h.fuse, buf)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN || err == unix.ENOENT:
			continue
		case err != nil || n < fuseHead:
			return
		}
		op, id, node, body := le.Uint32(buf[4:]), le.Uint64(buf[8:]), le.Uint64(buf[16:]), buf[fuseHead:n]
		switch op {
		case fuseForget, fuseForgets, fuseInterrupt:
		case fuseInit:
			h.answer(id, 0, h.initReply(body))
		case fuseLookup:
			if string(body) != "image\x00" || node != rootNode {
				h.answer(id, unix.ENOENT, nil)
				continue
			}
			entry := make([]byte, 40)
			le.PutUint64(entry, fileNode)
			le.PutUint64(entry[16:], 3600)
			le.PutUint64(entry[24:], 3600)
			h.answer(id, 0, append(entry, h.attributes(fileNode)...))
		case fuseGetattr, fuseSetattr:
			valid := make([]byte, 16)
			le.PutUint64(valid, 3600)
			h.answer(id, 0, append(valid, h.attributes(node)...))
		case fuseOpen, fuseOpendir:
			const direct, sideBySide = 1, 1 << 6
			opened := make([]byte, 16)
			if !h.options.Cached {
				le.PutUint32(opened[8:], direct|sideBySide)
			}
			h.answer(id, 0, opened)
		case fuseRead:
			due := time.Now().Add(time.Duration(h.Latency.Load()))
			off, n := int64(le.Uint64(body[8:])), int(le.Uint32(body[16:]))
			h.busy.Go(func() { h.read(id, off, n, due) })
		case fuseWrite:
			off, data := int64(le.Uint64(body[8:])), AlignedCopy(body[fuseWriteHead:])
			h.busy.Go(func() { h.write(id, off, data) })
		case fuseFsync:
			h.busy.Go(func() { h.answer(id, errnoOf(h.image.Sync()), nil) })
		case fuseStatfs:
			h.answer(id, 0, make([]byte, 80))
		case fuseRelease, fuseFlush, fuseReleasedir, fuseDestroy:
			h.answer(id, 0, nil)
		default:
			h.answer(id, unix.ENOSYS, nil)
		}
	}
}

// initReply agrees on version 7.31, on how large requests are, and on many of
// them at once.
func (h *Host) initReply(body []byte) []byte {
	const asyncRead, asyncDirect, bigWrites, maxPages = 1 << 0, 1 << 15, 1 << 5, 1 << 22
	flags := uint32(asyncRead | bigWrites | maxPages)
	if !h.options.OneByOne {
		flags |= asyncDirect
	}
	b := make([]byte, 64)
	le.PutUint32(b, 7)
	le.PutUint32(b[4:], 31)
	le.PutUint32(b[8:], le.Uint32(body[8:]))
	le.PutUint32(b[12:], flags)
	le.PutUint16(b[16:], 1024) // requests in the background
	le.PutUint16(b[18:], 1024)
	le.PutUint32(b[20:], uint32(h.options.Largest))
	le.PutUint32(b[24:], 1)
	le.PutUint16(b[28:], fuseMost/pageSize)
	return b
}

func (h *Host) attributes(node uint64) []byte {
	b := make([]byte, 88)
	le.PutUint64(b, node)
	mode := uint32(unix.S_IFDIR | 0o755)
	if node == fileNode {
		mode = unix.S_IFREG | 0o600
		le.PutUint64(b[8:], uint64(h.size))
		le.PutUint64(b[16:], uint64(h.size/512))
	}
	le.PutUint32(b[60:], mode)
	le.PutUint32(b[64:], 1)
	le.PutUint32(b[80:], pageSize)
	return b
}

func (h *Host) answer(id uint64, e unix.Errno, body []byte) {
	if e != 0 {
		body = nil
	}
	head := make([]byte, fuseReply)
	le.PutUint32(head, uint32(len(head)+len(body)))
	le.PutUint32(head[4:], uint32(-int32(e)))
	le.PutUint64(head[8:], id)
	vec := [][]byte{head}
	if len(body) > 0 {
		vec = append(vec, body)
	}
	unix.Writev(h.fuse, vec) // whoever asked may have gone
}

func words(list ...uint32) (b []byte) {
	for _, w := range list {
		b = le.AppendUint32(b, w)
	}
	return b
}

func errnoOf(err error) unix.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return unix.EIO
}

const pageSize = 4096

// Aligned is memory that is fit for direct IO.
func Aligned(n int) []byte {
	b := make([]byte, n+pageSize)
	pad := int(-uintptr(unsafe.Pointer(&b[0])) % pageSize)
	return b[pad : pad+n : pad+n]
}

// AlignedCopy is a copy in such memory.
func AlignedCopy(b []byte) []byte {
	c := Aligned(len(b))
	copy(c, b)
	return c
}
