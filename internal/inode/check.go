package inode

import (
	"errors"
	"fmt"
	"math"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
)

// checked is a core that is checked, and what it is checked against.
type checked struct {
	fs         *live.FS
	ino        geometry.Inode
	data, attr uint64 // extents
	room       int    // bytes of both forks
}

// check tells the first rule that a core breaks.
func check(fs *live.FS, ino geometry.Inode, core *ondisk.Inode) error {
	c := checked{fs: fs, ino: ino, room: literal(fs)}
	c.data, c.attr = ExtentCounts(core)
	for i := range rules {
		if text := rules[i].Bad(c, core); text != "" {
			return errors.New(rules[i].Name + " " + text)
		}
	}
	return nil
}

func (c checked) v3() bool { return c.fs.V5 }

// dataRoom is the bytes of the data fork.
func (c checked) dataRoom(i *ondisk.Inode) int {
	if i.ForkOffset != 0 {
		return min(8*int(i.ForkOffset), c.room)
	}
	return c.room
}

// rules are the checks of an inode in use, those of xfs_dinode_verify in libxfs.
var rules = []rule.Rule[checked, ondisk.Inode]{
	rule.Of("number", func(c checked, i *ondisk.Inode) string {
		if !c.v3() || i.Number == uint64(c.ino) {
			return ""
		}
		return fmt.Sprintf("is that of inode %d", i.Number)
	}),
	rule.Of("UUID", func(c checked, i *ondisk.Inode) string {
		return wrong(c.v3() && i.UUID != c.fs.UUID, "is that of another filesystem")
	}),
	rule.Of("mode", func(_ checked, i *ondisk.Inode) string {
		return wrong(!fileTypes[i.Mode>>typeShift].known, "is of no type of file")
	}),
	rule.Of("size", checkSize),
	rule.Of("counters", func(c checked, i *ondisk.Inode) string {
		large := i.Flags2&ondisk.Flag2Nrext64 != 0
		return wrong(large && (!c.fs.G.Features.Nrext64 || i.AttrExtents != 0) || !large && c.v3() && i.BigExtents != 0,
			"are neither large nor small ones")
	}),
	rule.Of("blocks", func(c checked, i *ondisk.Inode) string {
		none := c.data == 0 && c.attr == 0 && i.Format != ondisk.FormatMetaBtree
		if c.data <= i.Blocks && c.attr <= i.Blocks-c.data && (!none || i.Blocks == 0) {
			return ""
		}
		return fmt.Sprintf("are %d, with %d and %d extents", i.Blocks, c.data, c.attr)
	}),
	rule.Of("attribute fork", checkForkOffset),
	rule.Of("data fork", checkDataFork),
	rule.Of("attribute fork", checkAttrFork),
	rule.Of("extent size", checkExtentSize),
	rule.Of("extent size of copies", checkCowExtent),
	rule.Of("flags", checkFlags),
	rule.Of("metadata", checkMetadata),
}

func wrong(is bool, what string) string {
	if is {
		return what
	}
	return ""
}

// fileTypes has the types of file, by the upper bits of the mode, and whether they have no
// contents in a fork.
var fileTypes = [1 << 16 >> typeShift]struct{ known, device bool }{
	ondisk.ModeRegular >> typeShift:   {true, false},
	ondisk.ModeDirectory >> typeShift: {true, false},
	ondisk.ModeSymlink >> typeShift:   {true, false},
	ondisk.ModeFIFO >> typeShift:      {true, true},
	ondisk.ModeSocket >> typeShift:    {true, true},
	ondisk.ModeCharacter >> typeShift: {true, true},
	ondisk.ModeBlock >> typeShift:     {true, true},
}

const typeShift = 12

func checkSize(_ checked, i *ondisk.Inode) string {
	switch i.Mode & ondisk.ModeType {
	case ondisk.ModeDirectory, ondisk.ModeSymlink:
		if i.Size == 0 && i.Nlink > 0 { // those that are being freed may have no contents any more
			return "is 0, of a directory or symlink"
		}
	}
	return wrong(i.Size > math.MaxInt64, "is negative")
}

func checkForkOffset(c checked, i *ondisk.Inode) string {
	if at := 8 * int(i.ForkOffset); at != 0 && (at >= c.room || i.Format == ondisk.FormatDev && at != 8) {
		return fmt.Sprintf("begins at %d of %d bytes", at, c.room)
	}
	return ""
}

func checkDataFork(c checked, i *ondisk.Inode) string {
	kind, room := i.Mode&ondisk.ModeType, c.dataRoom(i)
	if fileTypes[kind>>typeShift].device != (i.Format == ondisk.FormatDev) {
		return "has not the form for the type of file"
	}
	fits := i.Size <= uint64(room)
	switch {
	case kind == ondisk.ModeDirectory && fits && i.Size > 0 && i.Format != ondisk.FormatLocal,
		// The target of a symlink stays in blocks where attributes that wanted its room are gone again.
		kind == ondisk.ModeSymlink && fits && i.Format != ondisk.FormatLocal && i.Format != ondisk.FormatExtents:
		return fmt.Sprintf("has not the %d bytes that fit it", i.Size)
	case i.Format != ondisk.FormatLocal:
	case kind == ondisk.ModeRegular:
		return "has contents, of a regular file"
	case !fits:
		return fmt.Sprintf("would have %d bytes of %d", i.Size, room)
	}
	return c.checkFork(i.Format, c.data, room, false, i)
}

