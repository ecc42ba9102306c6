package geometry

import (
	"slices"
	"testing"
)

// A step needs steps before it, and all of them bear on the last one.
func TestSteps(t *testing.T) {
	var names []string
	needed := map[string]bool{steps[len(steps)-1].name: true}
	for _, s := range steps {
		for _, need := range s.needs {
			if !slices.Contains(names, need) {
				t.Errorf("%s needs %s, which is no step before it", s.name, need)
			}
			needed[need] = true
		}
		names = append(names, s.name)
	}
	for _, s := range steps {
		settles := s.name != "supported size" && s.name != "inheritance" && s.name != "root directory"
		if settles && !needed[s.name] {
			t.Errorf("nothing needs %s", s.name)
		}
	}
	for name := range stepSizes {
		if !slices.Contains(names, name) {
			t.Errorf("there is no step %s", name)
		}
	}
}
