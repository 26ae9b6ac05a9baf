#!/usr/bin/env bash
# Guess: a chain that asks a model for an answer and a score from each document returns the answer with the highest score, or an
# error if it cannot read a score.
# What happens: LangChain for Go sorts with whole numbers only. A score of 95.5, "95/100" or "95." is not read and is not an error:
# it ranks below every score that is. So the best answer loses to one of 20, and if all scores have decimals, as scores from 0 to
# 1 do, none is compared, and the first document's answer is returned whatever the scores say. Its parser of "Name: value"
# beside it has a like fault: a value ends at its first full stop, so a probability of 0.97 is "0.", which Go reads as 0.
# Source: Go github.com/tmc/langchaingo v0.1.14, the newest (chains/map_rerank_documents.go, outputparser/regex_dict.go); seen 2026-12-01.
# Output seen:
#   scores 20 and 95      answer 2
#   scores 20 and 95.5    answer 1
#   scores 20 and 95/100  answer 1
#   scores 0.2 and 0.9    answer 1
#   "Probability: 0.97"   "0.", as a number 0
set -euo pipefail
cd "$(mktemp -d)"
cat > run.go <<'GO'
package main
import (
	"context"
	"fmt"
	"os"
	"strconv"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/outputparser"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/schema"
)

type echo struct{} // its reply is the prompt

func (echo) Call(_ context.Context, prompt string, _ ...llms.CallOption) (string, error) { return prompt, nil }
func (echo) GenerateContent(_ context.Context, messages []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	text := messages[0].Parts[0].(llms.TextContent).Text
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text}}}, nil
}

func best(first, second string) string {
	prompt := prompts.NewPromptTemplate("{{.context}}", []string{"context"})
	chain := chains.NewMapRerankDocuments(chains.NewLLMChain(echo{}, prompt))
	documents := []schema.Document{{PageContent: "answer 1\nScore: " + first}, {PageContent: "answer 2\nScore: " + second}}
	result, err := chains.Call(context.Background(), chain, map[string]any{"input_documents": documents})
	if err != nil { panic(err) }
	fmt.Printf("%-21s %v\n", "scores "+first+" and "+second, result["text"])
	return result["text"].(string)
}
func main() {
	seen := best("20", "95") + best("20", "95.5") + best("20", "95/100") + best("0.2", "0.9")
	values, _ := outputparser.NewRegexDict(map[string]string{"p": "Probability"}, "").Parse("Probability: 0.97")
	text := values.(map[string]string)["p"]
	number, _ := strconv.ParseFloat(text, 64)
	fmt.Printf("\"Probability: 0.97\"   %q, as a number %v\n", text, number)
	if seen != "answer 2answer 1answer 1answer 1" || number != 0 { os.Exit(1) }
}
GO
{ go mod init run; go get github.com/tmc/langchaingo/{chains,outputparser}@v0.1.14; go build -o run; } > log 2>&1 || { cat log; exit 1; }
./run
