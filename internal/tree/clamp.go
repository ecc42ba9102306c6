package tree

import "context"

// Clamp is a tree in which no file has a later time than one.
func Clamp(t Tree, latest Time) Tree { return clamped{t, latest} }

type clamped struct {
	Tree
	latest Time
}

func (c clamped) Open(ctx context.Context) (Source, error) {
	src, err := c.Tree.Open(ctx)
	if err != nil {
		return nil, err
	}
	return clampedSource{src, c.latest}, nil
}

type clampedSource struct {
	Source
	latest Time
}

func (c clampedSource) Next() (*Entry, error) {
	e, err := c.Source.Next()
	if err != nil {
		return e, err
	}
	for _, at := range [...]*Time{&e.Modified, &e.Accessed} {
		if at.Given && (at.Sec > c.latest.Sec || at.Sec == c.latest.Sec && at.Nsec > c.latest.Nsec) {
			*at = c.latest
		}
	}
	return e, nil
}
