package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mkfs/internal/compat"
	"mkfs/internal/options"
)

// completeName is the command that cobra's shell scripts ask: its arguments are
// the words so far, and it answers with candidates.
const completeName = cobra.ShellCompRequestCmd

// newCompletionCommand makes the command that writes a script for a shell.
func newCompletionCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	scripts := map[string]func(*cobra.Command) error{
		"bash": func(c *cobra.Command) error { return bashScript(stdout, c) },
		"fish": func(c *cobra.Command) error { return c.GenFishCompletion(stdout, true) },
		"zsh":  func(c *cobra.Command) error { return c.GenZshCompletion(stdout) },
	}
	cmd := &cobra.Command{
		Use:   name + " completion [options] SHELL",
		Short: "Write a completion script for bash, zsh or fish",
		Long: `Write a script on stdout that completes options, suboptions and their values.

  bash: source <(mkfs completion bash)
  zsh:  source <(mkfs completion zsh)
  fish: mkfs completion fish | source`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || scripts[args[0]] == nil {
				return usageError{fmt.Errorf("one shell, please: %s", strings.Join(slices.Sorted(maps.Keys(scripts)), ", "))}
			}
			return scripts[args[0]](newCommand(name, stdout, stderr))
		},
	}
	return settled(cmd, stdout, stderr, exitRefused)
}

// bashChanges are what cobra's script for bash needs for lists with commas, which
// it escapes before it compares them with what was typed. Nothing that we offer
// has to be escaped.
var bashChanges = strings.NewReplacer(
	`[[ $comp == "$cur"* ]] || continue`, `[[ ${compline%%$tab*} == "$cur"* ]] || continue`,
	`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}")`, `COMPREPLY[0]=${COMPREPLY[0]%%$tab*}`,
)

func bashScript(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	if err := c.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	_, err := bashChanges.WriteString(w, b.String())
	return err
}

// candidates is the answer to a shell.
type candidates struct {
	list      []options.Completion
	directive cobra.ShellCompDirective
}

// complete prints candidates for the last of the words.
func complete(w io.Writer, name string, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	c := candidatesFor(name, words)
	for _, item := range c.list {
		fmt.Fprintf(w, "%s\t%s\n", item.Text, item.Help)
	}
	fmt.Fprintf(w, ":%d\n", c.directive)
}

func candidatesFor(name string, words []string) candidates {
	cmd, args := commandFor(name, words[:len(words)-1], io.Discard, io.Discard)
	last := words[len(words)-1]
	fs := cmd.Flags()
	if len(words) == 1 && !strings.HasPrefix(last, "-") && last != "" {
		if c := commandNames(last); len(c.list) > 0 {
			return c
		}
	}
	if len(words) > 1 && (words[0] == "help" || words[0] == "completion") {
		return wordsOf(words[0], last)
	}
	if f := wanting(fs, args); f != nil {
		return valuesOf(f, "", last)
	}
	if long, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(long, "--") {
		if f := fs.Lookup(long[2:]); f != nil {
			return valuesOf(f, "", value) // the scripts put the name before it
		}
	}
	if len(last) > 2 && last[0] == '-' && last[1] != '-' {
		if f := fs.ShorthandLookup(last[1:2]); f != nil && f.NoOptDefVal == "" {
			return valuesOf(f, last[:2], last[2:])
		}
	}
	if strings.HasPrefix(last, "-") {
		return flagNames(fs, last)
	}
	return candidates{} // a file
}

// wanting is the option whose value comes next, or nil.
func wanting(fs *pflag.FlagSet, args []string) *pflag.Flag {
	rest := getopt(fs, append(slices.Clone(args), ""))
	at := slices.Index(rest, "--")
	if at < 2 || rest[at-1] != "" { // the empty word was taken for a value
		return nil
	}
	word := rest[at-2]
	if strings.HasPrefix(word, "--") {
		return fs.Lookup(word[2:])
	}
	return fs.ShorthandLookup(word[1:])
}

// valuesOf completes an option's value; prefix is what stands before it in the word.
func valuesOf(f *pflag.Flag, prefix, value string) (c candidates) {
	words := map[string][]string{
		"preset": append(compat.Names(), "list"), "for-kernel": {"auto"},
		"engine": {"auto", "uring", "aio", "sync"}, "progress": {"auto", "bar", "plain", "json", "none"},
	}
	switch {
	case f.Value.Type() == suboptions{}.Type():
		c.list = options.Complete(f.Name[0], value)
		c.directive = cobra.ShellCompDirectiveNoSpace
		if len(c.list) > 0 {
			c.directive |= cobra.ShellCompDirectiveNoFileComp
		}
	case words[f.Name] != nil:
		c.directive = cobra.ShellCompDirectiveNoFileComp
		for _, w := range words[f.Name] {
			if strings.HasPrefix(w, value) {
				c.list = append(c.list, options.Completion{Text: w})
			}
		}
	}
	for i := range c.list {
		c.list[i].Text = prefix + c.list[i].Text
	}
	return c
}

func flagNames(fs *pflag.FlagSet, start string) candidates {
	c := candidates{directive: cobra.ShellCompDirectiveNoFileComp}
	add := func(text, help string) {
		if strings.HasPrefix(text, start) {
			c.list = append(c.list, options.Completion{Text: text, Help: help})
		}
	}
	fs.VisitAll(func(f *pflag.Flag) {
		_, _, usage := flagUsage(f)
		if f.Shorthand != "" && f.Name != "C" {
			add("-"+f.Shorthand, usage)
		}
		if f.Name != f.Shorthand {
			add("--"+f.Name, usage)
		}
	})
	return c
}

// commandNames completes the name of a command; files are not offered then.
func commandNames(start string) (c candidates) {
	for _, sub := range slices.Sorted(maps.Keys(subcommands)) {
		if strings.HasPrefix(sub, start) {
			c.list = append(c.list, options.Completion{Text: sub, Help: subcommands[sub].make("mkfs", io.Discard,
				io.Discard).Short})
		}
	}
	return c
}

func wordsOf(command, start string) candidates {
	c := candidates{directive: cobra.ShellCompDirectiveNoFileComp}
	list := []string{"bash", "fish", "zsh"}
	if command == "help" {
		list = slices.Sorted(maps.Keys(subcommands))
		for i := range options.Sections {
			list = append(list, options.Sections[i].Topic())
		}
	}
	for _, w := range list {
		if strings.HasPrefix(w, start) {
			c.list = append(c.list, options.Completion{Text: w})
		}
	}
	return c
}
