package compat

import (
	"strings"
	"testing"
)

// TestFile holds the text against what the files of xfsprogs 7.2.0 say.
func TestFile(t *testing.T) {
	for name, want := range map[string]string{
		"lts_4.19.conf":   "[metadata] crc=1 finobt=1 rmapbt=0 reflink=0 inobtcount=0 bigtime=0 autofsck=0 metadir=0 [inode] sparse=1 nrext64=0 exchange=0 [naming] parent=0",
		"lts_5.15.conf":   "[metadata] crc=1 finobt=1 rmapbt=0 reflink=1 inobtcount=1 bigtime=1 autofsck=0 metadir=0 [inode] sparse=1 nrext64=0 exchange=0 [naming] parent=0",
		"lts_6.18.conf":   "[metadata] crc=1 finobt=1 rmapbt=1 reflink=1 inobtcount=1 bigtime=1 metadir=0 [inode] sparse=1 nrext64=1 exchange=1 [naming] parent=1",
		"dax_x86_64.conf": "[block] size=4096 [data] su=2m sw=1 extszinherit=512 daxinherit=1 [realtime] extsize=2m",
	} {
		text, preset, ok := File(name)
		if got := strings.Join(strings.Fields(text), " "); !ok || got != want {
			t.Errorf("%s: %q (%s), not %q", name, got, preset, want)
		}
	}
	for _, name := range []string{"lts_5.15", "lts-5.15.conf", "lts_5.16.conf", "site.conf", "dax.conf"} {
		if _, preset, ok := File(name); ok {
			t.Errorf("%s is taken for the preset %s", name, preset)
		}
	}
}
