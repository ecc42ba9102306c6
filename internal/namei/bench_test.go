package namei_test

import (
	"fmt"
	"testing"

	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
)

// BenchmarkNames makes empty files in directories of 1,000, and renames and frees them.
func BenchmarkNames(b *testing.B) {
	for _, c := range []struct {
		name string
		do   func(m *made, at namei.At, to string) error
	}{
		{"create", nil},
		{"rename", func(m *made, at namei.At, to string) error {
			tr := m.fs.Begin(m.names.Space.Rename(len(to)))
			if _, err := m.names.Rename(tr, at, namei.At{Dir: at.Dir, Name: to}); err != nil {
				return err
			}
			return tr.Commit()
		}},
		{"remove", func(m *made, at namei.At, _ string) error {
			tr := m.fs.Begin(m.names.Space.Remove(len(at.Name)))
			if err := m.names.Remove(tr, at); err != nil {
				return err
			}
			if err := tr.Commit(); err != nil {
				return err
			}
			return m.names.Inactivate(at.File)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := newMade(b, nil)
			var dp *inode.Inode
			list := make([]namei.At, 0, b.N)
			create := func(name string) {
				if i := len(list); i%1000 == 0 {
					dp = m.enter(m.root, fmt.Sprint("d", i/1000), ialloc.New{Mode: ondisk.ModeDirectory}, nil)
				}
				m.do(m.names.Space.Create(len(name)), func(tr *live.Trans) error {
					ip, _, err := m.names.Create(tr, dp, name, ialloc.New{Mode: ondisk.ModeRegular})
					list = append(list, namei.At{Dir: dp, Name: name, File: ip})
					return err
				})
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				create(fmt.Sprint("file", i))
			}
			if c.do == nil {
				return
			}
			b.ResetTimer()
			for i, at := range list {
				must(b, c.do(m, at, fmt.Sprint("other", i)))
			}
		})
	}
}
