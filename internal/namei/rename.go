package namei

import (
	"fmt"
	"io/fs"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Rename gives a file another name, in place of its old one. What had that name before is removed: a directory
// without entries for a directory, another file for any other. Two names of one file stay as they
// are. The transaction has reserved what it may take: Space.Rename. ok is false if there was no room; what is
// changed by then cannot be committed. Before an error of the names nothing is changed.
// (xfs_dir_rename_children.)
func (n *Names) Rename(t *live.Trans, from, to At) (ok bool, err error) {
	if err := n.mayRename(t, from, to); err != nil {
		return false, err
	}
	if from.File == to.File {
		return true, nil
	}
	moves := from.Dir != to.Dir
	if ok, err := n.takeName(t, from, to, moves); !ok || err != nil {
		return ok, err
	}
	if moves && from.File.IsDir() {
		if ok, err := n.Dirs.Replace(t, from.File, "..", to.Dir.Ino, dirType, t.Reserve); !ok || err != nil {
			return ok, err
		}
	}
	from.File.Stamp(t.FS, inode.Changed)
	from.File.Log(t)
	if from.File.IsDir() && (moves || to.File != nil) {
		if err := dropDir(t, from.Dir); err != nil {
			return false, err
		}
	}
	if err := n.Dirs.Remove(t, from.Dir, from.Name, t.Reserve); err != nil {
		return false, err
	}
	n.changed(t, from.Dir)
	if !n.fs.G.Features.Parent {
		return true, nil
	}
	if err := n.Attrs.ReplaceParent(t, from.File, from.link(), to.link()); err != nil {
		return false, err
	}
	if to.File != nil {
		err = n.Attrs.RemoveParent(t, to.File, to.link())
	}
	return err == nil, err
}

// takeName makes the new name stand for the file, which removes another that had it.
func (n *Names) takeName(t *live.Trans, from, to At, moves bool) (ok bool, err error) {
	kind := FileType(from.File.Core.Mode)
	if to.File == nil {
		if ok, err := n.Dirs.Add(t, to.Dir, to.Name, from.File.Ino, kind, t.Reserve); !ok || err != nil {
			return ok, err
		}
		if moves && from.File.IsDir() {
			bump(t, to.Dir)
		}
		n.changed(t, to.Dir)
		return true, nil
	}
	if ok, err := n.Dirs.Replace(t, to.Dir, to.Name, from.File.Ino, kind, t.Reserve); !ok || err != nil {
		return ok, err
	}
	n.changed(t, to.Dir)
	if err := drop(t, to.File); err != nil {
		return false, err
	}
	if from.File.IsDir() { // it named itself
		if err := drop(t, to.File); err != nil {
			return false, err
		}
	}
	return true, nil
}

// mayRename tells what speaks against a new name.
func (n *Names) mayRename(t *live.Trans, from, to At) error {
	if err := n.checkBoth(t, from, to); err != nil || from.File == to.File {
		return err
	}
	if to.File != nil && from.File.IsDir() != to.File.IsDir() {
		return to.errorf("inode %d is to have the name of %d: one is a directory and the other is not", from.File.Ino, to.File.Ino)
	}
	if to.File != nil && to.File.IsDir() {
		if err := n.removable(to); err != nil {
			return err
		}
	}
	return n.mayMove(t, from, to)
}

// Exchange makes each of two names stand for the file of the other, whatever they are. Otherwise it is as
// Rename. (xfs_dir_exchange_children.)
func (n *Names) Exchange(t *live.Trans, a, b At) (ok bool, err error) {
	if err := n.mayExchange(t, a, b); err != nil {
		return false, err
	}
	if a.File == b.File {
		return true, nil
	}
	for _, x := range [...]struct{ at, with At }{{a, b}, {b, a}} {
		kind := FileType(x.with.File.Core.Mode)
		if ok, err := n.Dirs.Replace(t, x.at.Dir, x.at.Name, x.with.File.Ino, kind, t.Reserve); !ok || err != nil {
			return ok, err
		}
	}
	if a.Dir != b.Dir {
		if ok, err := n.exchangeParents(t, a, b); !ok || err != nil {
			return ok, err
		}
		n.changed(t, b.Dir)
	}
	n.changed(t, a.Dir)
	if !n.fs.G.Features.Parent {
		return true, nil
	}
	if err := n.Attrs.ReplaceParent(t, a.File, a.link(), b.link()); err != nil {
		return false, err
	}
	err = n.Attrs.ReplaceParent(t, b.File, b.link(), a.link())
	return err == nil, err
}

// exchangeParents gives directories that are exchanged their new parents. A file that is exchanged for a directory
// of another one counts as changed as well, for programs that look for what has moved.
func (n *Names) exchangeParents(t *live.Trans, a, b At) (ok bool, err error) {
	for _, x := range [...]struct{ at, with At }{{b, a}, {a, b}} {
		if !x.at.File.IsDir() {
			continue
		}
		if ok, err := n.Dirs.Replace(t, x.at.File, "..", x.with.Dir.Ino, dirType, t.Reserve); !ok || err != nil {
			return ok, err
		}
		if !x.with.File.IsDir() {
			if err := dropDir(t, x.at.Dir); err != nil {
				return false, err
			}
			bump(t, x.with.Dir)
		}
		x.at.File.Stamp(t.FS, inode.Modified|inode.Changed)
		x.at.File.Log(t)
		x.with.File.Stamp(t.FS, inode.Changed)
		x.with.File.Log(t)
	}
	return true, nil
}

func (n *Names) mayExchange(t *live.Trans, a, b At) error {
	if b.File == nil {
		return b.errorf("%w", fs.ErrNotExist)
	}
	if err := n.checkBoth(t, a, b); err != nil || a.File == b.File {
		return err
	}
	if err := n.mayMove(t, a, b); err != nil {
		return err
	}
	return n.notWithin(t, b, a)
}

// checkBoth makes sure that two names stand for what they are said to.
func (n *Names) checkBoth(t *live.Trans, from, to At) error {
	if from.File == nil {
		return from.errorf("%w", fs.ErrNotExist)
	}
	if from.Dir.Ino == to.Dir.Ino && from.Dir != to.Dir || to.File != nil && from.File.Ino == to.File.Ino && from.File != to.File {
		panic("namei: an inode is in memory twice")
	}
	if err := n.check(t, from); err != nil {
		return err
	}
	return n.check(t, to)
}

// mayMove tells what speaks against a file in a directory: that this is in it, or of a tree that has another project.
func (n *Names) mayMove(t *live.Trans, from, to At) error {
	if err := checkProject(to, from.File); err != nil {
		return err
	}
	return n.notWithin(t, from, to)
}

// checkProject makes sure that a directory whose files are all of one project gets none of another. Device nodes and
// their like may have none. (xfs_projid_differ.)
func checkProject(a At, ip *inode.Inode) error {
	id := ip.Core.ProjectID
	if a.Dir.Core.Flags&ondisk.FlagProjInherit == 0 || a.Dir.Core.ProjectID == id {
		return nil
	}
	if ip.Data.Format == ondisk.FormatDev && id == 0 {
		return nil
	}
	return a.errorf("inode %d is of project %d, the directory of %d", ip.Ino, id, a.Dir.Core.ProjectID)
}

// notWithin makes sure that a directory does not come into one that is in it.
func (n *Names) notWithin(t *live.Trans, from, to At) error {
	if !from.File.IsDir() || from.Dir == to.Dir {
		return nil
	}
	in, err := n.within(t, to.Dir, from.File.Ino)
	if in {
		err = to.errorf("directory %d would be in itself", from.File.Ino)
	}
	return err
}

// within tells whether a directory is another one, or in it, at any depth.
func (n *Names) within(t *live.Trans, dp *inode.Inode, top geometry.Inode) (bool, error) {
	at, mark := dp, geometry.Inode(0) // a directory on the way: the 1st, 2nd, 4th, ...
	for steps := 0; at.Ino != top; steps++ {
		if at.Ino == mark {
			return false, fmt.Errorf("directory %d: the way up from it goes in circles", dp.Ino)
		}
		if steps&(steps-1) == 0 {
			mark = at.Ino
		}
		e, found, err := n.Dirs.Lookup(t, at, "..")
		if err != nil {
			return false, err
		}
		if !found {
			return false, fmt.Errorf("directory %d: it has no parent", at.Ino)
		}
		if e.Ino == at.Ino { // the root
			return false, nil
		}
		up, err := inode.Read(t, e.Ino)
		if err != nil {
			return false, fmt.Errorf("directory %d, its parent: %w", at.Ino, err)
		}
		if !up.IsDir() {
			return false, fmt.Errorf("directory %d: its parent, inode %d, is no directory", at.Ino, up.Ino)
		}
		if at != dp {
			at.Release()
		}
		at = up
	}
	return true, nil
}
