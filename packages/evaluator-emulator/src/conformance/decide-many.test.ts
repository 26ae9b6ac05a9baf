import { createGateway, experimental_decide as decide } from "ai";
import { beforeAll, expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";

const { fetch } = createEmulator({ exchanges: [] });
const model = createGateway({ apiKey: "local", fetch }).decisionModel("typesafe-ai/jev");
const words = ["receipt", "hello", "code", "", "constructor", "42", "no", "prize", "Ünïcödé", "🙂"];

beforeAll(() => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
});

/** Returns a request made of the words, another for each number. */
function requestNumber(number: number) {
  const word = (offset: number) => words[(number * 7 + offset * 3) % words.length] ?? "";
  const options = Array.from({ length: 1 + (number % 40) }, (_, index) => [
    `${word(index)}${index}`,
    index % 3 === 0 ? null : word(index + number),
  ]);
  const levels = Array.from({ length: 1 + (number % 10) }, (_, index) => word(index * number));
  return {
    state: number % 2 === 0 ? `${word(1)} ${word(2)}` : { [word(3)]: word(4) },
    questions: {
      choice: { type: "choice", instructions: word(6), criteria: Object.fromEntries(options) },
      score: { type: "score", instructions: word(8), criteria: levels },
      boolean: { type: "boolean", instructions: word(1) },
    },
  } as const;
}

test("500 different requests all pass the check of the `ai` package", async () => {
  const results = await Promise.all(
    Array.from({ length: 500 }, (_, number) => decide({ model, ...requestNumber(number) })),
  );
  expect(results).toHaveLength(500);
});
