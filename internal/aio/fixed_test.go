package aio

import (
	"bytes"
	"testing"
)

// Registered memory, memory beside it, and requests across both carry the same data.
func TestFixedMemory(t *testing.T) {
	for _, kind := range []Kind{Uring, AIO, Sync} {
		t.Run(kind.String(), func(t *testing.T) {
			f := tempFile(t)
			r, err := Open(int(f.Fd()), Config{Engine: kind, Depth: 8})
			if err != nil {
				t.Skip(err)
			}
			slab, release, err := NewSlab(1 << 16)
			must(t, err)
			defer func() { must(t, release()) }()
			fixed, other := slab[:1<<15], slab[1<<15:]
			r.Fix(fixed)
			if e, ok := r.eng.(*uring); ok && e.fixedTo-e.fixedFrom != uintptr(len(fixed)) {
				t.Log("the kernel registers no memory here")
			}
			for i := range slab {
				slab[i] = byte(i * 7 >> 3)
			}
			var want []byte
			write := func(vec ...[]byte) {
				must(t, r.Write(int64(len(want)), vec, func(err error) { must(t, err) }))
				want = append(want, bytes.Join(vec, nil)...)
			}
			write(fixed[:4096])
			write(fixed[28672:])     // to its end
			write(slab[30000:40000]) // across its end
			write(other[:5000])      // beside it
			write(fixed[1:2], other, fixed[100:200])
			must(t, r.Sync())

			got := make([]byte, len(want))
			must(t, r.Read(0, [][]byte{fixed[:4096]}, func(err error) { must(t, err) }))
			must(t, r.Reap(1))
			if !bytes.Equal(fixed[:4096], want[:4096]) {
				t.Error("a read into registered memory differs")
			}
			must(t, r.Close())
			if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the file differs: %v", err)
			}
		})
	}
}
