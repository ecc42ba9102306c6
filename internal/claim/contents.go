package claim

import (
	"fmt"
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/target"
)

// CheckContents refuses targets that hold something. What belongs to the
// filesystem that is to be made again is no loss: its UUID is asked for, or it
// is in a file that is to be emptied. Files that are no images at all are refused
// too, if kinds is set.
func (p *Claims) CheckContents(id geometry.Opt[[16]byte], kinds bool) error {
	var own [][16]byte
	if id.Given {
		own = append(own, id.Value)
	}
	if p.Data.Exists && p.Data.Fresh {
		found, _, err := p.Data.contents()
		if err != nil {
			return err
		}
		for _, s := range found {
			if s.Name == "xfs" {
				own = append(own, s.UUID)
			}
		}
	}
	for _, at := range p.All() {
		if err := at.checkContents(own, kinds); err != nil {
			return err
		}
	}
	return nil
}

// checkContents refuses a target that holds something, unless it is a part of one
// of our own filesystems, or whose physical sectors begin within ours. A file
// that was asked to be emptied may.
func (p *Claim) checkContents(own [][16]byte, kinds bool) error {
	if !p.Exists || p.Fresh {
		return nil
	}
	if p.Info.Misaligned {
		return fmt.Errorf("%s is not aligned to its physical sectors; -f makes a filesystem with logical ones", p.Path)
	}
	found, kind, err := p.contents()
	if p.role != forData {
		found = slices.DeleteFunc(found, func(s target.Signature) bool { return s.PartOf(own...) })
	}
	switch {
	case err != nil:
		return err
	case len(found) > 0:
		return fmt.Errorf("%s holds %v; -f overwrites it", p.Info.Name(), found[0])
	case kinds && kind != "":
		return fmt.Errorf("%s holds %s; -f overwrites it", p.Info.Name(), kind)
	}
	return nil
}

// contents looks at what the target holds: formats of disks, and what a file is that
// is no image.
func (p *Claim) contents() (found []target.Signature, kind string, err error) {
	t, err := target.Open(p.Path, target.Options{Window: p.Part})
	if err != nil {
		return nil, "", err
	}
	defer t.Close() // nothing was written
	if t.Blank() {
		return nil, "", nil
	}
	if found, err = target.Signatures(t, p.Info.Size); err == nil {
		kind, err = t.Content()
	}
	return found, kind, err
}
