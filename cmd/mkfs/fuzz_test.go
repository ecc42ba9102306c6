package main

import (
	"io"
	"strings"
	"testing"
)

// FuzzArguments takes whole command lines, up to where they would be run, and
// half ones that a shell wants completed.
func FuzzArguments(f *testing.F) {
	for _, line := range []string{
		"-f -d agcount=4 img", "-dagcount=4 -Nq img -- -x", "--size 1t --json img", "--size=1t", "-L", "-N=1", "--", "-", "--=", "---", "-\x00",
		"--preset lts-5.15,grub-2.06 --for-kernel auto", "verify --json img", "help -d", "completion bash", "-d ag", "--pro", "man",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		cmd, rest := commandFor("mkfs", words, io.Discard, io.Discard)
		cmd.InitDefaultHelpFlag()
		if !cmd.DisableFlagParsing {
			_ = cmd.ParseFlags(getopt(cmd.Flags(), rest))
		}
		complete(io.Discard, "mkfs", words)
	})
}
