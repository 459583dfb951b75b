// Renders a Helm chart for the tests on machines without Helm, with the template engine and the functions that Helm uses.
//
// Usage: render CHART VALUES, both paths. It prints all templates as one YAML stream, and NOTES.txt as its last document.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type values = map[string]interface{}

func readYaml(path string) values {
	content, err := os.ReadFile(path)
	check(err)
	document := values{}
	check(yaml.Unmarshal(content, &document))
	return document
}

// Helm merges maps and replaces everything else.
func merged(base, over values) values {
	for name, value := range over {
		inner, isMap := value.(values)
		outer, wasMap := base[name].(values)
		if isMap && wasMap {
			base[name] = merged(outer, inner)
		} else {
			base[name] = value
		}
	}
	return base
}

func toYaml(value interface{}) (string, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

func required(message string, value interface{}) (interface{}, error) {
	if value == nil || value == "" {
		return nil, errors.New(message)
	}
	return value, nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	folder := os.Args[1]
	chart := readYaml(filepath.Join(folder, "Chart.yaml"))
	for _, name := range []string{"name", "version", "appVersion"} {
		chart[strings.ToUpper(name[:1])+name[1:]] = chart[name]
	}
	root := values{
		"Chart":   chart,
		"Values":  merged(readYaml(filepath.Join(folder, "values.yaml")), readYaml(os.Args[2])),
		"Release": values{"Name": "dps", "Namespace": "platform", "Service": "Helm"},
	}
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = toYaml
	functions["required"] = required
	functions["include"] = func(name string, argument interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, argument)
		return text.String(), err
	}
	all.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		check(err)
		_, err = all.New(filepath.Base(file)).Parse(string(content))
		check(err)
	}
	notes := ""
	for _, file := range files {
		var text strings.Builder
		check(all.ExecuteTemplate(&text, filepath.Base(file), root))
		if filepath.Base(file) == "NOTES.txt" {
			notes = text.String()
		} else if strings.HasSuffix(file, ".yaml") {
			fmt.Printf("---\n%s\n", text.String())
		}
	}
	document, err := toYaml(values{"notes": notes})
	check(err)
	fmt.Printf("---\n%s\n", document)
}
