package undo

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// State is how far a file, and the formatting that it belongs to, has come.
type State uint32

// The states, in order.
const (
	Saving  State = iota // not all is here yet
	Saved                // all is here; formatting may have begun
	Made                 // there is a new filesystem
	Undoing              // putting back has begun
	Undone               // all is as it was
)

// String names the state.
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return fmt.Sprintf("State(%d)", uint32(s))
	}
	return stateNames[s]
}

var stateNames = [...]string{"saving", "saved", "made", "undoing", "undone"}

// Header says what a file is about.
type Header struct {
	UUID       string   `json:"uuid"`       // of the new filesystem
	Superblock string   `json:"superblock"` // the SHA-256 of its primary superblock when it was made
	SectorSize int      `json:"sector_size"`
	Devices    []Device `json:"devices"` // the data device first
}

// Device is a target as it was, and as formatting has left it.
type Device struct {
	Role    string `json:"role"` // data, log, realtime
	Path    string `json:"path"`
	File    bool   `json:"file"` // and no block device
	Part    bool   `json:"part,omitempty"`
	Offset  int64  `json:"offset"` // of the part that is used
	Before  int64  `json:"size_before"`
	After   int64  `json:"size_after"`
	Created bool   `json:"created,omitempty"`
}

const (
	magic     = "mkfsundo"
	version   = 1
	stateSize = 512
	stateSum  = 508 // where its checksum is
	// maxHeader is more than any header has: a path has up to 4096 bytes, and
	// each of them may take six in JSON.
	maxHeader = 1 << 20
	// chunk is how much data a record has at most.
	chunk = 1 << 20
)

// The kinds of records.
const (
	kindData  = 1 + iota // as they follow
	kindZeros            // of a disk, or of a file that has space for them
	kindHole             // of a file
	kindEnd
)

var (
	order      = binary.BigEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// record is a range of a device.
type record struct {
	kind, device uint32
	off, length  int64
	sum          uint32 // of the data
}

const recordSize = 32

func (r *record) put() []byte {
	b := make([]byte, 0, recordSize)
	b = order.AppendUint32(b, r.kind)
	b = order.AppendUint32(b, r.device)
	b = order.AppendUint64(b, uint64(r.off))
	b = order.AppendUint64(b, uint64(r.length))
	b = order.AppendUint32(b, r.sum)
	return order.AppendUint32(b, checksum(b))
}

var errDamaged = errors.New("the undo file is damaged")

// decodeRecord takes a record that is whole.
func decodeRecord(b []byte) (record, error) {
	r := record{
		order.Uint32(b), order.Uint32(b[4:]), int64(order.Uint64(b[8:])), int64(order.Uint64(b[16:])), order.Uint32(b[24:]),
	}
	if order.Uint32(b[28:]) != checksum(b[:28]) || r.kind < kindData || r.kind > kindEnd || r.off < 0 || r.length < 0 ||
		r.kind == kindData && r.length > chunk {
		return r, errDamaged
	}
	return r, nil
}

func putState(s State) []byte {
	b := make([]byte, stateSize)
	copy(b, magic)
	order.PutUint32(b[8:], version)
	order.PutUint32(b[12:], uint32(s))
	order.PutUint32(b[stateSum:], checksum(b[:stateSum]))
	return b
}

func readState(r io.ReaderAt) (State, error) {
	b := make([]byte, stateSize)
	if n, err := r.ReadAt(b, 0); n < len(b) && !errors.Is(err, io.EOF) {
		return 0, err
	}
	switch {
	case string(b[:len(magic)]) != magic:
		return 0, errors.New("this is no undo file")
	case order.Uint32(b[stateSum:]) != checksum(b[:stateSum]):
		return 0, errDamaged
	case order.Uint32(b[8:]) != version:
		return 0, fmt.Errorf("the undo file is of version %d; only %d is known", order.Uint32(b[8:]), version)
	}
	s := State(order.Uint32(b[12:]))
	if s > Undone {
		return 0, errDamaged
	}
	return s, nil
}

func putHeader(h *Header) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	b := order.AppendUint32(nil, uint32(len(text)))
	b = order.AppendUint32(b, checksum(text))
	return append(b, text...), nil
}

func readHeader(r io.Reader) (h Header, err error) {
	var lead [8]byte
	if _, err := io.ReadFull(r, lead[:]); err != nil {
		return h, short(err)
	}
	n := order.Uint32(lead[:])
	if n > maxHeader {
		return h, errDamaged
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, short(err)
	}
	if order.Uint32(lead[4:]) != checksum(text) {
		return h, errDamaged
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&h); err != nil || len(h.Devices) == 0 || h.SectorSize < 512 || h.SectorSize > chunk {
		return h, errDamaged
	}
	return h, nil
}

// short makes of a file's end what it means here.
func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errDamaged
	}
	return err
}
