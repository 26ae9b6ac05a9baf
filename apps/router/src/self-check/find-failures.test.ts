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

type Prompts = NonNullable<Parameters<typeof checkPrompts>[2]>;

/** Checks one answer, and returns the printed failures. */
async function findFailures(
  given: ChatResponse | { readonly error: string },
  expected: Prompts[number]["expected"],
): Promise<string[]> {
  let printed = "";
  const prompts = [{ kind: "a prompt", message: "a message", expected }];
  const write = (text: string) => void (printed += text);
  await checkPrompts(() => Response.json(given), write, prompts);
  return printed
    .split("\n")
    .slice(1, -2)
    .map((line) => line.trim());
}

test("an expected answer has no failures", async () => {
  expect(await findFailures(answer, { tier: "balanced", minority: "frontier" })).toEqual([]);
  expect(await findFailures(answer, { topTwo: ["fast", "balanced"] })).toEqual([]);
});

test("another tier, share or order is named", async () => {
  expect(await findFailures(answer, { tier: "nano" })).toEqual([
    "the tier is balanced; expected nano",
  ]);
  expect(await findFailures(answer, { minority: "nano" })).toEqual([
    "nano has a share of 0; expected a minority",
  ]);
  expect(await findFailures(answer, { minority: "balanced" })).toEqual([
    "balanced has a share of 0.78; expected a minority",
  ]);
  expect(await findFailures(answer, { topTwo: ["balanced", "frontier"] })).toEqual([
    "the top two shares are not those of balanced and frontier",
  ]);
});

test("a failed evaluation is printed with its error", async () => {
  const failures = await findFailures({ error: "The gateway answered 401." }, { tier: "nano" });
  expect(failures).toEqual(["no tier was chosen: The gateway answered 401."]);
});

test("a refused reply model is named, and is not the router's failure", async () => {
  const refused = { ...answer, reply: "", replyError: "Free tier users do not have access." };
  expect(await findFailures(refused, { tier: "balanced" })).toEqual([
    "the reply model a/balanced failed, not the router: Free tier users do not have access.",
  ]);
});

test("a reply without text is a failure too", async () => {
  expect(await findFailures({ ...answer, reply: "" }, {})).toEqual([
    "the reply model a/balanced failed, not the router: it gave no text",
  ]);
});
