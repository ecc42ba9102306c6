package against

import (
	"fmt"
	"time"

	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
	"mkfs/internal/tree"
)

// pair is an entry and the inode that its name leads to, in a directory; nil for the root.
type pair struct {
	c  *comparer
	e  *tree.Entry
	ip *inode.Inode
	dp *inode.Inode
}

func (p *pair) is(t uint16) bool { return p.e.Mode&tree.TypeMask == t }

// fields compares the fields of an inode.
func (c *comparer) fields(e *tree.Entry, ip, dp *inode.Inode) {
	p := pair{c, e, ip, dp}
	for i := range fields {
		if f := &fields[i]; f.differs(&p) {
			want, got := f.text(&p)
			c.differ(e, f.name, want, got)
		}
	}
}

// field is what an inode has of an entry.
type field struct {
	name    string
	differs func(p *pair) bool
	text    func(p *pair) (want, got string)
}

// fields are all of them.
var fields = []field{
	{"mode", modeDiffers, func(p *pair) (string, string) { return octal(p.e.Mode), octal(p.ip.Core.Mode) }},
	number("user", func(p *pair) (uint64, uint64) { return uint64(p.e.UID), uint64(p.ip.Core.UID) }),
	number("group", func(p *pair) (uint64, uint64) { return uint64(p.e.GID), uint64(p.ip.Core.GID) }),
	{
		"device",
		func(p *pair) bool {
			isDevice := p.is(tree.TypeBlock) || p.is(tree.TypeCharacter)
			return isDevice && ondisk.DeviceNumber(p.e.Major, p.e.Minor) != p.ip.Data.Device
		},
		func(p *pair) (string, string) {
			major, minor := ondisk.DeviceOf(p.ip.Data.Device)
			return fmt.Sprintf("%d:%d", p.e.Major, p.e.Minor), fmt.Sprintf("%d:%d", major, minor)
		},
	},
	number("length", func(p *pair) (want, got uint64) {
		switch {
		case !p.is(tree.TypeRegular):
			return 0, 0
		case p.e.Reserve:
			return 0, p.ip.Core.Size
		}
		return uint64(p.e.Size), p.ip.Core.Size
	}),
	stamp("modification time", func(p *pair) (tree.Time, uint64) { return p.e.Modified, p.ip.Core.Mtime }),
	stamp("access time", func(p *pair) (tree.Time, uint64) {
		if !p.c.AccessTimes {
			return tree.Time{}, 0
		}
		return p.e.Accessed, p.ip.Core.Atime
	}),
}

// number is a field that is a number.
func number(name string, of func(p *pair) (want, got uint64)) field {
	return field{
		name: name,
		differs: func(p *pair) bool {
			want, got := of(p)
			return want != got
		},
		text: func(p *pair) (string, string) {
			want, got := of(p)
			return fmt.Sprint(want), fmt.Sprint(got)
		},
	}
}

// stamp is a field that is a time, if the source gives it. The root has that of its making.
func stamp(name string, of func(p *pair) (want tree.Time, got uint64)) field {
	return field{
		name: name,
		differs: func(p *pair) bool {
			want, got := of(p)
			return want.Given && p.e.Depth > 0 && p.ip.EncodeTime(p.ip.ClampTime(want.Sec, want.Nsec)) != got
		},
		text: func(p *pair) (string, string) {
			want, got := of(p)
			return timeText(p.ip.ClampTime(want.Sec, want.Nsec)), timeText(p.ip.DecodeTime(got))
		},
	}
}

func timeText(sec int64, nsec uint32) string {
	return time.Unix(sec, int64(nsec)).UTC().Format("2006-01-02 15:04:05.999999999")
}

const permissions = 0o7777

func octal(mode uint16) string { return fmt.Sprintf("%04o", mode&permissions) }

// modeDiffers: a directory may have the bit by which files in it are of its group from the one that it is in
// (xfs_inode_init in libxfs).
func modeDiffers(p *pair) bool {
	diff := (p.e.Mode ^ p.ip.Core.Mode) & permissions
	if p.dp != nil && p.ip.IsDir() && p.ip.Core.Mode&p.dp.Core.Mode&ondisk.ModeSetGID != 0 {
		diff &^= ondisk.ModeSetGID
	}
	return diff != 0
}

const typeShift = 12

// typeNames are those of the types of file, by the upper bits of the mode.
var typeNames = [1 << 16 >> typeShift]string{
	ondisk.ModeRegular >> typeShift: "regular file", ondisk.ModeDirectory >> typeShift: "directory",
	ondisk.ModeSymlink >> typeShift: "symbolic link", ondisk.ModeFIFO >> typeShift: "FIFO",
	ondisk.ModeSocket >> typeShift: "socket", ondisk.ModeCharacter >> typeShift: "character device",
	ondisk.ModeBlock >> typeShift: "block device",
}

func typeName(mode uint16) string { return typeNames[mode>>typeShift] }
