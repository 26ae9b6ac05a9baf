import { fileURLToPath } from "node:url";
import { loadExchanges } from "evaluator-client/testing";
import { expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";
import { postEvaluation, postSystemOne } from "../testing/requests.ts";
import type { Rule } from "./rules.ts";

const questions = {
  kind: {
    type: "choice",
    instructions: "What kind of mail is it?",
    criteria: { receipt: "paid", prize: "a lottery", other: null },
  },
  level: { type: "score", instructions: "How important is it?", criteria: ["low", "mid", "high"] },
  scam: { type: "boolean", instructions: "Does it look like a scam?" },
};

async function ask(rules: readonly Rule[], state: unknown = { subject: "You WON the lottery" }) {
  const emulator = createEmulator({ exchanges: [], rules });
  const { headers, json } = await postEvaluation(emulator, { state, questions });
  const { answers } = json as { answers: Record<string, Record<string, unknown>> };
  return { basis: headers.get("x-evaluator-emulator"), answers, json };
}

test("a rule gives the probabilities, by question id", async () => {
  const { basis, answers, json } = await ask([
    {
      match: "won the lottery",
      answers: { kind: { prize: 0.7, other: 0.3 }, level: { "0": 0.5, "2": 0.5 }, scam: 0.97 },
    },
  ]);
  expect(basis).toBe("basis=rule");
  expect(answers).toEqual({
    kind: {
      type: "choice",
      choice: "prize",
      probabilities: { receipt: 0, prize: 0.7, other: 0.3 },
    },
    level: { type: "score", score: 1, probabilities: { "0": 0.5, "1": 0, "2": 0.5 } },
    scam: { type: "boolean", probability: 0.97 },
  });
  expect(json).toMatchObject({
    providerMetadata: { gateway: { routing: { canonicalSlug: "local/rules-1" } } },
  });
});

test("options a rule leaves out share the rest", async () => {
  const { answers } = await ask([{ answers: { kind: { prize: 0.6 }, level: { "2": 1 } } }]);
  expect(answers["kind"]?.["probabilities"]).toEqual({ receipt: 0.2, prize: 0.6, other: 0.2 });
  expect(answers["level"]?.["score"]).toBe(2);
});

test("options that are all given are scaled to sum to 1", async () => {
  const kind = { receipt: 0.2, prize: 0.1, other: 0.1 };
  const { answers } = await ask([{ answers: { kind } }]);
  expect(answers["kind"]?.["probabilities"]).toEqual({ receipt: 0.5, prize: 0.25, other: 0.25 });
});

test("a question may be named by words of its instructions", async () => {
  const { answers } = await ask([
    { answers: { "look like a SCAM": 0.9, "how important": { "1": 1 } } },
  ]);
  expect(answers["scam"]).toMatchObject({ probability: 0.9 });
  expect(answers["level"]).toMatchObject({ score: 1 });
});

test("a key that is a question's id is not searched in the instructions of another", async () => {
  const emulator = createEmulator({ exchanges: [], rules: [{ answers: { scam: 0.9 } }] });
  const spam = { type: "boolean", instructions: "Is it spam or scam?" };
  const body = { state: "qwertz", questions: { scam: questions.scam, spam } };
  const { json } = await postEvaluation(emulator, body);
  expect(json).toMatchObject({ answers: { scam: { probability: 0.9 } } });
  expect(json).not.toMatchObject({ answers: { spam: { probability: 0.9 } } });
});

test.each([
  ["text in any case", "won THE", true],
  ["a regular expression", "/^you\\s+won/i", true],
  ["a regular expression minds the case by default", "/^you won/", false],
  ["text that is not there", "receipt", false],
  ["a key name of the state", "subject", false],
  ["no match at all", undefined, true],
])("%s", async (_what, match, isMatched) => {
  const { basis } = await ask([{ match, answers: { scam: 0.9 } }]);
  expect(basis === "basis=rule").toBe(isMatched);
});

test("for each question the first rule that fits counts, and the judge answers the rest", async () => {
  const judged = await ask([]);
  const { answers } = await ask([
    { match: "lottery", answers: { scam: 0.9 } },
    { answers: { scam: 0.1, kind: { sale: 1 } } },
    { answers: { kind: { other: 1 } } },
  ]);
  expect(answers["scam"]).toMatchObject({ probability: 0.9 });
  expect(answers["kind"]).toMatchObject({ choice: "other" });
  expect(answers["level"]).toEqual(judged.answers["level"]);
});

test.each([
  ["a number for a choice", { kind: 0.5 }],
  ["options for a yes/no question", { scam: { yes: 1 } }],
  ["an option nobody offered", { kind: { sale: 1 } }],
  ["a level beyond the last", { level: { "3": 1 } }],
  ["nothing but zeros", { kind: { receipt: 0, prize: 0, other: 0 } }],
])("%s does not fit, and is no rule's answer", async (_what, answers) => {
  expect((await ask([{ answers }])).basis).not.toBe("basis=rule");
});

test("a recorded exchange comes before a rule", async () => {
  const exchanges = fileURLToPath(import.meta.resolve("evaluator-fixtures/exchanges"));
  const exchange = loadExchanges(exchanges).find(
    ({ name }) => name === "direct/greeting-routes-to-nano",
  );
  if (exchange === undefined) throw new Error("The fixtures lack the greeting.");
  const emulator = createEmulator({ rules: [{ answers: { tier: { frontier: 1 } } }] });
  const { headers } = await postSystemOne(emulator, exchange.request.body);
  expect(headers.get("x-evaluator-emulator")).toBe("basis=recorded");
});

test("a wrong rule given in code is named by its position", () => {
  expect(() => createEmulator({ rules: [{ answers: { scam: 7 } }] })).toThrow(
    "rules: rule 1, answers.scam: ",
  );
});
