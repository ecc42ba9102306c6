package main

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// These workloads make and move names: files, folders, links.

func files(s *site, n int) {
	for i := range n {
		if i%100 == 0 {
			s.mkdir(s.name("d%d", i/100))
		}
		name := s.name("d%d/f%d", i/100, i)
		s.file(name, s.rng.IntN(6000))
		if i%70 == 0 {
			s.fsync(name)
		}
		if i == n/2 {
			s.syncfs()
		}
	}
}

func unlinks(s *site, n int) {
	files(s, n)
	s.syncfs()
	for i := range n {
		if i%17 != 0 {
			s.remove(s.name("d%d/f%d", i/100, i))
		}
		if i == n/2 {
			s.fsync(s.name("d0"))
		}
	}
}

func renames(s *site, n int) {
	s.mkdir(s.name("a"))
	s.mkdir(s.name("b"))
	for i := range n {
		s.file(s.name("a/%d", i), i%7*1000)
	}
	s.syncfs()
	for i := range n {
		at, to := s.name("a/%d", i), s.name("b/%d renamed", i)
		switch i % 6 {
		case 0: // within a folder
			s.rename(at, s.name("a/%d and a longer name than before", i), unix.RENAME_NOREPLACE)
		case 1: // to another
			s.rename(at, to, 0)
		case 2: // over a file that is there
			s.file(to, 5000)
			s.rename(at, to, 0)
		case 3: // both names stay
			s.file(to, 10)
			s.rename(at, to, unix.RENAME_EXCHANGE)
		case 4: // a device is left in its place
			s.rename(at, to, unix.RENAME_WHITEOUT)
		case 5: // a folder, over an empty one
			s.mkdir(s.name("a/dir%d", i))
			s.file(s.name("a/dir%d/in it", i), 1)
			s.mkdir(s.name("b/dir%d", i))
			s.rename(s.name("a/dir%d", i), s.name("b/dir%d", i), 0)
		}
		if i == 2*n/3 {
			s.fsync(s.name("b"))
		}
	}
}

func links(s *site, n int) {
	s.file(s.name("one"), 1000)
	s.mkdir(s.name("d"))
	for i := range n {
		s.link(s.name("one"), s.name("d/link%d", i))
		if i%100 == 99 {
			s.fsync(s.name("one"))
		}
	}
	for i := 0; i < n; i += 3 {
		s.remove(s.name("d/link%d", i))
	}
	s.fsync(s.name("one"))
}

func symlinks(s *site, n int) {
	for i := range n {
		s.symlink(strings.Repeat("x/", 1+s.rng.IntN(510))+"e", s.name("long%d", i))
		s.symlink(strings.Repeat("s", 1+i%300), s.name("short%d", i))
		if i%5 == 0 {
			s.xattr(s.name("long%d", i), "trusted.of-a-link", 100)
		}
		if i%3 == 0 {
			s.remove(s.name("long%d", i))
		}
		if i == n/2 {
			s.syncfs()
		}
	}
}

// names has bytes of all kinds in them, and lengths up to the longest.
func names(s *site, n int) {
	for i := range n {
		b := make([]byte, 1+s.rng.IntN(240))
		for k := range b {
			if b[k] = byte(1 + s.rng.IntN(255)); b[k] == '/' {
				b[k] = '\n'
			}
		}
		s.file(s.dir+"/"+string(b)+fmt.Sprint(i), i%3*100)
		if i == n/2 {
			s.syncfs()
		}
	}
}

func specials(s *site, n int) {
	for i := range n {
		dev := unix.Mkdev(s.rng.Uint32N(512), s.rng.Uint32N(1<<18)) // the most that XFS takes
		s.mknod(s.name("fifo%d", i), unix.S_IFIFO|0o640, 0)
		s.mknod(s.name("socket%d", i), unix.S_IFSOCK|0o600, 0)
		s.mknod(s.name("char%d", i), unix.S_IFCHR|0o666, dev)
		s.mknod(s.name("block%d", i), unix.S_IFBLK|0o660, dev)
		s.xattr(s.name("char%d", i), "security.of-a-device", 30)
		if i%4 == 0 {
			s.remove(s.name("char%d", i))
			s.file(s.name("char%d", i), 2000)
		}
	}
	s.fsync(s.dir)
}

func owners(s *site, n int) {
	for i := range n {
		name := s.name("f%d", i)
		s.file(name, 3000)
		s.do("chown", func() error { return unix.Chown(name, i*1000003%(1<<31), i) })
		s.do("chmod", func() error { return unix.Chmod(name, uint32(i*37)%0o10000) })
		s.attributes(name, func(a *fsxattr) { a.project, a.flags = uint32(i)<<20|7, a.flags|noDump })
		if i == n/2 {
			s.syncfs()
		}
		empty := s.name("hint%d", i)
		s.file(empty, 0)
		s.attributes(empty, func(a *fsxattr) { a.extent, a.flags = 1<<17, a.flags|hasExtentHint })
		s.write(empty, 200000, 3000)
		dir := s.name("dir%d", i)
		s.mkdir(dir)
		s.attributes(dir, func(a *fsxattr) {
			a.extent, a.project, a.flags = 1<<16, uint32(i), a.flags|inheritsHint|inheritsID
		})
		s.file(dir+"/heir", 100)
	}
	s.fsync(s.name("f0"))
}

// dirs takes folders through their formats, from inside the inode to a btree
// of n names, and some of them back. The names are links: no inodes are needed.
func dirs(s *site, n int) {
	const targets = 40
	for i := range targets {
		s.file(s.name("target%d", i), 10)
	}
	for _, size := range []int{2, 20, 120, 700, n} {
		for _, kind := range []string{"grown", "shrunk", "emptied"} {
			dir := s.name("%s%d", kind, size)
			entry := func(i int) string { return fmt.Sprintf("%s/an entry with a name, number %d", dir, i) }
			s.mkdir(dir)
			for i := range size {
				s.link(s.name("target%d", i%targets), entry(i))
			}
			if size == 700 {
				s.syncfs()
			}
			for i := range size {
				if kind == "emptied" || kind == "shrunk" && i%10 != 0 {
					s.remove(entry(i))
				}
			}
		}
	}
	s.fsync(s.dir)
}

// chunks makes many inodes and removes nearly all: chunks of them are freed.
func chunks(s *site, n int) {
	for i := range n {
		if i%1000 == 0 {
			s.mkdir(s.name("d%d", i/1000))
		}
		s.mknod(s.name("d%d/%d", i/1000, i), unix.S_IFREG|0o644, 0)
	}
	s.syncfs()
	for i := range n {
		if i%500 != 0 {
			s.remove(s.name("d%d/%d", i/1000, i))
		}
	}
	s.syncfs()
	for i := range n / 10 {
		s.file(s.name("again%d", i), 0)
	}
}
