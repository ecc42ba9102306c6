package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// victim is a mounted filesystem that work is done in, until it is shut down.
type victim struct {
	context.Context
	at    *mounted
	rng   *rand.Rand
	crowd *crowd
	down  atomic.Bool
}

// rng depends on the case, and on what it is for.
func (j *judge) rng(c crash, purpose string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, c.name, "\n", purpose)
	return rand.New(rand.NewPCG(j.seed, h.Sum64()))
}

// dirty makes a case's image and crashes it.
func (j *judge) dirty(ctx context.Context, c crash, dir string) (image, error) {
	m := image{data: filepath.Join(dir, "dirty.img"), sector: max(c.sector, 512)}
	if c.log > 0 {
		m.log = filepath.Join(dir, "dirty.log")
	}
	if err := j.format(c, m); err != nil {
		return m, err
	}
	rng := j.rng(c, "work")
	words := strings.Fields(c.work)
	for round := 0; ; round++ {
		n := 0
		for n < len(words) && words[n] != "crash" {
			n++
		}
		if err := j.session(ctx, c, m, fmt.Sprintf("%d-", round), words[:n], rng); err != nil {
			return m, err
		}
		if n == len(words) {
			break
		}
		words = words[n+1:]
	}
	if c.torn == "" {
		return m, nil
	}
	return m, damaged(m, c.torn)
}

// format makes the files of an image, and the filesystem.
func (j *judge) format(c crash, m image) error {
	var u undo
	defer u.run()
	argv := append([]string{j.mkfs, "-q"}, strings.Fields(c.mkfs)...)
	if c.preset != "" {
		if j.conf == "" {
			return skip("no -conf")
		}
		preset := filepath.Join(j.conf, c.preset)
		if _, err := os.Stat(preset); err != nil {
			return skip("%v", err)
		}
		argv = append(argv, "-c", "options="+preset)
	}
	for file, mib := range map[string]int64{m.data: c.size, m.log: c.log} {
		if file == "" {
			continue
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
		if err := os.Truncate(file, mib<<20); err != nil {
			return err
		}
	}
	if m.log != "" {
		log, err := attach(&u, m.log, m.sector, false)
		if err != nil {
			return err
		}
		argv = append(argv, "-l", "logdev="+log)
	}
	_, err := command(append(argv, m.data)...)
	return err
}

// session mounts an image, works in it, and shuts it down in the midst of that.
func (j *judge) session(ctx context.Context, c crash, m image, prefix string, words []string, rng *rand.Rand) error {
	at, err := m.mount(j.mnt, readWrite, c.mount)
	if errors.As(err, new(refused)) {
		return skip("%v", err)
	} else if err != nil {
		return err
	}
	defer at.unmount()
	v := &victim{Context: ctx, at: at, rng: rng, crowd: &crowd{}}
	err = v.work(prefix, words)
	v.down.Store(true)
	flag := noLogFlush
	if c.flush {
		flag = logFlush
	}
	return errors.Join(err, ioctlOn(at.dir, goingDown, &flag), v.crowd.disperse())
}

func (v *victim) work(prefix string, words []string) error {
	for i, word := range words {
		name, amount, given := strings.Cut(strings.TrimPrefix(word, "&"), "=")
		w, ok := workloads[name]
		if !ok {
			return fmt.Errorf("%q is no workload", word)
		}
		if given {
			var err error
			if w.n, err = strconv.Atoi(amount); err != nil {
				return fmt.Errorf("%q: %w", word, err)
			}
		}
		dir := filepath.Join(v.at.dir, fmt.Sprintf("%s%d-%s", prefix, i, name))
		if word[0] == '&' {
			v.background(dir, name, w)
			continue
		}
		s := v.site(dir, rand.New(rand.NewPCG(v.rng.Uint64(), 0)))
		if w.n > 0 && name != "pause" {
			s.mkdir(dir)
		}
		if w.run(s, w.n); s.err != nil {
			return fmt.Errorf("%s: %w", word, s.err)
		}
	}
	return nil
}

func (v *victim) site(dir string, rng *rand.Rand) *site {
	return &site{Context: v, root: v.at.dir, dir: dir, device: v.at.device, rng: rng, crowd: v.crowd}
}

// background repeats a workload until nothing works any more.
func (v *victim) background(dir, name string, w workload) {
	rng := rand.New(rand.NewPCG(v.rng.Uint64(), 1))
	v.crowd.writers.Go(func() {
		s := v.site(dir, rng)
		s.mkdir(dir)
		for round := 0; s.err == nil && !v.down.Load(); round++ {
			s.dir = filepath.Join(dir, strconv.Itoa(round))
			s.mkdir(s.dir)
			w.run(s, w.n)
		}
		if s.full(); s.err != nil && !v.down.Load() {
			v.crowd.failed(fmt.Errorf("in the background: %s: %w", name, s.err))
		}
	})
}
