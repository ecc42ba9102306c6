package recovery

import "errors"

// slabs hands out memory that is fit for IO, and gives them back all at once.
type slabs struct {
	get      func(size int) (slab []byte, release func() error, err error)
	releases []func() error
}

func (s *slabs) take(n int) ([]byte, error) {
	slab, release, err := s.get(n)
	if err == nil {
		s.releases = append(s.releases, release)
	}
	return slab, err
}

func (s *slabs) release() error {
	var errs []error
	for _, f := range s.releases {
		errs = append(errs, f())
	}
	s.releases = nil
	return errors.Join(errs...)
}
