package recovery

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// quotaKinds relate the flags of the log's ways to name a kind of quota.
var quotaKinds = []struct {
	account ondisk.QuotaFlags
	block   ondisk.BufferFlags
	dquot   ondisk.DquotType
}{
	{ondisk.QuotaUser, 1 << 2, ondisk.DquotUser},
	{ondisk.QuotaProject, 1 << 3, ondisk.DquotProject},
	{ondisk.QuotaGroup, 1 << 4, ondisk.DquotGroup},
}

// noteQuotaOff notes that a kind of quota was turned off: its dquots are not
// replayed, as their blocks may be gone.
func noteQuotaOff(r *replay, it *item) error {
	flags, ok := ondisk.QuotaOffFlags(it.regions[0])
	if !ok {
		return corrupt(it.block, "an end of quota of %d bytes", len(it.regions[0]))
	}
	for _, k := range quotaKinds {
		if flags&k.account != 0 {
			r.quotaOff[k.block] = true
			r.dquotOff |= k.dquot
		}
	}
	return nil
}

func (r *replay) dquotPlace(f *ondisk.DquotItem) span {
	return span{f.Daddr, int(f.Blocks) << r.fs.Geometry.BlockLog / geometry.BasicBlock}
}

func placeOfDquot(r *replay, it *item) (int64, int, bool) {
	f, ok := ondisk.DecodeDquotItem(it.regions[0])
	if !ok || f.Blocks != 1 {
		return 0, 0, false
	}
	return r.wanted(r.dquotPlace(&f))
}

// replayDquot replays a dquot. The kernel does so only if it is mounted with
// quota; we always do: counts that are marked as checked would be wrong without.
func replayDquot(r *replay, it *item) error {
	f, ok := ondisk.DecodeDquotItem(it.regions[0])
	switch {
	case !ok || f.Blocks != 1:
		return corrupt(it.block, "a dquot's description of %d bytes, for %d blocks", len(it.regions[0]), f.Blocks)
	case len(it.regions) < 2 || len(it.regions[1]) < ondisk.DquotSize || len(it.regions[1]) > ondisk.DquotBlock:
		return corrupt(it.block, "dquot %d is not in the log", f.ID)
	}
	logged := it.regions[1]
	t, id, ok := ondisk.DecodeDquot(logged)
	if !ok || id != f.ID {
		return corrupt(it.block, "what is logged of dquot %d is none", f.ID)
	}
	if r.dquotOff&t != 0 {
		return nil
	}
	if r.cancelled[r.dquotPlace(&f)] > 0 {
		r.stats.Cancelled++
		return nil
	}
	b, err := r.block(it, r.dquotPlace(&f))
	if err != nil {
		return err
	}
	if int64(f.Offset)+ondisk.DquotBlock > int64(len(b.Data)) {
		return corrupt(it.block, "dquot %d is said to be at byte %d of a block of %d", f.ID, f.Offset, len(b.Data))
	}
	disk := b.Data[f.Offset:][:ondisk.DquotBlock]
	if _, _, ok := ondisk.DecodeDquot(disk); !ok {
		return corrupt(it.block, "there is no dquot at byte %d", b.Off+int64(f.Offset))
	}
	if lsn := ondisk.DquotLSN(disk); r.fs.V5 && lsn != 0 && lsn != ondisk.NullLSN && lsn >= uint64(it.lsn) {
		r.stats.Skipped++
		return nil
	}
	copy(disk, logged)
	if r.fs.V5 {
		ondisk.Seal(disk, ondisk.DquotCRC)
	}
	r.cache.mark(b, it.lsn, nil)
	return nil
}
