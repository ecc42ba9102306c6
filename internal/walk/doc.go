// Package walk is the source of a tree that is a directory of the host.
//
// # What is taken
//
// The order is that of mkfs.xfs -p DIR (walk_dir and handle_direntry in mkfs/proto.c): the names of
// a directory as the host lists them, each directory with all that is in it before the next name.
// Directories that others are mounted on are walked into. Of the directory itself, the root, mode,
// owner and attributes are taken, but no times.
//
//   - With Options.Sorted, names and attributes come in the order of their bytes instead. The names of
//     the directories on the way from the root are then in memory.
//   - Times are those of modification; of access only with Options.Accessed. They do not change
//     on the host by being read, where it lets us (O_NOATIME).
//   - A file of several names is known by device and inode number. mkfs.xfs goes by the inode
//     number alone, which files of two mounts may share.
//   - Extended attributes come in the order in which the host lists them, of all kinds of files.
//     Empty ones are left out, as by mkfs.xfs (writeattr).
//   - FIFOs, sockets and devices are never opened: that could block, or do something.
//   - Data is what the host says (SEEK_DATA, SEEK_HOLE). The size of a file is that at first look: what
//     it grows by later does not count, and when it has shrunk, that is an error.
//   - Symbolic links of more than 1023 bytes are refused. mkfs.xfs refuses some and makes others
//     that cannot be read.
//
// Files are opened by their name in the open directory, and no symbolic link is followed, so that
// changes during the walk do not lead out of the tree. Trees may be as deep as the host lets them: of
// the directories on the way only some are open. When the walk comes back to another one, it opens it
// as the .. of the one below, and looks whether it is the same. The names that are left in it have
// been read before it was closed, since not all hosts find their place in a directory again.
//
// # How it is done
//
//	lister  --(batches of names)-->  readers  --(batches of entries)-->  Source.Next
//
// The lister goes through the names, and opens directories. It knows the type of a file from its
// directory, mostly. Readers do the rest for a batch at a time: open, status, attributes, contents. Next
// hands out the entries of the batches in the order of the lister. Batches go round: their memory, and
// what they keep open, is all that is ahead of the consumer. A batch whose files do not fit into its
// memory at once is read in several goes.
//
// Files of up to 64 KiB are read ahead and are closed again; larger ones stay open until they have been
// copied. A small file costs five calls: open, status, names of attributes, read, close. Whether it has
// holes is asked only if a sector of it holds but zeros. io_uring was left aside: it gives the status of
// a file to a thread of the kernel, and cannot list attributes.
//
// # What a survey remembers
//
// A survey reads files of up to 512 bytes as a walk does, and remembers them whole, with all that is
// no directory and has no data: 24 MiB of it, which are some 600,000 files of a few bytes. A later
// Open goes through the names again, and asks nothing about a file that has the same inode number,
// type and name in the same directory. It is what it was in the survey, with attributes and data, as at
// one moment: what is changed in place later does not count. A file that was put in the place of
// another is seen, unless the host gives it the number of the old one again and its type is the same.
// What was added is read, what was removed is not there. Where more than 64 files in a row have been
// removed, the rest is asked for anew, as are files behind the end of the memory. Forget ends all this,
// so that who compares sees what there is now.
//
// Of other files a survey asks for status and attributes by name, two calls, and opens only those of
// which the host has fewer bytes than their size. Whether a file can be read is known of local
// filesystems by rights and mode; else the kernel is asked, without opening the file. Which of the two
// ways is taken, a reader decides by the size of the last file that it had. An Open reads these files
// anew: size, status and attributes are of that time.
//
// Figures, per file, of 100,000 files of 5 bytes in 4 directories on tmpfs, on a virtual machine with two
// processors on which the least system call takes 0.2 us (BenchmarkWalk); 85 % of it is the kernel's.
// They are of a processor, not by the clock, and beside other work, a load of 10:
//
//	survey that remembers        6.4 us
//	entries that are remembered  0.8 us, most of it for the names
//	entries read anew            6.6 us
//	survey by name               2.9 to 4.0 us
//
// One, two and four readers take the same time of the processors.
package walk
