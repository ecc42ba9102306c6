package claim

import (
	"errors"
	"fmt"

	"mkfs/internal/target"
)

// Check refuses what must never be overwritten: what is in use, or is one target
// by two names.
func (p *Claims) Check() error {
	for _, at := range p.All() {
		if !at.Exists {
			continue
		}
		if err := errors.Join(checkUse(at.Info), target.CheckZones(at.Info)); err != nil {
			return err
		}
	}
	all := p.All()
	for i, at := range all {
		for _, other := range all[:i] {
			if other.Exists && at.Exists && target.Overlap(other.Info, at.Info) || !other.Exists && !at.Exists &&
				target.SamePath(other.Path, at.Path) {
				return errOneTarget(other, at)
			}
		}
	}
	return nil
}

// checkUse is target.CheckUse with a first line that scripts know.
func checkUse(info target.Info) error {
	err := target.CheckUse(info)
	if use := (*target.InUseError)(nil); errors.As(err, &use) && use.Mounted() {
		return fmt.Errorf("%s contains a mounted filesystem\n%w", info.Path, err)
	}
	return err
}