// checkFork checks the number of extents of a fork against its form.
func (c checked) checkFork(format ondisk.Format, extents uint64, room int, attr bool, i *ondisk.Inode) string {
	fit := uint64(room / ondisk.FileExtentSize)
	switch format {
	case ondisk.FormatDev:
		return wrong(attr || room < 4, "has the form of a device's")
	case ondisk.FormatLocal:
		return wrong(extents != 0, "has contents and extents")
	case ondisk.FormatExtents:
		if extents > fit {
			return fmt.Sprintf("has room for %d extents, not for %d", fit, extents)
		}
	case ondisk.FormatBtree:
		ip := Inode{Core: *i}
		if extents <= fit || extents > ip.MaxExtents(attr) {
			return fmt.Sprintf("has a btree of %d extents, where %d fit the inode", extents, fit)
		}
	case ondisk.FormatMetaBtree:
		_, known := ondisk.MetaRoots[i.Metadata]
		return wrong(attr || !known || i.Flags2&ondisk.Flag2Metadata == 0, "has a btree of the realtime section")
	default:
		return fmt.Sprintf("has the form %d", format)
	}
	return ""
}

// checkAttrFork: without an attribute fork a new inode has the form 0, and another that of
// no extents.
func checkAttrFork(c checked, i *ondisk.Inode) string {
	if i.ForkOffset == 0 {
		return wrong(c.attr != 0 || i.AttrFormat != 0 && i.AttrFormat != ondisk.FormatExtents, "has contents and no place")
	}
	return c.checkFork(i.AttrFormat, c.attr, c.room-8*int(i.ForkOffset), true, i)
}

func checkExtentSize(c checked, i *ondisk.Inode) string { return BadExtentSize(c.fs, i) }

// BadExtentSize tells what is wrong with the extent size of an inode and its flags,
// or "" (xfs_inode_validate_extsize).
func BadExtentSize(fs *live.FS, i *ondisk.Inode) string {
	kind := i.Mode & ondisk.ModeType
	hint, inherit := i.Flags&ondisk.FlagExtentSize != 0, i.Flags&ondisk.FlagExtentInherit != 0
	realtime := i.Flags&ondisk.FlagRealtime != 0
	n := geometry.Blocks(i.ExtentSize)
	switch {
	case hint && kind != ondisk.ModeRegular, inherit && kind != ondisk.ModeDirectory:
		return "is of no file for it"
	case (hint || inherit) != (n != 0):
		return fmt.Sprintf("is %d, which the flags are not for", n)
	case n > MaxExtent, !realtime && n > fs.G.AGBlocks/2:
		return fmt.Sprintf("is %d blocks, which is too large", n)
	case realtime && n%max(1, fs.G.RT.Extent) != 0:
		return fmt.Sprintf("is %d blocks, no multiple of %d", n, fs.G.RT.Extent)
	}
	return ""
}

func checkCowExtent(c checked, i *ondisk.Inode) string {
	if !c.v3() {
		return ""
	}
	return BadCowExtent(c.fs, i)
}

// BadCowExtent is BadExtentSize for that of copies on write
// (xfs_inode_validate_cowextsize). In a filesystem of zones the metadata of a realtime group
// counts blocks there instead.
func BadCowExtent(fs *live.FS, i *ondisk.Inode) string {
	kind := i.Mode & ondisk.ModeType
	hint, n := i.Flags2&ondisk.Flag2CowExtent != 0, geometry.Blocks(i.CowExtent)
	switch {
	case fs.G.Features.Zoned && i.Flags2&ondisk.Flag2Metadata != 0 && i.Metadata == ondisk.MetaRTRmap && !hint:
	case hint && (!fs.G.Features.Reflink || kind != ondisk.ModeDirectory && kind != ondisk.ModeRegular):
		return "is of no file for it"
	case hint != (n != 0):
		return fmt.Sprintf("is %d, which the flags are not for", n)
	case n > MaxExtent, n > fs.G.AGBlocks/2:
		return fmt.Sprintf("is %d blocks, which is too large", n)
	}
	return ""
}

func checkFlags(c checked, i *ondisk.Inode) string {
	f := &c.fs.G.Features
	realtime, reflink := i.Flags&ondisk.FlagRealtime != 0, i.Flags2&ondisk.Flag2Reflink != 0
	switch {
	case realtime && c.fs.G.RT.Blocks == 0:
		return "say that it is in the realtime section, which is not there"
	case !c.v3():
	case reflink && (!f.Reflink || i.Mode&ondisk.ModeType != ondisk.ModeRegular || realtime && !f.Metadir):
		return "say that it shares blocks"
	case i.Flags2&ondisk.Flag2Bigtime != 0 && !f.Bigtime:
		return "say that its times are large ones"
	}
	return ""
}

// The flags that all files of metadata have, and those that its directories have besides.
const (
	MetadataFlags = ondisk.FlagImmutable | ondisk.FlagSync | ondisk.FlagNoAtime | ondisk.FlagNoDump | ondisk.FlagNoDefrag
	MetadirFlags  = MetadataFlags | ondisk.FlagNoSymlinks
)

// maxMetaType is one more than the types of metadata there are.
const maxMetaType = 9

func checkMetadata(c checked, i *ondisk.Inode) string {
	if !c.v3() || i.Flags2&ondisk.Flag2Metadata == 0 {
		return ""
	}
	want := MetadataFlags
	if i.Mode&ondisk.ModeType == ondisk.ModeDirectory {
		want = MetadirFlags
	}
	return wrong(!c.fs.G.Features.Metadir || i.Metadata >= maxMetaType || i.Mode&0o777 != 0 || i.UID != 0 || i.GID != 0 ||
		i.Flags&want != want || i.Flags2&ondisk.Flag2DAX != 0 || i.DataMigration != [6]byte{} ||
		i.Mode&ondisk.ModeType != ondisk.ModeDirectory && i.Mode&ondisk.ModeType != ondisk.ModeRegular,
		"is not what metadata may be")
}
