package main

import (
	"context"
	"fmt"
	"os"

	"mkfs/internal/options"
	"mkfs/internal/target"
)

// makeConfig writes a configuration file that asks for the properties of a
// filesystem, in place of making it.
func (j *job) makeConfig(ctx context.Context, path string) error {
	if info, err := target.Probe(path); err == nil {
		if err := target.CheckUse(info); err != nil {
			return fmt.Errorf("-c makecfg: %w", err)
		}
		for _, at := range j.claims.All() {
			if at.Exists && target.Overlap(info, at.Info) && !j.force {
				return fmt.Errorf("-c makecfg: %s is what the %s is to be on; -f overwrites it", path, at)
			}
		}
	}
	if err := os.WriteFile(path, []byte(options.ConfigOf(j.plan)), 0o666); err != nil {
		return fmt.Errorf("-c makecfg: %w", err)
	}
	j.printNotices(j.out, j.notes)
	return j.reportPlan(ctx, path)
}
