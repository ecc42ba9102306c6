package dir_test

import (
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"mkfs/internal/inode"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// user is the user time of the process so far, in ns: what is measured on a machine that others use as well.
func user() int64 {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r.Utime.Nano()
}

// A name is entered into a directory of so many, all in memory. There are many of the small ones.
func BenchmarkAdd(b *testing.B) {
	all := make([]string, 1_200_000)
	for i := range all {
		all[i] = "file-" + strconv.Itoa(i*7919%len(all))
	}
	for _, c := range []struct{ dirs, from, to int }{
		{4000, 0, 10}, {1000, 30, 80}, {300, 300, 400}, {20, 10_000, 12_000}, {2, 100_000, 120_000}, {1, 1_000_000, len(all)},
	} {
		b.Run(fmt.Sprint(c.from), func(b *testing.B) {
			b.ReportAllocs()
			spent := int64(0)
			for i := 0; i < b.N; {
				b.StopTimer()
				m := newRoot(b, livetest.Plan(b, 16<<30, nil))
				list := make([]*inode.Inode, c.dirs)
				for k := range list {
					list[k] = m.create(b, m.root, ondisk.ModeDirectory|0o755)
					m.dirs.Init(m.fs.Begin(0), list[k], m.root.Ino)
					m.addAll(b, list[k], all[:c.from])
				}
				runtime.GC()
				start := user()
				b.StartTimer()
				for k := 0; k < len(list) && i < b.N; k++ {
					n := min(c.to-c.from, b.N-i)
					m.addAll(b, list[k], all[c.from:c.from+n])
					i += n
				}
				b.StopTimer()
				spent += user() - start
			}
			b.ReportMetric(float64(spent)/float64(b.N), "user-ns/op")
		})
	}
}

// addAll adds entries of some file, each in a transaction.
func (m *made) addAll(b *testing.B, dp *inode.Inode, list []string) {
	for _, name := range list {
		tr := m.fs.Begin(100)
		ok, err := m.dirs.Add(tr, dp, name, 133, 1, 100)
		if err == nil {
			err = tr.Commit()
		}
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

// An Add takes no memory, in any form.
func TestAddAllocates(t *testing.T) {
	for _, g := range forms() {
		m := g.again(t)
		list := make([]string, 101)
		for i := range list {
			list[i] = "new" + strconv.Itoa(i)
		}
		must(t, m.dirs.Remove(m.fs.Begin(100), m.root, g.list[0], 100)) // room for one
		i := -1
		if got := testing.AllocsPerRun(100, func() {
			i++
			tr := m.fs.Begin(100)
			ok, err := m.dirs.Add(tr, m.root, list[i], 133, 1, 100)
			if err == nil && ok {
				err = m.dirs.Remove(tr, m.root, list[i], 100)
			}
			if err == nil {
				err = tr.Commit()
			}
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
		}); got > 0 {
			t.Errorf("%d names: %v allocations", len(g.list), got)
		}
	}
}
