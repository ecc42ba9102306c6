package geometry

import "testing"

// The least log sizes that mkfs.xfs 7.2.0 names when it refuses a smaller one.
func TestMinLog(t *testing.T) {
	size := func(n Bytes) Opt[Size] { return Given(Size{Count: int64(n), Limits: Limits{Max: 1<<63 - 1}}) }
	for _, c := range []struct {
		name string
		spec Spec
		dev  Bytes
		want Blocks
	}{
		{"default", Spec{SmallAllowed: true}, 300 * mib, 2001},
		{"dir 16k", Spec{SmallAllowed: true, DirBlockSize: size(16 * kib)}, 300 * mib, 2666},
		{"su 256k", Spec{SmallAllowed: true, Log: LogSpec{StripeUnit: size(256 * kib)}, Data: DataSpec{AGCount: Given(int64(16))}}, 300 * mib, 4032},
	} {
		g, _, err := Plan(c.spec, Device{Size: c.dev, LogicalSector: 512, PhysicalSector: 512})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if g.Log.MinBlocks != c.want {
			t.Errorf("%s: least log %d blocks, want %d", c.name, g.Log.MinBlocks, c.want)
		}
	}
}
