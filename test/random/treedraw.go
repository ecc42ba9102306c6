package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// bounds are what a filesystem can hold, or its reference gets right.
type bounds struct {
	block, inode int64
	target       int   // the longest target of a symbolic link
	latest       int64 // time, in seconds
	fold         bool  // names that differ by case only are the same
	tight        bool  // little data, please
}

// earliest is the first second that any inode can hold.
const earliest = -1 << 31

// planter draws a tree.
type planter struct {
	*rand.Rand
	bounds
	t      *tree
	dirs   []string // that may get more files
	others []string // that may get more names
	names  map[string]bool
	left   int64 // bytes of data that may still be drawn
	root   bool  // we are: all kinds, owners and attributes
	plain  bool  // hardly any attributes
}

// drawTree draws a tree of some files, at times of thousands.
func drawTree(r *rand.Rand, b bounds) *tree {
	p := &planter{Rand: r, bounds: b, t: &tree{atime: r.IntN(4) == 0}, names: map[string]bool{}, root: os.Geteuid() == 0}
	p.left, p.plain = []int64{1 << 20, 30 << 20, 100 << 20}[r.IntN(3)], r.IntN(2) == 0
	if p.tight {
		p.left = 30 << 20
	}
	p.add(p.dress(file{path: ".", mode: unix.S_IFDIR | p.permissions()}))
	for range []int{1, 1, 2, 3, 6}[r.IntN(5)] {
		switch r.IntN(12) {
		case 0:
			p.deep([]int{20, 100, 400}[r.IntN(3)])
		case 1, 2:
			p.many([]int{100, 500, 1000, 3000}[r.IntN(4)])
		case 3:
			p.linked(p.IntN(200))
		default:
			p.mixed(p.IntN(150))
		}
	}
	return p.t
}

func (p *planter) add(f file) {
	p.t.files = append(p.t.files, f)
	switch {
	case f.link != "":
	case f.mode&unix.S_IFMT == unix.S_IFDIR:
		p.dirs = append(p.dirs, f.path)
	default:
		p.others = append(p.others, f.path)
	}
}

// mixed adds files of all kinds all over the tree.
func (p *planter) mixed(n int) {
	for range n {
		p.add(p.file(p.place(p.dirs[p.IntN(len(p.dirs))], p.name())))
	}
}

// many adds files to one directory.
func (p *planter) many(n int) {
	dir := p.dirs[p.IntN(len(p.dirs))]
	long := p.IntN(3) == 0
	for i := range n {
		name := fmt.Sprint(i)
		if long {
			name += strings.Repeat("n", p.IntN(200))
		}
		f := file{path: p.place(dir, name), mode: unix.S_IFREG | p.permissions()}
		if p.IntN(20) == 0 {
			f = p.file(f.path)
		}
		p.add(p.dress(f))
	}
}

// deep adds directories within each other.
func (p *planter) deep(n int) {
	dir := p.dirs[p.IntN(len(p.dirs))]
	for i := range n {
		at := p.place(dir, fmt.Sprint(i))
		if len(at) > 3000 { // the reference wants a path of 4096 bytes
			return
		}
		p.add(p.dress(file{path: at, mode: unix.S_IFDIR | p.permissions()}))
		if p.IntN(4) == 0 {
			p.add(p.file(p.place(at, "f")))
		}
		dir = at
	}
}

// linked adds further names.
func (p *planter) linked(n int) {
	for range n {
		if len(p.others) == 0 {
			return
		}
		p.add(file{path: p.place(p.dirs[p.IntN(len(p.dirs))], p.name()), link: p.others[p.IntN(len(p.others))]})
	}
}

// place is a path in a directory that is not taken; it may be of another name.
func (p *planter) place(dir, name string) string {
	for {
		at := path.Join(dir, name)
		key := at
		if p.fold {
			key = strings.ToLower(at)
		}
		if !p.names[key] && len(at) < 3500 {
			p.names[key] = true
			return at
		}
		if len(at) >= 3500 {
			dir = "."
		}
		name = fmt.Sprint(name[:min(len(name), 240)], p.IntN(1<<20))
	}
}

