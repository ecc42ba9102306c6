package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// suboption has values of three kinds, blank-separated: most draws take a sane
// one, some one at an edge of what is allowed, few an odd one.
type suboption struct {
	flag, name  string
	sane, edges string
}

// odd values go with any suboption.
var odd = []string{"", "-1", "x", "0x10", "010", "+1", " 1", "1 ", "99999999999999999999", "1kk", "1.5", "4096s",
	"3b", "0", "1"}

const onOff = "0 1"

// suboptions are all that the reference has, but for those that name files.
var suboptions = []suboption{
	{"b", "size", "4096 1k 2k 4k 64k 16k 8k 4096", "512 1024 65536 131072 3000 1b 8s"},
	{"d", "agcount", "2 3 4 5 8 16 7", "1 0 33 1000 4294967294"},
	{"d", "agsize", "64m 128m 300m 1g 65536b 131072s 256m", "16m 16384k 15m 1t 1048576k 100000001 70000000"},
	{"d", "size", "300m 512m 1g 1000000000 700m 100000b 1000000s", "16m 299m 20m 511 1073741823 1073742336 8e"},
	{"d", "sunit", "64 128 8 256 512", "0 1 7 2048 4194304 9"},
	{"d", "swidth", "64 128 256 512 1024", "0 1 100 8192"},
	{"d", "su", "64k 32k 4k 128k 256k 1m 16b", "0 512 65k 500m 1g 2t"},
	{"d", "sw", "1 2 4 10", "0 100 4096 65536"},
	{"d", "noalign", onOff, ""},
	{"d", "sectsize", "512 4096 4096", "1024 256 32768 65536 1000"},
	{"d", "rtinherit", onOff, ""},
	{"d", "projinherit", "0 1 42", "4294967295 4294967296"},
	{"d", "extszinherit", "0 1 16 512", "2097151 2097152 32768 4294967295"},
	{"d", "cowextsize", "0 1 16 512", "2097151 2097152 32768"},
	{"d", "daxinherit", onOff, ""},
	{"d", "concurrency", "0 2 4 16 64", "nr_cpus 1 100000"},
	{"i", "align", "1 1 0", ""},
	{"i", "maxpct", "0 5 25 100", "101"},
	{"i", "perblock", "2 4 8 16", "1 3 128 256"},
	{"i", "size", "512 1024 2048 256", "128 4096 600"},
	{"i", "attr", "2 2 1 0", "3"},
	{"i", "projid32bit", "1 1 0", ""},
	{"i", "sparse", onOff, ""}, {"i", "nrext64", onOff, ""}, {"i", "exchange", onOff, ""},
	{"i", "max_atomic_write", "4k 64k", "3k 1g"},
	{"l", "agnum", "0 1 2 3", "4 99"},
	{"l", "internal", "1 1 0", ""},
	{"l", "size", "64m 65m 100m 16384b 200000s 128m 80000k", "2m 10m 63m 2001b 2000b 512m 2038m 2g 67108865"},
	{"l", "version", "2 2 1", "0 3"},
	{"l", "sunit", "8 16 64 512", "1 7 0 1024"},
	{"l", "su", "4k 32k 64k 256k 8b", "0 512 5k 512k"},
	{"l", "sectsize", "512 4096", "1024 2048 256 65536"},
	{"l", "lazy-count", "1 1 0", ""},
	{"l", "concurrency", "0 2 8 64", "1 300"},
	{"m", "crc", "1 1 1 0", ""},
	{"m", "finobt", onOff, ""}, {"m", "rmapbt", onOff, ""}, {"m", "reflink", onOff, ""},
	{"m", "inobtcount", onOff, ""}, {"m", "bigtime", onOff, ""},
	{"m", "autofsck", "none check optimize repair 0 1", "full Check"},
	{"m", "metadir", onOff, ""},
	{"m", "uquota", onOff, ""}, {"m", "gquota", onOff, ""}, {"m", "pquota", onOff, ""},
	{"m", "uqnoenforce", onOff, ""}, {"m", "gqnoenforce", onOff, ""}, {"m", "pqnoenforce", onOff, ""},
	{"n", "size", "4k 8k 16k 64k", "512 2k 128k 5000 2b"},
	{"n", "version", "2 ci", "1 CI 3"},
	{"n", "ftype", "1 1 0", ""}, {"n", "parent", onOff, ""},
	{"r", "size", "512m 1g 100000b 40g", "16m 2g"},
	{"r", "extsize", "4k 64k 1m", "1k 2g"},
	{"r", "noalign", onOff, ""}, {"r", "rgcount", "1 4 300 2000", "0"}, {"r", "rgsize", "256m 32m 16m", "1m"},
	{"r", "concurrency", "0 4", ""}, {"r", "zoned", onOff, ""}, {"r", "start", "512m", ""}, {"r", "reserved", "16m", ""},
	{"s", "size", "512 4096 1024", "256 32768 65536 3000"},
	{"s", "sectsize", "512 4096", "2048"},
}

// missing lists what mkfs does not have, by option and suboption: it says so,
// which is no difference. It is empty but while something is in the making.
var missing []string

func isMissing(s suboption) bool {
	for _, m := range missing {
		if strings.HasPrefix(s.flag+" "+s.name, m) {
			return true
		}
	}
	return false
}

// sizes of images: around where rules change.
var sizes = []int64{
	300 << 20, 512 << 20, 1 << 30, 1 << 30, 2 << 30, 2 << 30, 4 << 30, 10 << 30, 100 << 30, 1 << 40, 4 << 40, 10 << 40,
	16 << 20, 64 << 20, 128 << 20, 299 << 20, 1<<30 - 1, 1<<30 + 4096, 1<<30 + 512, 1234567890, 15 << 40,
}

