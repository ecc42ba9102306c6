package recovery

import "errors"

// arena hands out memory that is fit for direct IO, and takes it back all at
// once.
type arena struct {
	get      func(size int) (slab []byte, release func() error, err error)
	slabs    [][]byte
	releases []func() error
	current  int // slab
	used     int // bytes of it
}

// slabSize is a multiple of what can be taken.
const slabSize = 1 << 20

// take returns n bytes, aligned to their size, but at most to a page.
func (a *arena) take(n int) ([]byte, error) {
	align := 512
	for align < min(n, 4096) {
		align *= 2
	}
	at := (a.used + align - 1) &^ (align - 1)
	if len(a.slabs) > 0 && at+n > slabSize {
		a.current++
		at = 0
	}
	if a.current == len(a.slabs) {
		slab, release, err := a.get(slabSize)
		if err != nil {
			return nil, err
		}
		a.slabs, a.releases = append(a.slabs, slab), append(a.releases, release)
		at = 0
	}
	a.used = at + n
	return a.slabs[a.current][at : at+n : at+n], nil
}

func (a *arena) reset() { a.current, a.used = 0, 0 }

func (a *arena) release() error {
	var errs []error
	for _, f := range a.releases {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
