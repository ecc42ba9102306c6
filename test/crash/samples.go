package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// sampled are the cases of which samples are made: small, and with content
// that compresses.
var sampled = []crash{
	{name: "creates", size: 24, work: "files=200 names=40 collect", flush: true, exit: done},
	{name: "wrapped", size: 24, mkfs: "-l su=32k", work: "fsyncs=480 files=60 links=60 collect", flush: true, exit: done},
	{name: "sectors", size: 24, mkfs: "-s size=4096 -l su=64k", sector: 4096,
		work: "fsyncs=60 files=70 symlinks=10 collect", flush: true, exit: done},
	{name: "formats", size: 32, work: "xattrs=8 symlinks=25 dirs=800 specials=4 collect", flush: true, exit: done},
	{name: "reflink", size: 24, work: "reflinks=8 fragments=200 collect", flush: true, exit: done},
	{name: "orphans", size: 24, work: "files=60 orphans=12", flush: true, exit: unfinished},
	{name: "chunks", size: 24, work: "chunks=700 collect", flush: true, exit: done},
	{name: "tail", size: 24, work: "files=150 freeze renames=60 collect sync names=80", exit: done},
}

// samples makes an image of each kind, NAME.img.gz, and says in NAME.txt what
// the kernel makes of it.
func (j *judge) samples(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range sampled {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := j.sample(ctx, c, filepath.Join(dir, c.name)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (j *judge) sample(ctx context.Context, c crash, name string) error {
	dir, err := os.MkdirTemp(j.work, "sample")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := &trial{judge: j, Context: ctx, crash: c, dir: dir}
	if t.dirty, err = j.dirty(ctx, c, dir); err != nil {
		return err
	}
	if err := t.ask(); err != nil {
		return err
	}
	if t.exit, err = t.recover(); err != nil {
		return err
	}
	text := fmt.Sprintf("exit %d\nlog %d %d\n", t.exit, t.layout.log.start, t.layout.log.end-t.layout.log.start)
	if t.exit == done {
		if err := sameBytes(t); err != nil {
			return err
		}
		hash, err := sum(t.kernel.data, t.layout.volatile()...)
		if err != nil {
			return err
		}
		text += "sha256 " + hash + "\n"
	}
	text += fmt.Sprintf("icount %d\nifree %d\nfdblocks %d\n", t.layout.icount, t.layout.ifree, t.layout.fdblocks)
	if err := os.WriteFile(name+".txt", []byte(text), 0o644); err != nil {
		return err
	}
	size, err := compress(t.dirty.data, name+".img.gz")
	if err == nil {
		fmt.Printf("%s: exit=%d, %d bytes\n", name, t.exit, size)
	}
	return err
}

func compress(from, to string) (size int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(z, in)
	err = errors.Join(err, z.Close())
	info, e := out.Stat()
	if err = errors.Join(err, e, out.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}
