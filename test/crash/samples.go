package main

import "context"

func (j *judge) samples(ctx context.Context, dir string) error { return nil }
