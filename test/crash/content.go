package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// These workloads change what is in files: extents, attributes, sharing.

// orphans are unlinked while they are open: with blocks and without, with
// attributes inside the inode and outside.
func orphans(s *site, n int) {
	for i := range n {
		name := s.name("orphan%d", i)
		s.file(name, i%4*20000)
		if i%3 == 1 {
			s.xattr(name, "user.small", 20)
		}
		if i%3 == 2 {
			s.xattr(name, "user.large", 30000)
		}
		s.hold(name, os.O_RDWR)
		if i == n/2 {
			s.syncfs()
		}
		s.remove(name)
	}
	s.fsync(s.dir)
}

// tmpfiles have no name; every other one is given one later.
func tmpfiles(s *site, n int) {
	for i := range n {
		f := s.hold(s.dir, unix.O_TMPFILE|os.O_RDWR)
		s.do("temporary file", func() error {
			_, err := f.Write(s.text(i * 500))
			return err
		})
		if i%2 == 0 {
			s.do("link", func() error {
				from := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
				return unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, s.name("named%d", i), unix.AT_SYMLINK_FOLLOW)
			})
		}
	}
	s.fsync(s.dir)
}

func xattrWork(s *site, n int) {
	// A list of control: version 2, an entry for user, a user, group, mask and others.
	acl := "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\xe8\x03\x00\x00" +
		"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x04\x00\xff\xff\xff\xff"
	for i := range n {
		name := s.name("f%d", i)
		if i%5 == 4 {
			s.mkdir(name)
		} else {
			s.file(name, i*10)
		}
		for k := range i + 1 {
			s.xattr(name, fmt.Sprintf("user.number%d", k), s.rng.IntN(300))
		}
		s.xattr(name, "trusted.half", 2000)
		s.xattr(name, "security.longest", 65536)
		s.xattr(name, "user.replaced", 20000)
		s.do("acl", func() error { return unix.Lsetxattr(name, "system.posix_acl_access", []byte(acl), 0) })
		if i == n/2 {
			s.syncfs()
		}
		s.xattr(name, "user.replaced", s.rng.IntN(60000))
		s.xattr(name, "trusted.half", 10)
		for k := 0; k < i; k += 2 {
			s.unxattr(name, fmt.Sprintf("user.number%d", k))
		}
		if i%3 == 0 {
			s.unxattr(name, "security.longest")
		}
	}
	s.fsync(s.name("f0"))
}

// bigattr gives one file so many attributes that their fork is a btree, if
// free space is shattered, and takes a part of them away.
func bigattr(s *site, n int) {
	name := s.name("f")
	s.file(name, 100)
	for i := range n {
		s.xattr(name, fmt.Sprintf("user.attribute %d", i), 100+i%9*400)
		if i == n/2 {
			s.syncfs()
		}
	}
	for i := 0; i < n; i += 3 {
		s.unxattr(name, fmt.Sprintf("user.attribute %d", i))
	}
	s.fsync(name)
}

func sparse(s *site, n int) {
	const (
		keep  = unix.FALLOC_FL_KEEP_SIZE
		punch = unix.FALLOC_FL_PUNCH_HOLE | keep
		unit  = 1 << 16 // a multiple of all block sizes
	)
	for i := range n {
		name := s.name("f%d", i)
		at := func() int64 { return s.rng.Int64N(16) * unit }
		s.file(name, 20*unit)
		s.allocate(name, 0, 30*unit, 4*unit)
		s.allocate(name, keep, 40*unit, 2*unit)
		s.write(name, 32*unit, 10000)
		if i%5 == 0 {
			s.fsync(name)
		}
		s.allocate(name, punch, at()+100, unit)
		s.allocate(name, punch, at(), 2*unit)
		s.allocate(name, unix.FALLOC_FL_ZERO_RANGE, at(), unit)
		s.allocate(name, unix.FALLOC_FL_COLLAPSE_RANGE, at(), unit)
		s.allocate(name, unix.FALLOC_FL_INSERT_RANGE, at(), 2*unit)
		s.write(name, 1<<40+int64(i), 100)
		s.truncate(name, 1<<50)
		if i == n/2 {
			s.syncfs()
		}
	}
	s.fsync(s.name("f%d", n-1))
}

func truncates(s *site, n int) {
	for i := range n {
		name := s.name("f%d", i)
		s.file(name, 100000)
		s.fsync(name)
		s.truncate(name, s.rng.Int64N(90000))
		s.truncate(name, 200000)
		s.write(name, 150000, 20000)
		if i%3 == 0 {
			s.truncate(name, 0)
		}
	}
	s.syncfs()
	for i := range n {
		s.truncate(s.name("f%d", i), int64(i*1001))
	}
	s.fsync(s.name("f0"))
}

