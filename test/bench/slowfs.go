package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// slowFS is a filesystem of one file, an image, whose reads take a latency
// longer: all at the same time, as those of a device far away. It is for the
// kernel, which has no ring that could be slow. It speaks FUSE as far as a loop
// device on that file needs it.
type slowFS struct {
	latency atomic.Int64
	image   *os.File
	size    int64
	fuse    int
}

// slowImage is the path of an image below a slowFS.
func slowImage(dir string) string { return filepath.Join(dir, "image") }

// mountSlow mounts one at dir.
func mountSlow(dir, image string) (fs *slowFS, down func(), err error) {
	var u undo
	defer func() {
		if err != nil {
			u.run()
		}
	}()
	fs = &slowFS{}
	if fs.image, err = os.OpenFile(image, os.O_RDWR|unix.O_DIRECT, 0); err != nil {
		return nil, nil, err
	}
	u.add(func() { fs.image.Close() })
	info, err := fs.image.Stat()
	if err != nil {
		return nil, nil, err
	}
	fs.size = info.Size()
	if fs.fuse, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return nil, nil, skip("no FUSE: %v", err)
	}
	u.add(func() { unix.Close(fs.fuse) })
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fs.fuse)
	if err := unix.Mount("bench", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return nil, nil, skip("no FUSE: %v", err)
	}
	u.add(func() {
		if err := unmount(dir); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	})
	for range 2 {
		go fs.serve()
	}
	return fs, u.run, nil
}

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
	slowRoot = 1
	slowFile = 2
)

// serve answers requests until the filesystem is unmounted. Reads that have to
// wait are answered by others.
func (fs *slowFS) serve() {
	buf := make([]byte, fuseMost+pageSize)
	for {
		n, err := unix.Read(fs.fuse, buf)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN || err == unix.ENOENT:
			continue
		case err != nil || n < fuseHead:
			return
		}
		le := binary.LittleEndian
		op, id, node, body := le.Uint32(buf[4:]), le.Uint64(buf[8:]), le.Uint64(buf[16:]), buf[fuseHead:n]
		switch op {
		case fuseForget, fuseForgets, fuseInterrupt:
		case fuseInit:
			fs.answer(id, 0, initReply(body))
		case fuseLookup:
			if string(body) != "image\x00" || node != slowRoot {
				fs.answer(id, unix.ENOENT, nil)
				continue
			}
			entry := make([]byte, 40)
			le.PutUint64(entry, slowFile)
			le.PutUint64(entry[16:], 3600)
			le.PutUint64(entry[24:], 3600)
			fs.answer(id, 0, append(entry, fs.attributes(slowFile)...))
		case fuseGetattr, fuseSetattr:
			valid := make([]byte, 16)
			le.PutUint64(valid, 3600)
			fs.answer(id, 0, append(valid, fs.attributes(node)...))
		case fuseOpen, fuseOpendir:
			opened := make([]byte, 16)
			le.PutUint32(opened[8:], 1|1<<6) // direct IO, and writes side by side
			fs.answer(id, 0, opened)
		case fuseRead:
			due := time.Now().Add(time.Duration(fs.latency.Load()))
			go fs.read(id, int64(le.Uint64(body[8:])), int(le.Uint32(body[16:])), due)
		case fuseWrite:
			data := alignedCopy(body[fuseWriteHead:])
			go fs.write(id, int64(le.Uint64(body[8:])), data)
		case fuseFsync:
			go func() { fs.answer(id, errnoOf(fs.image.Sync()), nil) }()
		case fuseStatfs:
			fs.answer(id, 0, make([]byte, 80))
		case fuseRelease, fuseFlush, fuseReleasedir, fuseDestroy:
			fs.answer(id, 0, nil)
		default:
			fs.answer(id, unix.ENOSYS, nil)
		}
	}
}

// initReply agrees on version 7.31, on large requests, many of them at once and
// without waiting.
func initReply(body []byte) []byte {
	const asyncRead, asyncDirect, bigWrites, maxPages = 1 << 0, 1 << 15, 1 << 5, 1 << 22
	le := binary.LittleEndian
	b := make([]byte, 64)
	le.PutUint32(b, 7)
	le.PutUint32(b[4:], 31)
	le.PutUint32(b[8:], le.Uint32(body[8:]))
	le.PutUint32(b[12:], asyncRead|asyncDirect|bigWrites|maxPages)
	le.PutUint16(b[16:], 1024) // requests in the background
	le.PutUint16(b[18:], 1024)
	le.PutUint32(b[20:], fuseMost)
	le.PutUint32(b[24:], 1)
	le.PutUint16(b[28:], fuseMost/pageSize)
	return b
}

func (fs *slowFS) attributes(node uint64) []byte {
	le := binary.LittleEndian
	b := make([]byte, 88)
	le.PutUint64(b, node)
	mode := uint32(unix.S_IFDIR | 0o755)
	if node == slowFile {
		mode = unix.S_IFREG | 0o600
		le.PutUint64(b[8:], uint64(fs.size))
		le.PutUint64(b[16:], uint64(fs.size/512))
	}
	le.PutUint32(b[60:], mode)
	le.PutUint32(b[64:], 1)
	le.PutUint32(b[80:], pageSize)
	return b
}

func (fs *slowFS) read(id uint64, off int64, n int, due time.Time) {
	data := aligned(n)
	n, err := unix.Pread(int(fs.image.Fd()), data, off)
	time.Sleep(time.Until(due))
	fs.answer(id, errnoOf(err), data[:max(0, n)])
}

func (fs *slowFS) write(id uint64, off int64, data []byte) {
	n, err := unix.Pwrite(int(fs.image.Fd()), data, off)
	reply := make([]byte, 8)
	binary.LittleEndian.PutUint32(reply, uint32(max(0, n)))
	fs.answer(id, errnoOf(err), reply)
}

func (fs *slowFS) answer(id uint64, e unix.Errno, body []byte) {
	if e != 0 {
		body = nil
	}
	head := make([]byte, fuseReply)
	le := binary.LittleEndian
	le.PutUint32(head, uint32(len(head)+len(body)))
	le.PutUint32(head[4:], uint32(-int32(e)))
	le.PutUint64(head[8:], id)
	vec := [][]byte{head}
	if len(body) > 0 {
		vec = append(vec, body)
	}
	unix.Writev(fs.fuse, vec) // whoever asked may have gone
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

// aligned is memory that is fit for direct IO.
func aligned(n int) []byte {
	b := make([]byte, n+pageSize)
	pad := int(-uintptr(unsafe.Pointer(&b[0])) % pageSize)
	return b[pad : pad+n : pad+n]
}

func alignedCopy(b []byte) []byte {
	c := aligned(len(b))
	copy(c, b)
	return c
}
