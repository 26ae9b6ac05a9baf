import * as vendor from "@typesafe-ai/sdk";
import { boolean, choice, createEvaluator, directTransport, score } from "evaluator-client";
import { expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";

const { fetch } = createEmulator({ exchanges: [] });
const bodies: string[] = [];
const recorded: typeof globalThis.fetch = async (input, init) => {
  bodies.push(init?.body as string);
  return await fetch(input, init);
};
const reach = { apiKey: "any", fetch: recorded };
const theirs = new vendor.TypeSafeClient({ ...reach, logLevel: "off" });
const ours = createEvaluator({ transport: directTransport({ ...reach, env: {} }) });

function sentQuestions(): unknown {
  return JSON.stringify((JSON.parse(bodies.pop() ?? "") as { questions: object }).questions);
}

test("the questions of the vendor's quick start are asked by both packages", async () => {
  const state = { document: "I was charged twice. Please fix this ASAP." };
  const options = { billing: null, technical: null, other: null };
  const asked = "What is this ticket about?";
  const { answers } = await ours.evaluate({
    state,
    questions: { category: choice(asked, options) },
  });
  const sent = sentQuestions();
  const response = await theirs.systemOne({
    state,
    questions: { category: vendor.choice(asked, options) },
  });
  expect(answers.category.choice).toBe(response.answers.category.choice);
  expect(sent).toBe(sentQuestions());
});

test("JSON in instructions, descriptions and levels is sent as the vendor's package sends it", async () => {
  const ask = { question: "Which kind?", hints: ["money", { of: "a lottery" }] };
  const options = {
    prize: { means: "a lottery", "2": [true, null, 1.5] },
    lunch: ["a meal"],
    x: null,
  };
  const sides = { true: ["click here"], false: { means: "news" } };
  const state = { message: "You have won the lottery, click here to claim your prize" };
  const evaluation = await ours.evaluate({
    state,
    questions: {
      kind: choice(ask, options),
      danger: score(["How bad?"], [{ label: "fine" }, ["fraud"]]),
      scam: boolean(ask, sides),
    },
  });
  const sent = sentQuestions();
  const response = await theirs.systemOne({
    state,
    questions: {
      kind: vendor.choice(ask, options),
      danger: vendor.score(["How bad?"], [{ label: "fine" }, ["fraud"]]),
      scam: vendor.noul(ask, sides),
    },
  });
  expect(sent).toBe(sentQuestions());
  const { kind, danger, scam } = evaluation.answers;
  expect(kind.choice).toBe(response.answers.kind.choice);
  expect(danger.score).toBe(response.answers.danger.score);
  expect(scam.probability).toBe(response.answers.scam.noul);
});

test("a null level, which the service refuses, is not sent", async () => {
  const levels = ["a", null] as unknown as ["a", "b"];
  const refused = ours.evaluate({ state: "x", questions: { how: score("How bad?", levels) } });
  await expect(refused).rejects.toThrow(
    '"how" is not a choice, score, boolean or box question at "criteria.1"',
  );
  expect(bodies).toEqual([]);
  const body = JSON.stringify({ state: "x", questions: { how: vendor.score("How bad?", levels) } });
  const headers = { authorization: "Bearer any" };
  const url = "https://api.typesafe.ai/v1/systemone";
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(422);
});

test.each(["openai", "gemini"] as const)("JSON reaches %s as text", async (service) => {
  const { fetch: ask } = createEmulator({ exchanges: [] });
  const sent: string[] = [];
  const transport = directTransport({
    service,
    apiKey: "any",
    env: {},
    fetch: async (input, init) => {
      sent.push(init.body as string);
      return await ask(input, init);
    },
  });
  const questions = {
    kind: choice({ ask: "Which?" }, [
      ["3", ["March"]],
      ["1", { month: "January" }],
    ]),
    danger: score(["How bad?"], [{ label: "fine" }, "fraud"]),
    scam: boolean({ ask: "Scam?" }, { true: ["yes"], false: { of: "no" } }),
  };
  const { answers } = await createEvaluator({ transport }).evaluate({ state: "x", questions });
  expect(Object.keys(answers)).toEqual(["kind", "danger", "scam"]);
  const body = sent.join("").replaceAll('\\"', "'");
  for (const text of ["{'ask':'Which?'}", "['March']", "{'label':'fine'}", "['yes']"]) {
    expect(body).toContain(text);
  }
  expect(body.indexOf("March")).toBeLessThan(body.indexOf("January"));
  expect(JSON.stringify(JSON.parse(sent[0] ?? "").questions)).not.toMatch(/"instructions":[^"]/);
});