// fragments makes a file of n extents, with holes between them, changes some,
// and frees a part of its btree.
func fragments(s *site, n int) {
	var st unix.Statfs_t
	s.do("statfs", func() error { return unix.Statfs(s.root, &st) })
	block, name := st.Bsize, s.name("f")
	s.allocate(name, 0, 0, 2*int64(n)*block)
	for i := range n {
		s.allocate(name, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(2*i)*block, block)
		if i == n/2 {
			s.fsync(name)
		}
	}
	for range n / 10 {
		s.write(name, s.rng.Int64N(int64(n))*block*2, 100)
	}
	s.fsync(name)
	s.truncate(name, int64(n)*block)
	s.fsync(name)
}

// shatter leaves no two free blocks side by side in what it takes. Folders
// before that see to it that there are free inodes in all groups.
func shatter(s *site, n int) {
	for i := range 32 {
		s.mkdir(s.name("before%d", i))
	}
	var st unix.Statfs_t
	s.do("statfs", func() error { return unix.Statfs(s.root, &st) })
	s.allocate(s.name("f"), 0, 0, 2*int64(n)*st.Bsize)
	for i := range n {
		s.allocate(s.name("f"), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(2*i)*st.Bsize, st.Bsize)
	}
	s.syncfs()
	// What else is free is taken, and also a half of these, as some blocks are
	// kept in reserve: the allocator prefers those that are side by side.
	for i, take := 0, int64(1)<<62; take > 1<<16 && s.err == nil; i++ {
		s.do("statfs", func() error { return unix.Statfs(s.root, &st) })
		take = min(take, (int64(st.Bavail)-int64(n)/2)*st.Bsize)
		err := s.try(func() { s.allocate(s.name("rest%d", i), 0, 0, max(take, 1)) })
		if errors.Is(err, unix.ENOSPC) {
			take /= 2
		}
	}
	s.syncfs()
}

// try runs steps whose failure is no error of the workload; it returns it.
func (s *site) try(f func()) error {
	f()
	err := s.err
	s.err = s.Err()
	return err
}

// full forgives that there is no more space.
func (s *site) full() {
	if errors.Is(s.err, unix.ENOSPC) {
		s.err = nil
	}
}

func reflinks(s *site, n int) {
	const unit = 1 << 16
	s.file(s.name("origin"), 16*unit)
	s.fsync(s.name("origin"))
	for i := range n {
		name := s.name("clone%d", i)
		s.clone(s.name("origin"), name, 0, 0, 0)
		s.clone(s.name("origin"), name, s.rng.Int64N(8)*unit, 4*unit, (20+s.rng.Int64N(30))*unit)
		if i == n/2 {
			s.syncfs()
		}
		if i%3 == 0 {
			s.remove(name)
		} else if i%3 == 1 {
			s.truncate(name, 5*unit)
		}
	}
	s.fsync(s.name("origin"))
}

// cow writes over shared extents, and waits for only a part of that: space that
// was set aside for more of them stays behind.
func cow(s *site, n int) {
	const unit = 1 << 16
	s.file(s.name("origin"), 64*unit)
	s.fsync(s.name("origin"))
	for i := range n {
		name := s.name("clone%d", i)
		s.clone(s.name("origin"), name, 0, 0, 0)
		s.attributes(name, func(a *fsxattr) { a.cow, a.flags = 1<<18, a.flags|hasCowHint })
		for range 8 {
			s.write(name, s.rng.Int64N(60)*unit, 3000)
		}
		if i%2 == 0 {
			s.fsync(name)
		}
		if i == n/2 {
			s.syncfs()
		}
	}
}

func dedupes(s *site, n int) {
	const size = 1 << 18
	s.file(s.name("a0"), size)
	for i := 1; i < n; i++ {
		s.do("copy", func() error { return copySparse(s.name("a0"), s.name("a%d", i)) })
		s.dedupe(s.name("a0"), s.name("a%d", i), size)
		if i%4 == 0 {
			s.write(s.name("a%d", i), 70000, 5000)
		}
	}
	s.fsync(s.name("a0"))
}

// exchanges swaps the extents of pairs of files, each with many.
func exchanges(s *site, n int) {
	const unit = 1 << 16
	for i := range n {
		a, b := s.name("a%d", i), s.name("b%d", i)
		for k := range int64(40) {
			s.write(a, 2*k*unit, 5000)
			s.write(b, (2*k+1)*unit, 5000)
		}
		s.truncate(a, 80*unit)
		s.truncate(b, 80*unit)
		s.fsync(a)
		s.fsync(b)
		s.exchange(a, b, 60*unit)
		if i%2 == 0 {
			s.fsync(b)
		}
	}
}
