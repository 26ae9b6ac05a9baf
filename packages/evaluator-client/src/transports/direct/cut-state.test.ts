import { createEmulator } from "evaluator-emulator/fetch";
import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { boolean } from "../../questions/kinds.ts";
import { image } from "../../questions/state.ts";
import { askService, ofWire, replyOf } from "../../testing/ask-service.ts";
import { isStateCut } from "./cut-state.ts";
import { directTransport } from "./direct-transport.ts";
import { serviceRows, services } from "./services.ts";

test.each(services)("%s: a cut state is a warning, and the answers are kept", async (service) => {
  const { fetch } = createEmulator({ exchanges: [], faults: [{ kind: "cut-state" }] });
  const own = { apiKey: "any", accountId: "any", baseUrl: "http://emulator", env: {}, fetch };
  const model = serviceRows[service].model ?? "any";
  const transport = directTransport({ ...own, model, service });
  const request = { state: "a letter", questions: { isScam: boolean("Is it a scam?") } };
  const evaluation = await createEvaluator({ transport }).evaluate(request);
  expect(evaluation.warnings).toEqual([
    {
      type: "state-cut",
      message:
        "The service did not read the whole state: it dropped 100 tokens. Its answers are about the rest; shorten the state.",
    },
  ]);
  expect(isStateCut(evaluation)).toBe(true);
  expect(evaluation.answers.isScam.type).toBe("boolean");
});

const counted = (input_tokens: number) => ({ usage: { input_tokens, output_tokens: 0 } });
const long = "The parcel came late. ".repeat(200);
const png = image(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a));

test.each([
  ["truncated", { usage: { ...ofWire.systemone.usage, truncated: true } }, "a letter"],
  ["truncated questions", { truncated_questions: ["kind"] }, "a letter"],
  ["a number of truncated questions", { truncated_questions: 1 }, "a letter"],
  ["less than half of the estimate", counted(400), long],
])("%s is a cut state", async (_, fields, state) => {
  const { evaluation } = await askService(
    "openrouter",
    { body: replyOf("perplexity", fields) },
    { state },
  );
  expect(evaluation?.warnings).toMatchObject([{ type: "state-cut" }]);
});

test.each([
  [
    "false flags",
    { usage: { ...ofWire.systemone.usage, truncated: false, state_tokens_dropped: 0 } },
    "a letter",
  ],
  ["no truncated question", { truncated_questions: [] }, "a letter"],
  ["more than half of the estimate", counted(700), long],
  ["no count", counted(0), long],
  ["no usage", { usage: undefined }, long],
  ["a short state", counted(10), "The parcel came late. ".repeat(20)],
])("%s is a whole state", async (_, fields, state) => {
  const { evaluation } = await askService(
    "openrouter",
    { body: replyOf("perplexity", fields) },
    { state },
  );
  expect(evaluation?.warnings).toEqual([]);
});

test("the tokens of an image are not compared", async () => {
  const body = replyOf("typesafe", counted(400));
  const { evaluation } = await askService("typesafe", { body }, { state: [long, png] });
  expect(evaluation?.warnings).toEqual([]);
});
