package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// drawFilled makes a case of a filesystem that is filled: options that go together, and a source
// that it can hold, unless it is small.
func drawFilled(r *rand.Rand) tryCase {
	d := &filledDrawer{Rand: r}
	d.size = []int64{300 << 20, 400 << 20, 1 << 30, 3 << 30, 20 << 30}[r.IntN(5)]
	d.bounds = bounds{block: 4096, inode: 512, target: 1023, latest: latestBig}
	d.formats()
	d.features()
	d.places()
	d.inherited()
	d.env = append(d.env, "SOURCE_DATE_EPOCH=1700000000", "DETERMINISTIC_SEED=1")
	r.Shuffle(len(d.items), func(i, j int) { d.items[i], d.items[j] = d.items[j], d.items[i] })
	slices.SortStableFunc(d.items, func(a, b item) int { return int(a.flag[0]) - int(b.flag[0]) })
	if r.IntN(3) == 0 {
		d.source = drawProto(r, d.bounds)
	} else {
		d.source = drawTree(r, d.bounds)
	}
	return d.tryCase
}

// The last seconds that inodes can hold, with big times and without.
const (
	latestBig = 16299260424
	latest    = 1<<31 - 1
)

type filledDrawer struct {
	*rand.Rand
	tryCase
	bounds
	v4, shares bool // shares: with reflink
}

// set gives a suboption.
func (d *filledDrawer) set(flag, name string, value any) {
	d.items = append(d.items, item{flag: flag, name: name, value: fmt.Sprint(value)})
}

// maybe gives a suboption one of some values, once in so many times, and returns it.
func (d *filledDrawer) maybe(once int, flag, name string, values ...int64) (n int64, given bool) {
	if d.IntN(once) > 0 {
		return 0, false
	}
	n = values[d.IntN(len(values))]
	d.set(flag, name, n)
	return n, true
}

// formats draws sizes of structures.
func (d *filledDrawer) formats() {
	if d.v4 = d.IntN(6) == 0; d.v4 {
		d.set("m", "crc", 0)
		d.inode, d.latest = 256, latest
	}
	sector := int64(512)
	if n, given := d.maybe(5, "s", "size", 512, 1024, 4096); given {
		sector = n
	}
	d.block = max(4096, sector)
	if n, given := d.maybe(2, "b", "size", 512, 1024, 2048, 8192, 16384, 65536); given {
		d.block = n
		least := int64(1024)
		if d.v4 {
			least = 512
		}
		if n < max(least, sector) {
			d.block = max(least, sector)
			d.items[len(d.items)-1].value = strconv.FormatInt(d.block, 10)
		}
	}
	if n, given := d.maybe(3, "i", "size", 256, 512, 1024, 2048); given {
		if n > d.block/2 || n == 256 && !d.v4 {
			d.items = d.items[:len(d.items)-1]
		} else {
			d.inode = n
		}
	}
	if n, given := d.maybe(4, "n", "size", 4096, 8192, 16384, 65536); given && n < d.block {
		d.items = d.items[:len(d.items)-1]
	}
	const header = 56 // the reference writes no second block of a link that has headers
	if !d.v4 && d.block == 1024 {
		d.target = 1024 - header
	}
}

// features draws those that go without others.
func (d *filledDrawer) features() {
	if d.IntN(10) == 0 {
		d.set("n", "version", "ci")
		d.fold = true
	}
	if d.v4 {
		d.maybe(4, "n", "ftype", 0, 1)
		d.maybe(4, "i", "attr", 1, 2)
		d.maybe(6, "i", "projid32bit", 0, 1)
		d.maybe(6, "l", "lazy-count", 0, 1)
		d.maybe(6, "i", "align", 0, 1)
		return
	}
	d.maybe(3, "n", "parent", 0, 1)
	for _, name := range []string{"rmapbt", "finobt", "inobtcount"} {
		d.maybe(5, "m", name, 0, 1)
	}
	reflink, given := d.maybe(4, "m", "reflink", 0, 1)
	d.shares = !given || reflink > 0
	if n, given := d.maybe(6, "m", "bigtime", 0, 1); given && n == 0 {
		d.latest = latest
	}
	d.maybe(3, "i", "sparse", 0, 1)
	d.maybe(4, "i", "nrext64", 0, 1)
	if exchange, given := d.maybe(6, "i", "exchange", 0, 1); !given || exchange > 0 {
		d.maybe(6, "m", "metadir", 1)
	}
}

// places draws what decides where things are.
func (d *filledDrawer) places() {
	if d.IntN(4) == 0 { // small, so that not all fits
		d.tight = true
		d.size = int64(48+d.IntN(60)) << 20
		d.env = append(d.env, "TEST_DIR=1", "TEST_DEV=1", "QA_CHECK_FS=1")
		d.maybe(2, "d", "agcount", 1, 2)
	} else {
		d.maybe(2, "d", "agcount", 2, 3, 4)
		if d.IntN(5) == 0 {
			d.logSize = 100 << 20
			d.set("l", "logdev", "log")
		}
	}
	switch d.IntN(8) {
	case 0:
		unit := d.block << d.IntN(6)
		d.set("d", "su", unit)
		d.set("d", "sw", 1+d.IntN(8))
	case 1:
		d.set("d", "noalign", 1)
	}
	d.maybe(6, "i", "maxpct", 0, 1, 5, 50)
	if d.IntN(8) == 0 && !d.shares {
		d.rtSize = 1 << 30
		d.set("r", "rtdev", "rt")
		d.maybe(3, "r", "extsize", 65536, 1<<20)
	}
}

// inherited draws what files get from the root directory.
func (d *filledDrawer) inherited() {
	d.maybe(5, "d", "projinherit", 0, 1, 42, 65535, 65536, 1<<32-1)
	d.maybe(5, "d", "extszinherit", 1, 2, 16, 100, 512)
	d.maybe(20, "d", "rtinherit", 1)
	if d.v4 {
		return
	}
	if d.shares {
		d.maybe(6, "d", "cowextsize", 1, 16, 100, 512)
	}
	d.maybe(20, "d", "daxinherit", 1)
	for _, quota := range []string{"uquota", "gquota", "pquota"} {
		d.maybe(20, "m", quota, 1)
	}
}
