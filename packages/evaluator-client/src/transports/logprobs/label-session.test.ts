import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { boolean, choice, score } from "../../questions/kinds.ts";
import { byNumber, evaluatorOver, ownServer, playChat } from "../../testing/played-chat.ts";
import { logprobsTransport } from "./logprobs-transport.ts";

const state = { from: "a@example.com", subject: "Your invoice" };
const threeQuestions = {
  category: choice("Which?", { o0: "a", o2: "b" }),
  importance: score("How much?", ["0 none", "1 some"]),
  scam: boolean("Is it?"),
};

test("all prompts of a state begin with the same bytes, up to the question", async () => {
  const { fetch, calls } = playChat(byNumber);
  await evaluatorOver(fetch, { server: "openai" }).evaluate({ state, questions: threeQuestions });
  const starts = calls.map(({ prompt }) => prompt.slice(0, prompt.indexOf("Question:")));
  expect(new Set(starts).size).toBe(1);
  expect(starts[0]).toContain(JSON.stringify(state));
});

test("one call goes first and alone, then no more at once than allowed, over all evaluations", async () => {
  const { fetch, calls } = playChat(byNumber);
  let inFlight = 0;
  let most = 0;
  const counts: number[] = [];
  const counting = async (url: string, init: RequestInit) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    counts.push(inFlight);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    inFlight -= 1;
    return fetch(url, init);
  };
  const evaluator = evaluatorOver(counting, { server: "openai", concurrency: 3 });
  await evaluator.evaluate({ state, questions: threeQuestions });
  expect(counts.slice(0, 2)).toEqual([1, 1]);
  expect(most).toBe(3);
  const both = [1, 2].map(() => evaluator.evaluate({ state, questions: threeQuestions }));
  await Promise.all(both);
  expect(most).toBe(3);
  expect(calls).toHaveLength(18);
});

test("the evaluation fails, and its open requests are aborted", async () => {
  const { fetch, calls } = playChat(byNumber);
  const aborted: boolean[] = [];
  const failing = async (url: string, init: RequestInit) => {
    if (calls.length === 2) return Response.json({ error: { message: "No." } }, { status: 400 });
    const response = await fetch(url, init);
    if (calls.length === 1) return response;
    return new Promise<Response>((_, reject) => {
      init.signal?.addEventListener("abort", () => {
        aborted.push(true);
        reject(init.signal?.reason as Error);
      });
    });
  };
  const evaluator = evaluatorOver(failing, { server: "openai", concurrency: 2 });
  await expect(evaluator.evaluate({ state, questions: threeQuestions })).rejects.toMatchObject({
    name: "StatusError",
    status: 400,
    message: expect.stringContaining('The server answered 400: "No."'),
  });
  expect(aborted).toEqual([true]);
  expect(calls).toHaveLength(2);
});

test("the next attempt asks only the open prompts, and usage counts all", async () => {
  const { fetch, calls } = playChat(byNumber);
  const statuses = [200, 200, 200, 500];
  const failing = async (url: string, init: RequestInit) =>
    statuses.shift() === 500 ? Response.json({}, { status: 500 }) : fetch(url, init);
  const transport = logprobsTransport({
    ...ownServer,
    fetch: failing,
    server: "openai",
    concurrency: 1,
  });
  const evaluator = createEvaluator({ transport, maxRetries: 1 }, { random: () => 0 });
  const evaluation = await evaluator.evaluate({ state, questions: threeQuestions });
  expect(calls).toHaveLength(6);
  expect(evaluation.timing.attempts).toBe(2);
  expect(evaluation.usage).toEqual({ inputTokens: 600, outputTokens: 6 });
});

test("a request sent twice through the transport itself is asked twice", async () => {
  const { fetch, calls } = playChat(byNumber);
  const transport = logprobsTransport({ ...ownServer, fetch, server: "openai" });
  const clock = { now: () => 0, epochNow: () => 0, schedule: () => () => undefined };
  const request = { state, questions: { scam: boolean("Is it?") } };
  const { signal } = new AbortController();
  await transport.send(request, { signal, clock });
  await transport.send(request, { signal, clock });
  expect(calls).toHaveLength(4);
});
