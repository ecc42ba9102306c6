package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// attach makes an image a loop device with sectors of a size, under the image's
// name, until it is detached.
func attach(image string, sector int) (detach func() error, err error) {
	back := filepath.Join(filepath.Dir(image), "."+filepath.Base(image)+".back")
	if err := os.Rename(image, back); err != nil {
		return nil, err
	}
	loop, err := losetup("--find", "--show", "--sector-size", fmt.Sprint(sector), back)
	if err != nil {
		return nil, err
	}
	if err := os.Symlink(loop, image); err != nil {
		return nil, err
	}
	return func() error {
		if _, err := losetup("--detach", loop); err != nil {
			return err
		}
		return os.Rename(back, image)
	}, nil
}

func losetup(args ...string) (string, error) {
	out, err := exec.Command("losetup", args...).Output() // it warns of odd lengths
	if err != nil {
		return "", fmt.Errorf("losetup %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
