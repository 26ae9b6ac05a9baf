import { expect, test } from "vitest";
import type { ChatResponse } from "../decision/decision.ts";
import { checkPrompts } from "./run-self-check.ts";

const answer: ChatResponse = {
  tier: "balanced",
  model: "a/balanced",
  probabilities: { nano: 0, fast: 0.13, balanced: 0.78, frontier: 0.09 },
  confidence: 0.72,
  jevMs: 150,
  replyMs: 900,
  reply: "Here it is.",
  replyError: null,
  usage: null,
};

/** Checks one answer to all prompts, and returns the lines of each. */
async function check(given: Partial<ChatResponse> | { readonly error: string }) {
  let printed = "";
  const write = (text: string) => void (printed += text);
  await checkPrompts(() => Response.json({ ...answer, ...given }), write);
  const lines = printed.split("\n").slice(0, -2);
  const starts = lines.flatMap((line, at) => (/^(?:ok|failure)/.test(line) ? at : []));
  return starts.map((start, at) =>
    lines.slice(start + 1, starts[at + 1]).map((line) => line.trim()),
  );
}

const [greeting, code, perfect] = [
  "expected the tier nano",
  "expected the tier balanced, and a smaller share of frontier",
  "expected balanced and frontier to have the largest two shares",
];

test.each<[probabilities: ChatResponse["probabilities"], failures: string[][]]>([
  [{ nano: 0, fast: 0.13, balanced: 0.78, frontier: 0.09 }, [[greeting], [], [perfect]]],
  [{ nano: 0, fast: 0.04, balanced: 0.78, frontier: 0.18 }, [[greeting], [], []]],
  [{ nano: 0, fast: 0.22, balanced: 0.78, frontier: 0 }, [[greeting], [code], [perfect]]],
  [{ nano: 0, fast: 0, balanced: 0.5, frontier: 0.5 }, [[greeting], [code], []]],
])("the shares %j are checked for each prompt", async (probabilities, failures) => {
  expect(await check({ probabilities })).toEqual(failures);
});

test("another tier is a failure", async () => {
  const probabilities = { nano: 0.5, fast: 0, balanced: 0.3, frontier: 0.2 };
  expect(await check({ tier: "nano", probabilities })).toEqual([[], [code], [perfect]]);
});

test("a failed evaluation is printed with its error", async () => {
  const failure = ["no tier was chosen: The gateway answered 401."];
  const failures = await check({ error: "The gateway answered 401." });
  expect(failures).toEqual([failure, failure, failure]);
});

test("a refused reply model is named, and is not the router's failure", async () => {
  const refused = { reply: "", replyError: "Free tier users do not have access." };
  expect((await check(refused))[1]).toEqual([
    "the reply model a/balanced failed, not the router: Free tier users do not have access.",
  ]);
});

test("a reply without text is a failure too", async () => {
  expect((await check({ reply: "" }))[1]).toEqual([
    "the reply model a/balanced failed, not the router: it gave no text",
  ]);
});
