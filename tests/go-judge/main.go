// Runs the Go package github.com/seiflotfy/cuckoofilter on keys and filters from stdin.
//
// Each line on stdin is a question, each line on stdout its answer. Byte strings are in hex, "-" is
// the empty one.
//
//	make CAPACITY KEY…    →  BYTES INSERTED LOOKED-UP COUNT   a new filter with the keys
//	read BYTES KEY…       →  BYTES LOOKED-UP COUNT, or "error …"   a filter decoded and encoded again
//
// INSERTED and LOOKED-UP have one digit per key: 1 if Insert or Lookup returned true.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"

	cuckoo "github.com/seiflotfy/cuckoofilter"
)

func unhex(text string) []byte {
	if text == "-" {
		return []byte{}
	}
	bytes, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return bytes
}

func digits(keys []string, ask func([]byte) bool) string {
	answers := make([]byte, len(keys))
	for i, key := range keys {
		answers[i] = '0'
		if ask(unhex(key)) {
			answers[i] = '1'
		}
	}
	return string(answers)
}

func answer(words []string) string {
	keys := words[2:]
	switch words[0] {
	case "make":
		capacity, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil {
			panic(err)
		}
		filter := cuckoo.NewFilter(uint(capacity))
		inserted := digits(keys, filter.Insert)
		lookedUp := digits(keys, filter.Lookup)
		return fmt.Sprintf("%x %s. %s. %d", filter.Encode(), inserted, lookedUp, filter.Count())
	case "read":
		filter, err := cuckoo.Decode(unhex(words[1]))
		if err != nil {
			return "error " + err.Error()
		}
		return fmt.Sprintf("%x %s. %d", filter.Encode(), digits(keys, filter.Lookup), filter.Count())
	default:
		panic("unknown question " + words[0])
	}
}

func main() {
	rand.Seed(1) // The package moves random fingerprints: a fixed seed moves the same ones in every run.
	questions := bufio.NewScanner(os.Stdin)
	questions.Buffer(nil, 1<<26)
	answers := bufio.NewWriter(os.Stdout)
	for questions.Scan() {
		fmt.Fprintln(answers, answer(strings.Fields(questions.Text())))
		answers.Flush()
	}
	if err := questions.Err(); err != nil {
		panic(err)
	}
}
