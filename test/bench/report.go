package main

import (
	"fmt"
	"slices"
	"strings"
)

// table is printed as Markdown.
type table struct{ rows [][]string }

func newTable(head ...string) *table {
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---"
	}
	return &table{rows: [][]string{head, rule}}
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print() {
	for _, r := range t.rows {
		fmt.Printf("| %s |\n", strings.Join(r, " | "))
	}
}

func times(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// spread is the range of values.
func spread(values []float64) string {
	return times(slices.Min(values)) + " to " + times(slices.Max(values))
}

// compare prints the first contender beside each of the others.
func compare(list []contender, samples [][]sample, peaks []int64) {
	t := newTable(list[0].name+" beside", "times the rate", "range", "times less CPU", "memory")
	for i := 1; i < len(list); i++ {
		rate := pairs(samples[0], samples[i], rateOf)
		cpu := pairs(samples[i], samples[0], cpuOf)
		t.row(list[i].name, times(median(rate)), spread(rate), times(median(cpu)),
			fmt.Sprintf("%d MiB to %d MiB", peaks[0]>>20, peaks[i]>>20))
	}
	t.print()
}