// draw makes a case.
func draw(r *rand.Rand, loops bool) tryCase {
	c := tryCase{
		size: sizes[r.IntN(len(sizes))], fill: r.IntN(12) == 0, plan: r.IntN(3) == 0, style: r.IntN(8),
	}
	conf := r.IntN(4) // which files there are
	have := likely(r)
	if r.IntN(8) == 0 {
		c.items = append(c.items, item{flag: "m", name: "crc", value: "0", at: place(r.IntN(3))})
		have = likelyV4(r)
	}
	for range r.IntN(7) {
		c.items = append(c.items, drawItem(r, have[r.IntN(len(have))], conf))
	}
	if r.IntN(8) == 0 {
		c.items = append(c.items, stripes(r, conf)...)
	}
	if r.IntN(8) == 0 {
		c.logSize = []int64{64 << 20, 100 << 20, 200 << 20, 10 << 20, 4 << 30, 64<<20 + 512}[r.IntN(6)]
		c.items = append(c.items, item{flag: "l", name: []string{"logdev", "name"}[r.IntN(2)], value: "log"})
	}
	if r.IntN(6) == 0 && !isMissing(suboption{flag: "r", name: "rtdev"}) {
		c.rtSize = []int64{1 << 30, 2 << 30, 300 << 20, 16 << 20, 10 << 30, 1<<30 + 512, 100 << 30}[r.IntN(7)]
		c.items = append(c.items, item{flag: "r", name: []string{"rtdev", "name"}[r.IntN(2)], value: "rt"})
	}
	if r.IntN(10) == 0 {
		labels := []string{"", "a", "data disk", "abcdefghijkl", "abcdefghijklm", "ää", "ääääääa"}
		c.items = append(c.items, item{flag: "L", value: labels[r.IntN(len(labels))]})
	}
	for _, flag := range []string{"K", "q", "C"} {
		if r.IntN(20) == 0 {
			c.items = append(c.items, item{flag: flag, bare: true})
		}
	}
	if r.IntN(6) == 0 { // minimums lifted, or nearly
		for _, name := range []string{"TEST_DIR", "TEST_DEV", "QA_CHECK_FS"} {
			if r.IntN(12) > 0 {
				c.env = append(c.env, name+"="+[]string{"", "1"}[r.IntN(2)])
			}
		}
	}
	epochs := []string{"1700000000", "0", "-5", "1", "253402300800"}
	c.env = append(c.env, "SOURCE_DATE_EPOCH="+epochs[r.IntN(len(epochs))], "DETERMINISTIC_SEED=1")
	r.Shuffle(len(c.items), func(i, j int) { c.items[i], c.items[j] = c.items[j], c.items[i] })
	for i := range c.sectors {
		if loops {
			c.sectors[i] = []int{512, 4096, 4096, 0}[r.IntN(4)]
		}
	}
	return c
}

// seldom are suboptions that hardly go with any others.
const seldom = " b size d su d sw d sunit d swidth d sectsize i align i attr i projid32bit i perblock l " +
	"internal l lazy-count l version l sectsize m crc n ftype s sectsize d agsize "

// v5 are those that V4 refuses.
const v5 = " m finobt m rmapbt m reflink m inobtcount m bigtime m autofsck i sparse i nrext64 i exchange n parent "

// likely are the suboptions to draw from: all that there are, but not always
// those that are refused more often than not.
func likely(r *rand.Rand) (list []suboption) {
	for _, s := range suboptions {
		if !isMissing(s) && (r.IntN(6) == 0 || !strings.Contains(seldom, " "+s.flag+" "+s.name+" ")) {
			list = append(list, s)
		}
	}
	return list
}

func likelyV4(r *rand.Rand) (list []suboption) {
	for _, s := range suboptions {
		if !isMissing(s) && (r.IntN(20) == 0 || !strings.Contains(v5, " "+s.flag+" "+s.name+" ")) {
			list = append(list, s)
		}
	}
	return list
}

// drawItem draws a value for a suboption, and where it is given.
func drawItem(r *rand.Rand, s suboption, conf int) item {
	i := item{flag: s.flag, name: s.name}
	values := s.sane
	switch n := r.IntN(40); {
	case n == 0:
		i.value = odd[r.IntN(len(odd))]
		i.bare = i.value == "" && r.IntN(2) == 0
		values = ""
	case n < 5 && s.edges != "":
		values = s.edges
	}
	if words := strings.Fields(values); len(words) > 0 {
		i.value = words[r.IntN(len(words))]
	}
	if conf&1 != 0 && r.IntN(3) == 0 {
		i.at = inOptions
	} else if conf&2 != 0 && r.IntN(3) == 0 {
		i.at = inDefaults
	}
	if i.at != onLine && i.bare {
		i.at = onLine
	}
	return i
}

// stripes are a unit and a width that may go together, which they seldom do by chance.
func stripes(r *rand.Rand, conf int) []item {
	unit, width := int64(4096)<<r.IntN(10), int64(1+r.IntN(12))
	if r.IntN(2) == 0 {
		return []item{
			{flag: "d", name: "su", value: fmt.Sprint(unit)}, {flag: "d", name: "sw", value: fmt.Sprint(width)},
		}
	}
	return []item{
		{flag: "d", name: "sunit", value: fmt.Sprint(unit / 512)}, {flag: "d", name: "swidth",
			value: fmt.Sprint(unit / 512 * width)},
	}
}