// name draws the name of a file: most are like those that people give.
func (p *planter) name() string {
	switch p.IntN(8) {
	case 0:
		return p.bytes(1 + p.IntN(255))
	case 1:
		return p.bytes(1 + p.IntN(8))
	case 2:
		return strings.Repeat("long", 1+p.IntN(63))
	}
	const vowels, others = "aeiou", "bcdfghklmnprst"
	var b strings.Builder
	for range 1 + p.IntN(5) {
		b.WriteByte(others[p.IntN(len(others))])
		b.WriteByte(vowels[p.IntN(len(vowels))])
	}
	return b.String()
}

// bytes draws a name of any bytes.
func (p *planter) bytes(n int) string {
	b := make([]byte, n)
	for i := range b {
		for b[i] == 0 || b[i] == '/' || p.fold && b[i] >= 'A' && b[i] <= 'Z' || p.fold && b[i] > 0x7f {
			b[i] = byte(p.Uint32())
		}
	}
	if s := string(b); s != "." && s != ".." {
		return s
	}
	return "..."
}

// file draws a file of some kind.
func (p *planter) file(at string) file {
	f := file{path: at, mode: p.permissions()}
	switch n := p.IntN(20); {
	case n == 0:
		f.mode |= unix.S_IFIFO
	case n == 1:
		f.mode |= unix.S_IFSOCK
	case n == 2 && p.root: // those that the reference can open
		f.mode |= unix.S_IFCHR
		f.device = unix.Mkdev(1, []uint32{3, 5}[p.IntN(2)])
	case n < 5:
		f.mode |= unix.S_IFLNK
		lengths := []int{1, 20, 59, 60, 100, 155, 156, 200, 300, 500, 1000, 1022, 1023, 1 + p.IntN(1023)}
		f.target = strings.Repeat("target/x", 128)[:min(lengths[p.IntN(len(lengths))], p.target)]
	case n < 9:
		f.mode |= unix.S_IFDIR
	default:
		f.mode |= unix.S_IFREG
		p.fill(&f)
	}
	return p.dress(f)
}

// fill draws what a regular file holds.
func (p *planter) fill(f *file) {
	f.size = p.size()
	if f.size > p.left {
		return // one hole
	}
	if p.IntN(6) > 0 {
		if f.size > 0 {
			f.pieces = []piece{{0, f.size}}
		}
		p.left -= f.size
		return
	}
	// The reference loses data of pieces that begin within a block.
	const page = 4096
	unit := max(page, p.block)
	n, at := []int{1, 2, 5, 20, 300}[p.IntN(5)], int64(0)
	step := []int64{1, 4, 16, 100, 1 << 10, 1 << 20}[p.IntN(6)]
	for range n {
		at += p.Int64N(step+1) * unit
		length := min(p.size(), 2<<20)
		if length += page - length%page; length > p.left {
			break
		}
		f.pieces = append(f.pieces, piece{at, at + length})
		p.left -= length
		at = (at + length + unit - 1) / unit * unit
	}
	f.size = at + p.Int64N(3)*p.Int64N(unit*100)
	if m := len(f.pieces); m > 0 && p.IntN(3) == 0 { // the end of the last piece is no multiple of anything
		f.pieces[m-1].end -= p.Int64N(page)
		f.size = f.pieces[m-1].end
	}
}

// size draws the size of a file, around where something changes.
func (p *planter) size() int64 {
	units := []int64{1, 16, p.inode, p.block, 4096, 64 << 10, 128 << 10, 1 << 20}
	n := units[p.IntN(len(units))]*p.Int64N(5) + p.Int64N(3) - 1
	return max(n, 0)
}

// permissions draws permissions: root and the owner may read.
func (p *planter) permissions() uint32 {
	const read = 0o400
	mode := []uint32{0o644, 0o755, 0o600, 0o777, p.Uint32N(0o1000), p.Uint32N(0o1000)}[p.IntN(6)]
	if p.IntN(6) == 0 {
		mode |= []uint32{unix.S_ISUID, unix.S_ISGID, unix.S_ISVTX, p.Uint32N(8) << 9}[p.IntN(4)]
	}
	if os.Geteuid() != 0 {
		mode |= 0o700
	}
	return mode | read
}

