package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// damage is what else a loss of power does to a log: the records that were in
// flight are there in part, or a later one is and an earlier one is not.
type damage struct {
	back int // records from the newest one, or atTail
	harm func(log []byte, r record)
}

// atTail is the record that replaying begins with.
const atTail = -1

// Damage by the names that cases call it by.
var damages = map[string]damage{
	"cut":            {0, cut},
	"beheaded":       {0, behead},
	"flipped":        {0, flip},
	"cut third":      {2, cut},
	"flipped fourth": {3, flip},
	// Before that the log is clean, if little was done since the mount.
	"flipped at the tail": {atTail, flip},
	// Too long ago to have been in flight: this is no loss of power.
	"flipped long ago": {30, flip},
}

// record is one of the log's, in bytes from its start.
type record struct {
	header, data, end int
	cycle             uint32
	lsn, tail         uint64
}

// records are all that are whole, by age, the oldest first.
func records(log []byte) (all []record) {
	be := binary.BigEndian
	for at := 0; at+512 <= len(log); at += 512 {
		h := log[at:]
		if be.Uint32(h) != 0xfeedbabe || be.Uint64(h[16:])&(1<<32-1) != uint64(at/512) {
			continue
		}
		const part = 32 << 10
		headers := max(1, (int(be.Uint32(h[320:]))+part-1)/part)
		r := record{header: at, data: at + headers*512, cycle: be.Uint32(h[4:]), lsn: be.Uint64(h[16:]),
			tail: be.Uint64(h[24:])}
		if r.end = r.data + int(be.Uint32(h[12:])); r.end <= len(log) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b record) int { return cmp.Compare(a.lsn, b.lsn) })
	return all
}

// lose makes sectors look as they did when the log was here the last time.
func lose(log []byte, from, to int, cycle uint32) {
	for at := from; at < to; at += 512 {
		clear(log[at : at+512])
		binary.BigEndian.PutUint32(log[at:], cycle-1)
	}
}

// cut loses the second half of a record.
func cut(log []byte, r record) { lose(log, (r.data+r.end)/2/512*512, r.end, r.cycle) }

// behead loses the first sector of a record.
func behead(log []byte, r record) { lose(log, r.header, r.header+512, r.cycle) }

// flip changes a byte in a record's middle.
func flip(log []byte, r record) { log[(r.data+r.end)/2] ^= 0x40 }

// damaged harms the log of an image.
func damaged(m image, name string) error {
	d, ok := damages[name]
	if !ok {
		return fmt.Errorf("%q is no damage", name)
	}
	l, err := readLayout(m.data)
	if err != nil {
		return err
	}
	file, where := m.data, l.log
	if m.log != "" {
		info, err := os.Stat(m.log)
		if err != nil {
			return err
		}
		file, where = m.log, extent{0, info.Size()}
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	log := make([]byte, where.end-where.start)
	if _, err := f.ReadAt(log, where.start); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	all := records(log)
	i := len(all) - 1 - d.back
	if d.back == atTail && len(all) > 0 {
		i = slices.IndexFunc(all, func(r record) bool { return r.lsn == all[len(all)-1].tail })
	}
	if i < 0 || i >= len(all) {
		return fmt.Errorf("there are only %d records", len(all))
	}
	d.harm(log, all[i])
	_, err = f.WriteAt(log, where.start)
	return err
}
