package target

import "golang.org/x/sys/unix"

// DropCache asks that what was read or written of the target, and is durable,
// be forgotten, so that reading it again asks the device. It is a favour:
// memory file systems have nowhere else to read from.
func (t *Target) DropCache() {
	_ = unix.Fadvise(int(t.small.Fd()), t.info.Offset, t.info.Size, unix.FADV_DONTNEED)
}