// dress draws owners, times and attributes.
func (p *planter) dress(f file) file {
	ids := []int{0, 0, 0, 1000, 65534, 12345, 1<<31 - 1, 1<<32 - 2}
	f.uid, f.gid = ids[p.IntN(len(ids))], ids[p.IntN(len(ids))]
	f.modified, f.access = p.time(), p.time()
	most := 0
	switch n := p.IntN(200); {
	case p.plain && n > 5:
	case n == 0:
		most = 300
	case n < 10:
		most = 40
	case n < 60:
		most = 4
	}
	if most > 0 {
		p.attributes(&f, 1+p.IntN(most))
	}
	return f
}

func (p *planter) time() unix.Timespec {
	seconds := []int64{0, -1, 1, 1 << 31, 1<<31 - 1, 1 << 32, earliest, p.latest, 1700000000, p.Int64N(2e9), -p.Int64N(2e9)}
	nanoseconds := []int64{0, 1, 999999999, p.Int64N(1e9)}
	return unix.Timespec{Sec: min(seconds[p.IntN(len(seconds))], p.latest), Nsec: nanoseconds[p.IntN(len(nanoseconds))]}
}

// attributes draws extended attributes. Those of users go with files and directories only.
func (p *planter) attributes(f *file, n int) {
	var spaces []string
	kind := f.mode & unix.S_IFMT
	if kind == unix.S_IFREG || kind == unix.S_IFDIR {
		spaces = []string{"user."}
	}
	if p.root {
		spaces = append(spaces, "trusted.", "security.")
	}
	if len(spaces) == 0 {
		return
	}
	total := 0
	for range n {
		space := spaces[p.IntN(len(spaces))]
		value := make([]byte, p.valueSize())
		if total += len(value); total > 500_000 || int64(total) > p.left {
			break
		}
		for i := range value {
			value[i] = byte(p.Uint32())
		}
		name := space + fmt.Sprint("a", p.IntN(1000))
		if p.IntN(4) == 0 {
			name = space + p.bytes(1+p.IntN(255-len(space)))
		}
		f.attrs = append(f.attrs, attribute{name, value})
	}
	p.left -= int64(total)
	if p.IntN(4) == 0 && kind != unix.S_IFLNK {
		f.attrs = append(f.attrs, attribute{"system.posix_acl_access", p.acl()})
	}
	if p.IntN(4) == 0 && kind == unix.S_IFDIR {
		f.attrs = append(f.attrs, attribute{"system.posix_acl_default", p.acl()})
	}
}

// valueSize draws the size of a value, around where something changes.
func (p *planter) valueSize() int64 {
	switch p.IntN(10) {
	case 0:
		return p.Int64N(65537)
	case 1:
		return 65536
	case 2, 3:
		around := []int64{p.block / 4 * 3, p.block / 2, p.block, 2 * p.block, 256, 255, 4096}
		return min(65536, around[p.IntN(len(around))]+p.Int64N(65)-32)
	case 4, 5:
		return p.Int64N(2000)
	}
	return p.Int64N(200)
}

// acl draws an access control list: version 2, with some users.
func (p *planter) acl() []byte {
	var b bytes.Buffer
	row := func(tag, permissions uint16, id uint32) {
		_ = binary.Write(&b, binary.LittleEndian, tag)
		_ = binary.Write(&b, binary.LittleEndian, permissions)
		_ = binary.Write(&b, binary.LittleEndian, id)
	}
	const nobody = 1<<32 - 1
	_ = binary.Write(&b, binary.LittleEndian, uint32(2))
	row(1, 7, nobody)
	for id := range uint32(p.IntN(20)) {
		row(2, uint16(p.IntN(8)), 1000+id)
	}
	row(4, 5, nobody)
	row(0x10, 7, nobody)
	row(0x20, 4, nobody)
	return b.Bytes()
}
