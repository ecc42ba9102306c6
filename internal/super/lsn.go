package super

import (
	"fmt"

	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// Ahead checks the log sequence number of a block against the log's head. No
// change is on disk before it is in the log, so that a later number says that
// log and block are of different times. Blocks of V4 have no number, and one
// may be null. It is what the kernel checks of whatever it reads
// (xfs_log_check_lsn); of superblocks it is only the primary one.
func (f *Filesystem) Ahead(lsn uint64, head xlog.LSN) string {
	if n := xlog.LSN(lsn); f.V5 && lsn != ondisk.NullLSN && n > head {
		return fmt.Sprintf("is %v, ahead of the log's head at %v", n, head)
	}
	return ""
}

// AheadOfLog says that the superblock is ahead of the log, and what that means.
func (f *Filesystem) AheadOfLog(head xlog.LSN) string {
	text := f.Ahead(f.SB.LSN, head)
	if text == "" {
		return ""
	}
	return "LSN " + text + ": the log is older than the filesystem, which does not mount with it"
}
