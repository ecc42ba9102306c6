package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"mkfs/internal/aginit"
	"mkfs/internal/filling"
	"mkfs/internal/identity"
	"mkfs/internal/tree"
)

// openFilling finds what -p names.
func (j *job) openFilling() (err error) {
	q := &j.parser.Request.Proto
	if !q.Path.Given {
		return nil
	}
	if j.ensure {
		return usageError{errors.New("--ensure does not go together with -p: what is kept may hold other files")}
	}
	j.filling, err = filling.Open(filling.Request{
		Path: q.Path.Value, Slashes: q.SlashesAreSpaces.Value, AccessTimes: q.AccessTimes.Value, SkipUnreadable: j.skipUnreadable,
		Sorted: j.reproducible.Given,
	})
	if err != nil {
		return err
	}
	var written []string
	for _, c := range j.claims.All() {
		written = append(written, c.Path)
	}
	if j.undoFile != "" {
		written = append(written, j.undoFile)
	}
	return j.filling.Beside(written...)
}

// survey goes through what -p names, and refuses what cannot be made.
func (j *job) survey(ctx context.Context) (done bool, err error) {
	if j.filling == nil || j.parser.Request.MakeConfig.Given {
		return false, nil
	}
	spec := j.parser.Request.Spec
	err = j.filling.Check(ctx, spec, j.claims.Device(spec.RT.Size.Given), j.plan)
	for _, text := range j.filling.Notes() {
		j.warn(text)
	}
	return false, err
}

// tree is what the filesystem is filled with, with times as they are asked for.
func (j *job) tree() tree.Tree {
	switch {
	case j.filling == nil:
		return nil
	case j.clampTimes:
		return tree.Clamp(j.filling.Tree, tree.Time{Sec: j.who.Seconds, Nsec: j.who.Nanos, Given: true})
	}
	return j.filling.Tree
}

// identity is what is neither geometry nor asked for.
func (j *job) identity() (aginit.Identity, error) {
	return identity.Request{UUID: j.parser.Request.UUID, Seed: j.reproducible, Env: os.Getenv, Warn: j.warn}.New(j.plan)
}

func (j *job) warn(text string) { fmt.Fprintf(j.err, "%s: warning: %s\n", j.name, text) }
