package main

import (
	"fmt"

	"golang.org/x/sys/unix"

	"mkfs/internal/compat"
)

// presets takes what --preset, --for-kernel and --for-grub ask for: what is
// given in another way goes before it. What is wrong is a fault like others.
func (j *job) presets() {
	for _, name := range j.preset {
		p, err := compat.Find(name)
		j.addPreset(p, "--preset", err)
	}
	if text := j.forKernel; text != "" {
		if text == "auto" {
			text = kernelRelease()
		}
		v, err := compat.ParseVersion(text)
		j.addPreset(compat.ForKernel(v), "--for-kernel", err)
	}
	if text := j.forGRUB; text != "" {
		v, err := compat.ParseVersion(text)
		j.addPreset(compat.ForGRUB(v), "--for-grub", err)
	}
}

func (j *job) addPreset(p compat.Preset, option string, err error) {
	if err != nil {
		j.parser.Fault(fmt.Errorf("%s: %w", option, err))
		return
	}
	j.chosen = append(j.chosen, p)
	for _, s := range p.Settings {
		j.parser.Preset(s.Flag, s.Name, s.Value, s.Weak)
	}
}

// kernelRelease is what uname -r prints.
func kernelRelease() string {
	var u unix.Utsname
	_ = unix.Uname(&u) // cannot fail
	return unix.ByteSliceToString(u.Release[:])
}
