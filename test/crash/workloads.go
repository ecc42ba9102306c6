package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// workload is a kind of work; n is how much of it.
type workload struct {
	n   int
	run func(s *site, n int)
}

// workloads by the names that cases call them by. "name=N" does N of it, and
// "&name" does it again and again, until the filesystem is gone.
var workloads = map[string]workload{
	"files":     {1000, files},
	"unlinks":   {1000, unlinks},
	"renames":   {300, renames},
	"links":     {500, links},
	"orphans":   {60, orphans},
	"tmpfiles":  {40, tmpfiles},
	"symlinks":  {300, symlinks},
	"specials":  {60, specials},
	"owners":    {100, owners},
	"dirs":      {4000, dirs},
	"names":     {300, names},
	"chunks":    {4000, chunks},
	"xattrs":    {40, xattrWork},
	"bigattr":   {1500, bigattr},
	"sparse":    {20, sparse},
	"truncates": {60, truncates},
	"fragments": {1000, fragments},
	"shatter":   {2000, shatter},
	"reflinks":  {20, reflinks},
	"cow":       {20, cow},
	"dedupe":    {20, dedupes},
	"exchange":  {6, exchanges},
	"fill":      {1 << 20, fill},
	"wrap":      {16, wrap},
	"churn":     {40, churn},
	"fsyncs":    {20, fsyncs},

	"sync":     {0, func(s *site, _ int) { s.syncfs() }},
	"freeze":   {0, frozen},
	"collect":  {0, collected},
	"grow":     {0, grow},
	"label":    {0, label},
	"pause":    {150, pause},
	"removals": {0, removals},
}

func pause(s *site, ms int) {
	select {
	case <-s.Done():
	case <-time.After(time.Duration(ms) * time.Millisecond):
	}
}

// frozen writes all metadata back: the log's tail goes to its head.
func frozen(s *site, _ int) {
	s.do("freeze", func() error { return ioctlOn(s.root, freeze, new(int32)) })
	s.do("thaw", func() error { return ioctlOn(s.root, thaw, new(int32)) })
}

// collected waits for what the kernel does later: freeing unlinked inodes, and
// space that is allocated for nothing.
func collected(s *site, _ int) {
	s.do("collect", func() error { return ioctlOn(s.root, freeBlocks, &collect{version: 1, flags: 1}) })
}

// grow takes the device's size.
func grow(s *site, _ int) {
	s.do("grow", func() error {
		sectors, err := os.ReadFile("/sys/block/" + s.device + "/size")
		if err != nil {
			return err
		}
		var st unix.Statfs_t
		if err := unix.Statfs(s.root, &st); err != nil {
			return err
		}
		var n uint64
		fmt.Sscan(string(sectors), &n)
		return ioctlOn(s.root, growData, &growth{blocks: n * 512 / uint64(st.Bsize), inodes: 20})
	})
}

func label(s *site, _ int) {
	var text [256]byte
	copy(text[:], fmt.Sprintf("crash%x", s.rng.Uint32N(1<<24)))
	s.do("label", func() error { return ioctlOn(s.root, setLabel, &text) })
}

// logged is how many bytes the kernel has written to the log since the mount.
func (s *site) logged() (n int64) {
	s.do("statistics", func() error {
		text, err := os.ReadFile("/sys/fs/xfs/" + s.device + "/stats/stats")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			var writes, blocks int64
			if k, _ := fmt.Sscanf(line, "log %d %d", &writes, &blocks); k == 2 {
				n = blocks * 512
				return nil
			}
		}
		return fmt.Errorf("no line about the log")
	})
	return n
}

// wrap makes and removes until n MiB of log have been written.
func wrap(s *site, n int) {
	start := s.logged()
	for round := 0; s.err == nil && s.logged()-start < int64(n)<<20; round++ {
		dir := s.name("wrap%d", round)
		s.mkdir(dir)
		for i := range 200 {
			s.file(fmt.Sprintf("%s/%d", dir, i), i%16/15*1000)
			s.xattr(fmt.Sprintf("%s/%d", dir, i), "user.logged", 1000+s.rng.IntN(2000))
		}
		s.fsync(dir)
		for i := range 200 {
			if round%8 != 7 || i%3 != 0 {
				s.remove(fmt.Sprintf("%s/%d", dir, i))
			}
		}
		if round%8 != 7 {
			s.remove(dir)
		}
	}
}

// fill writes until no space is left, frees a little, and fills that.
func fill(s *site, size int) {
	for i := 0; s.err == nil; i++ {
		s.file(s.name("fill%d", i), size+s.rng.IntN(4096))
	}
	s.full()
	for i := 0; i < 6 && s.err == nil; i += 2 {
		s.remove(s.name("fill%d", i))
	}
	for i := 0; s.err == nil && i < 2000; i++ {
		s.file(s.name("small%d", i), s.rng.IntN(8192))
	}
	s.full()
	s.syncfs()
	s.full()
}

// churn is a bit of everything, over and over in the same place.
func churn(s *site, n int) {
	for i := range n {
		a, b := s.name("a%d", s.rng.IntN(n)), s.name("b%d", s.rng.IntN(n))
		s.file(a, s.rng.IntN(20000))
		s.xattr(a, "user.x", s.rng.IntN(3000))
		s.write(a, s.rng.Int64N(1<<20), 5000)
		s.truncate(a, s.rng.Int64N(100000))
		s.rename(a, b, 0)
		if i%4 == 0 {
			s.remove(b)
		}
		if i%10 == 0 {
			s.file(b, 100)
			s.fsync(b)
		}
	}
}

// fsyncs changes little, and has each change logged by itself.
func fsyncs(s *site, n int) {
	name := s.name("log")
	for i := range n {
		s.write(name, s.rng.Int64N(1<<20), 200)
		s.do("chmod", func() error { return unix.Chmod(name, 0o600|uint32(i)&7) })
		s.fsync(name)
	}
}

// removals removes what all workloads before it have left, but the newest.
func removals(s *site, _ int) {
	s.do("removals", func() error {
		entries, err := os.ReadDir(s.root)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if p := s.root + "/" + e.Name(); p != s.dir && s.Err() == nil {
				// Another workload may still be filling it.
				if err := os.RemoveAll(p); err != nil && !errors.Is(err, syscall.ENOTEMPTY) {
					return err
				}
			}
		}
		return nil
	})
}
