package aginit

import "mkfs/internal/ondisk"

// LogRecord is the record that makes a zeroed log a clean one, to be written
// at its start.
func (b *Builder) LogRecord() []byte {
	l := &b.g.Log
	stripe := 0
	if b.g.Features.LogVersion == 2 {
		stripe = int(b.g.Bytes(l.StripeUnit))
	}
	record := make([]byte, ondisk.CleanLogSize(stripe))
	ondisk.PutCleanLog(record, b.id.UUID, uint32(b.g.Features.LogVersion), stripe)
	return record
}
