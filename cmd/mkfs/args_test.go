package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestGetopt(t *testing.T) {
	cmd := newCommand("mkfs", io.Discard, io.Discard)
	cmd.InitDefaultHelpFlag()
	for _, c := range []struct{ args, want string }{
		{"img", "-- img"},
		{"-f img -q", "-f -q -- img"},
		{"-fq img", "-f -q -- img"},
		{"-dagcount=4 -fL x img", "-d agcount=4 -f -L x -- img"},
		{"-L=foo img", "-L =foo -- img"},
		{"-L -f img", "-L -f -- img"},
		{"-N=0 img", "-N -= -0 -- img"},
		{"-f -- -q", "-f -- -q"},
		{"--size 1g --batch=3 img --json", "--size 1g --batch=3 --json -- img"},
		{"--size img", "--size img --"},
		{"__complete -f", "-f -- __complete"},
		{"- -d", "-d"}, // which wants a value
		{"img --size", "--size"},
		{"- -f", "-f -- -"},
	} {
		got := getopt(cmd.Flags(), strings.Fields(c.args))
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.args, got, want)
		}
	}
}
