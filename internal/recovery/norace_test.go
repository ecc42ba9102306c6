//go:build !race

package recovery

const underRace = false
