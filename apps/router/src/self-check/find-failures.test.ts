import { expect, test } from "vitest";
import type { ChatResponse } from "../routes/chat-response.ts";
import { findFailures } from "./check-prompts.ts";

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

test("an answer as expected has no failures", () => {
  expect(findFailures(answer, { tier: "balanced", minority: "frontier" })).toEqual([]);
  expect(findFailures(answer, { topTwo: ["fast", "balanced"] })).toEqual([]);
});

test("another tier, share or order is named", () => {
  expect(findFailures(answer, { tier: "nano" })).toEqual(["the tier is balanced; expected nano"]);
  expect(findFailures(answer, { minority: "nano" })).toEqual([
    "nano has a share of 0; expected a minority",
  ]);
  expect(findFailures(answer, { minority: "balanced" })).toEqual([
    "balanced has a share of 0.78; expected a minority",
  ]);
  expect(findFailures(answer, { topTwo: ["balanced", "frontier"] })).toEqual([
    "the top two shares are not those of balanced and frontier",
  ]);
});

test("a failed evaluation is printed with the error that emptied the decision", () => {
  const failures = findFailures({ error: "The gateway answered 401." }, { tier: "nano" });
  expect(failures).toEqual(["no tier was chosen: The gateway answered 401."]);
});

test("a refused reply model is named, and is not the router's failure", () => {
  const refused = { ...answer, reply: "", replyError: "Free tier users do not have access." };
  expect(findFailures(refused, { tier: "balanced" })).toEqual([
    "the reply model a/balanced failed, not the router: Free tier users do not have access.",
  ]);
});

test("a reply without text is a failure too", () => {
  expect(findFailures({ ...answer, reply: "" }, {})).toEqual([
    "the reply model a/balanced failed, not the router: it gave no text",
  ]);
});
