package walk

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// rights are what the process may read.
type rights struct {
	uid uint32
	// all: modes keep it from nothing, since it has CAP_DAC_READ_SEARCH or CAP_DAC_OVERRIDE
	// over all users.
	all bool
}

func ownRights() rights {
	r := rights{uid: uint32(os.Geteuid())}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return r
	}
	const either = 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_DAC_OVERRIDE
	r.all = data[0].Effective&either != 0 && allUsers()
	return r
}

// allUsers tells that capabilities count for the files of all users: no user namespace leaves some
// out.
func allUsers() bool {
	m, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && slices.Equal(strings.Fields(string(m)), []string{"0", "0", "4294967295"})
}

// local are the types of filesystems whose files can be read as modes and capabilities say. Servers
// of others have a mind of their own.
var local = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC,
	unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1,
}

// enter tells why the files of an open directory cannot be reached. It finds out which directory it
// is, and for a survey what that is on.
func (r *rights) enter(h host, f *folder, survey bool) error {
	var st unix.Statx_t
	if err := h.stat(f.fd, nil, &st); err != nil {
		return fail("its status cannot be read", err)
	}
	f.dev, f.ino = unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino
	if survey {
		var fs unix.Statfs_t
		if err := h.filesystem(f.fd, &fs); err != nil {
			return fail("its filesystem cannot be asked", err)
		}
		f.local = slices.Contains(local, int64(fs.Type))
	}
	if r.all {
		return nil
	}
	if err := h.access(f.fd, &dot[0], unix.X_OK); err != nil && !missing(err) {
		return fail("its files cannot be reached", err)
	}
	return nil
}

// read tells why a regular file could not be read. It is opened only if the kernel cannot tell
// otherwise.
func (r *rights) read(h host, s *slot, st *unix.Statx_t) error {
	if s.dir.knows(st) && (r.all || st.Uid == r.uid && st.Mode&unix.S_IRUSR != 0) {
		return nil
	}
	err := h.access(s.dir.fd, s.name, unix.R_OK)
	if missing(err) {
		var fd int
		if fd, err = s.dir.openFile(h, s.name); err == nil {
			err = h.close(fd)
		}
	}
	if err != nil {
		return fail("it cannot be read", err)
	}
	return nil
}

var dot = []byte(".\x00")
