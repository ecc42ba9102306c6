//go:build race

package recovery

// underRace says that the race detector watches, which makes all take ten times
// as long: long series are thinned out.
const underRace = true
