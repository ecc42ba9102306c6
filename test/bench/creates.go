package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio"
	"mkfs/internal/attr"
	"mkfs/internal/buffer"
	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/super"
)

// createsResult is what creates prints.
type createsResult struct {
	Seconds, User float64 // of the creations, and of their last flush
	Stats         buffer.Stats
	Saved         int64 // changes
	Depth         float64

	peak int64 // bytes of memory, which others find out
}

// creates makes empty files in the filesystem of an image, through a cache of its
// blocks.
func creates(args []string) error {
	fs := flag.NewFlagSet("creates", flag.ExitOnError)
	files := fs.Int("files", 1000, "files to make")
	dirs := fs.Int("dirs", 100, "directories to make them in, by turns")
	age := fs.Int64("age", 0, "operations after which a change is written; -1 for at once, or 0 for the default")
	limit := fs.Int64("limit", 64, "MiB of blocks in memory")
	memory := fs.Bool("memory", false, "write to memory, not to the image")
	fs.Parse(args)
	if fs.NArg() != 1 {
		return fmt.Errorf("one image, please")
	}
	f, err := os.OpenFile(fs.Arg(0), os.O_RDWR|unix.O_DIRECT, 0)
	if errors.Is(err, unix.EINVAL) {
		f, err = os.OpenFile(fs.Arg(0), os.O_RDWR, 0)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	ring, err := aio.Open(int(f.Fd()), aio.Config{Depth: deep})
	if err != nil {
		return err
	}
	defer ring.Close()
	r := buffer.Ring(ring)
	if *memory {
		r = &memoryRing{f: f, pages: map[int64][]byte{}}
	}
	m, err := openMaker(f, r, buffer.Config{Age: *age, Limit: *limit << 20, Memory: aio.NewSlab})
	if err != nil {
		return err
	}
	before, started := userTime(), time.Now()
	if err := m.tree(*dirs, *files); err != nil {
		return err
	}
	if err := ring.Sync(); err != nil {
		return err
	}
	res := createsResult{Seconds: time.Since(started).Seconds(), User: userTime() - before, Stats: m.fs.Cache.Stats()}
	res.Saved, res.Depth = res.Stats.Saved(), ring.Stats().AverageDepth
	if err := m.fs.Cache.Release(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// userTime is what this process has used of the processor, but for the kernel, in seconds.
func userTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano()).Seconds()
}

// maker makes files.
type maker struct {
	fs   *live.FS
	dirs *dir.Dirs
	attr *attr.FS
	root *inode.Inode
}

// openMaker opens the filesystem of an image.
func openMaker(f *os.File, ring buffer.Ring, cfg buffer.Config) (*maker, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	start, release, err := aio.NewSlab(super.ReadSize)
	if err != nil {
		return nil, err
	}
	defer release()
	if _, err := f.ReadAt(start, 0); err != nil {
		return nil, err
	}
	var wrong []error
	s := super.Read(start, info.Size(), func(message string) { wrong = append(wrong, errors.New(message)) })
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	g := &s.Geometry
	cfg.Device = f.Name()
	cfg.Place = func(off int64) int64 { return off / int64(g.Bytes(g.AGBlocks)) }
	generation := uint32(0)
	fs := &live.FS{
		G: g, V5: s.V5, UUID: s.MetaUUID, Cache: buffer.New(ring, cfg),
		Counts: live.Counts{
			Inodes: s.SB.InodeCount, FreeInodes: s.SB.FreeInodes, FreeBlocks: geometry.Blocks(s.SB.FreeBlocks),
		},
		Now:        func() (int64, uint32) { return 1e9, 0 },
		Generation: func() uint32 { generation++; return generation },
	}
	m := &maker{fs: fs, dirs: dir.New(fs), attr: attr.New(fs, nil)}
	t := fs.Begin(0)
	if m.root, err = inode.Read(t, g.RootInode()); err != nil {
		return nil, err
	}
	return m, t.Commit()
}

// tree makes directories, and files in them by turns, and writes all that is changed.
func (m *maker) tree(dirs, files int) error {
	list := make([]*inode.Inode, dirs)
	for i := range list {
		var err error
		if list[i], err = m.create(m.root, fmt.Sprintf("dir%d", i), ondisk.ModeDirectory|0o755); err != nil {
			return err
		}
	}
	for i := range files {
		ip, err := m.create(list[i%dirs], fmt.Sprintf("file%d", i), ondisk.ModeRegular|0o644)
		if err != nil {
			return err
		}
		ip.Release()
	}
	if err := m.counters(); err != nil {
		return err
	}
	return m.fs.Cache.Flush()
}

// createBlocks is more than a creation takes.
const createBlocks = 100

func (m *maker) create(parent *inode.Inode, name string, mode uint16) (*inode.Inode, error) {
	t := m.fs.Begin(createBlocks)
	ino, ok, err := ialloc.Alloc(t, parent, mode)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: no inode: %w", name, err)
	}
	ip, err := ialloc.Create(t, ino, parent, ialloc.New{Mode: mode})
	if err != nil {
		return nil, err
	}
	ftype := uint8(1)
	if ip.IsDir() {
		ftype = 2
		m.dirs.Init(t, ip, parent.Ino)
		parent.Core.Nlink++
	}
	ok, err = m.dirs.Add(t, parent, name, ino, ftype, createBlocks)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: no room in the directory: %w", name, err)
	}
	parent.Log(t)
	if m.fs.G.Features.Parent {
		link := attr.Link{Dir: parent.Ino, Generation: parent.Core.Generation, Name: []byte(name)}
		if err := m.attr.AddParent(t, ip, link); err != nil {
			return nil, err
		}
	}
	return ip, t.Commit()
}

// counters puts those of the filesystem into its superblock.
func (m *maker) counters() error {
	kind := &buffer.Kind{Name: "superblock"}
	if m.fs.V5 {
		kind.Seal = func(b []byte) { ondisk.Seal(b, ondisk.SuperblockCRC) }
	}
	b, err := m.fs.Cache.Get(0, int(m.fs.G.SectorSize), kind)
	if err != nil {
		return err
	}
	c := &m.fs.Counts
	m.fs.Cache.Dirty(b)
	ondisk.SetCounters(b.Data, c.Inodes, c.FreeInodes, uint64(c.FreeBlocks))
	m.fs.Cache.Unpin(b)
	return nil
}
