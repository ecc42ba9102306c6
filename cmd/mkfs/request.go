package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"mkfs/internal/claim"
	"mkfs/internal/compat"
	"mkfs/internal/geometry"
)

// request completes what was asked with the configuration file and the
// environment, and finds the targets.
func (j *job) request() (*claim.Claims, error) {
	q := &j.parser.Request
	j.presets()
	if err := j.config("-c defaults", "defaults config file", q.DefaultsFile, j.parser.Defaults); err != nil {
		return nil, err
	}
	j.parser.CommandLine()
	if err := j.config("-c options", "config file", q.ConfigFile, j.parser.Config); err != nil {
		return nil, err
	}
	q.Spec.CPUs = runtime.NumCPU()
	q.Spec.SmallAllowed = j.unsupported || underTest()
	claims, err := claim.Find(q)
	if j.parser.Err() != nil {
		if err == nil {
			j.planRest(claims)
		}
		return nil, j.parser.Err()
	}
	return claims, err
}

// planRest looks for further faults in what makes sense by itself.
func (j *job) planRest(claims *claim.Claims) {
	if claims.Data.Narrow(&j.part, j.force) != nil {
		return
	}
	spec := j.parser.Request.Spec
	spec.Refused = j.parser.Refused()
	_, _, err := geometry.Plan(spec, claims.Device(spec.RT.Size.Given))
	if all := (*geometry.Refusals)(nil); errors.As(err, &all) {
		for _, fault := range all.List {
			j.parser.Fault(fault)
		}
	}
}

// config reads a configuration file, if one is given, and says so.
func (j *job) config(option, kind string, file geometry.Opt[string], take func(path, content string)) error {
	if !file.Given {
		return nil
	}
	content, err := readConfig(file.Value)
	if errors.Is(err, fs.ErrNotExist) {
		if text, preset, ok := compat.File(filepath.Base(file.Value)); ok {
			fmt.Fprintf(j.err, "%s: note: %s: there is no %s; the preset %s, which has the same settings, takes its place\n",
				j.name, option, file.Value, preset)
			content, err = text, nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", option, err)
	}
	take(file.Value, content)
	if j.parser.Err() == nil && !j.json {
		fmt.Fprintf(j.out, "Parameters parsed from %s %s successfully\n", kind, file.Value)
	}
	return nil
}

// maxConfig is more than any configuration file has.
const maxConfig = 1 << 20

func readConfig(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(content) > maxConfig {
		err = fmt.Errorf("%s has more than %d bytes, so it is no configuration file", path, maxConfig)
	}
	return string(content), err
}

// underTest tells whether a filesystem test-suite runs this: such make tiny
// filesystems on purpose.
func underTest() bool {
	for _, name := range []string{"TEST_DIR", "TEST_DEV", "QA_CHECK_FS"} {
		if _, set := os.LookupEnv(name); !set {
			return false
		}
	}
	return true
}
