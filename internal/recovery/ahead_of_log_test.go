package recovery

import (
	"errors"
	"strings"
	"testing"

	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// What is ahead of the log's head is refused, and nothing is written, whether
// the log is clean or not. A null number is none.
func TestAheadOfLog(t *testing.T) {
	const agf, agi = 512, 1024
	for _, c := range []struct {
		name   string
		off    int64
		at     int // of the LSN
		crc    int
		dirty  bool
		beyond int // blocks behind the head; less than 0 for null
		want   string
	}{
		{"superblock", 0, 240, ondisk.SuperblockCRC, false, 1, "superblock: LSN is "},
		{"superblock, dirty", 0, 240, ondisk.SuperblockCRC, true, 1, "superblock: LSN is "},
		{"superblock at the head", 0, 240, ondisk.SuperblockCRC, false, 0, ""},
		{"superblock at the head, dirty", 0, 240, ondisk.SuperblockCRC, true, 0, ""},
		{"null", 0, 240, ondisk.SuperblockCRC, false, -1, ""},
		{"AGF", agf, 208, ondisk.AGFCRC, true, 1, "AG 0: LSN of the AGF is "},
		{"AGF at the head", agf, 208, ondisk.AGFCRC, true, 0, ""},
		{"AGI", agi, 320, ondisk.AGICRC, true, 1, "AG 0: LSN of the AGI is "},
	} {
		f := plain(t)
		if c.dirty {
			f.commit(logtest.QuotaOff(0))
		}
		lsn := f.log.LSN() + uint64(c.beyond)
		if c.beyond < 0 {
			lsn = ondisk.NullLSN
		}
		f.changeBlock(c.off, 512, c.crc, func(b []byte) { be.PutUint64(b[c.at:], lsn) })
		f.aheadIs(c.name, c.want)
	}
}

// So is a block that is to be replayed, which would be taken for later than all of the log.
func TestReplayedAheadOfLog(t *testing.T) {
	for beyond := range 2 {
		f := plain(t)
		off := f.free(0)
		b := f.described(0x41423342, off, 0, 0)
		f.commit(logtest.Buffer(uint8(ondisk.BufferBtree), 0, daddr(off), b, func(int) bool { return true }))
		f.d.WriteAt(f.described(0x41423342, off, xlog.LSN(f.log.LSN())+xlog.LSN(beyond), 1), off)
		want := ""
		if beyond > 0 {
			want = "LSN of the block at byte "
		}
		f.aheadIs("a block", want)
	}
}

func (f *filesystem) aheadIs(name, want string) {
	f.t.Helper()
	f.install()
	before := f.d.clone()
	_, err := attempt{}.run(f.t, f.d, nil)
	switch {
	case want == "" && err != nil:
		f.t.Errorf("%s: %v", name, err)
	case want != "" && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ahead of the log's head at ")):
		f.t.Errorf("%s: %v", name, err)
	case want != "" && f.d.differs(before) != nil:
		f.t.Errorf("%s: something was written", name)
	}
}
