package target

import "io"

type Signature struct {
	Name                      string
	Offset                    int64
	PartitionTable, Container bool
}

func Signatures(r io.ReaderAt, size int64) ([]Signature, error) {
	b := make([]byte, 4)
	r.ReadAt(b, 0)
	if string(b) == "XFSB" {
		return []Signature{{Name: "xfs"}}, nil
	}
	return nil, nil
}
