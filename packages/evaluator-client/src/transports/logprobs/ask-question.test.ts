import { describe, expect, test } from "vitest";
import { type Questions, boolean, choice } from "../../questions/kinds.ts";
import {
  byNumber,
  chatBody,
  chatTokens,
  evaluatorOver,
  manyOptions,
  type Opinion,
  playChat,
  toCall,
} from "../../testing/played-chat.ts";
import type { LogprobsTransportOptions } from "./logprobs-transport.ts";

const state = { from: "a@example.com", subject: "Your invoice" };
describe("many options", () => {
  async function askMany(count: number, opinion: Opinion) {
    const { fetch, calls } = playChat(opinion);
    const questions: Questions = { which: choice("Which?", manyOptions(count)) };
    const evaluation = await evaluatorOver(fetch, { server: "openai" }).evaluate({
      state,
      questions,
    });
    const { which } = evaluation.answers as never as {
      which: { choice: string; probabilities: object };
    };
    const { logprobs } = evaluation.providerMetadata as { logprobs: { which: object } };
    return { calls, which, details: logprobs.which };
  }

  test.each([17, 64, 255])("of %d, every one has its probability", async (count) => {
    const { which, details } = await askMany(count, byNumber);
    const sum = (count * (count + 1)) / 2;
    expect(which.choice).toBe(`o${count - 1}`);
    const values = Object.values(which.probabilities) as number[];
    expect(values).toHaveLength(count);
    expect(values.reduce((total, part) => total + part, 0)).toBeCloseTo(1, 9);
    expect(values.at(-1)).toBeCloseTo(count / sum, 9);
    expect(details).toMatchObject({ truncated: false });
  });

  test("the likeliest blocks are opened until they cover enough; the rest is spread evenly", async () => {
    const opinion: Opinion = (_, option) => (option.startsWith("o3:") ? 1000 : 0.1);
    const { calls, which, details } = await askMany(64, opinion);
    // Four groups in four shifts, then one block of sixteen forward and reversed.
    expect(calls).toHaveLength(4 + 2);
    expect(which.choice).toBe("o3");
    const unopened = 4.8 / 1006.3;
    expect(details).toMatchObject({ debias: "reduced", calls: 6 });
    expect(details).toHaveProperty("unresolvedMass", expect.closeTo(unopened, 9));
    expect(which.probabilities).toHaveProperty("o40", expect.closeTo(unopened / 48, 9));
  });

  test.each([
    ["in two calls where vLLM lists what a request names", true, 2],
    ["by blocks where it lists twenty all the same", false, 2 + 2 + 14 * 2],
  ])("of 255 single tokens are read %s", async (_, isHonest, asked) => {
    const paths: string[] = [];
    const fetch = async (url: string, init: RequestInit) => {
      const call = toCall(url, "POST", init.body);
      paths.push(call.path);
      // Every text is one token here, whose id is a hash of it.
      if (call.path === "/tokenize") return Response.json({ tokens: [hash(call.body["prompt"])] });
      const all = chatTokens(call.prompt, byNumber, { mostListed: 300 });
      const ids = new Set(call.body["logprob_token_ids"] as number[]);
      const named = all.filter(({ token }) => ids.has(hash(token)));
      return Response.json(chatBody(isHonest ? named : all.slice(0, 20)));
    };
    const evaluator = evaluatorOver(fetch, { server: "vllm" });
    const questions = { which: choice("Which?", manyOptions(255)) };
    const { answers } = await evaluator.evaluate({ state, questions });
    expect(answers.which.probabilities["o254"]).toBeCloseTo(255 / 32_640, 9);
    expect(paths.filter((path) => path !== "/tokenize")).toHaveLength(asked);
  });
});

function hash(text: unknown): number {
  return Array.from(String(text)).reduce(
    (sum, letter) => (sum * 131 + letter.charCodeAt(0)) % 2 ** 31,
    7,
  );
}

describe("a reading is rejected", () => {
  const questions = { which: choice("Which?", { o1: "x", o2: "y" }) };

  async function errorOf(
    fetch: NonNullable<LogprobsTransportOptions["fetch"]>,
    options: LogprobsTransportOptions = {},
  ) {
    const evaluator = evaluatorOver(fetch, { server: "openai", ...options });
    return evaluator.evaluate({ state, questions }).then(
      () => expect.unreachable("it is rejected"),
      (error: Error) => error,
    );
  }

  test("for a low label mass, with the mass and the likeliest token", async () => {
    const error = await errorOf(playChat(byNumber, { elsewhere: 0.6 }).fetch);
    expect(error).toMatchObject({
      name: "InvalidResponseError",
      rule: "label-mass",
      questionId: "which",
    });
    expect(error.message).toContain("hold 0.40 of the probability, less than 0.5 (minLabelMass)");
    expect(error.message).toContain('Its likeliest first token is "The".');
  });

  test("not for it where less is enough", async () => {
    const { fetch } = playChat(byNumber, { elsewhere: 0.6 });
    const evaluator = evaluatorOver(fetch, { minLabelMass: 0.3 });
    expect((await evaluator.evaluate({ state, questions })).answers.which.choice).toBe("o2");
  });

  test.each<[string, RegExp]>([
    ["Your invoice", /repeats the state or a secret, so it is not shown/],
    ["invoice", /repeats the state or a secret, so it is not shown/],
    ["<", /switch thinking off/],
    ["", /likeliest first token is ""/],
    [" I\u001b[31m", /likeliest first token is "I \[31m"/],
  ])("and the token %j is shown as %s", async (token, message) => {
    const body = chatBody([
      { token, logprob: -0.01 },
      { token: "A", logprob: -6 },
    ]);
    expect((await errorOf(async () => Response.json(body))).message).toMatch(message);
  });

  test("with the tokenizer named where it splits the labels", async () => {
    const body = chatBody([{ token: "y", logprob: -0.01 }]);
    const evaluator = evaluatorOver(async () => Response.json(body), { server: "openai" });
    await expect(
      evaluator.evaluate({ state, questions: { scam: boolean("?") } }),
    ).rejects.toMatchObject({
      rule: "label-mass",
      message: expect.stringContaining("Its tokenizer splits the labels"),
    });
  });

  test("for a list too short to see the labels, whatever those hold that it shows", async () => {
    const error = await errorOf(playChat(byNumber, { elsewhere: 0.001, mostListed: 1 }).fetch);
    expect(error).toMatchObject({ name: "InvalidResponseError", rule: "readout-truncated" });
    expect(error.message).toContain(
      "has labels that hold 0.60 of the probability, of which unlisted tokens may hold 1.00, more than 0.02",
    );
  });

  test("not before llama-server was asked for more", async () => {
    const depths: unknown[] = [];
    const fetch = async (url: string, init: RequestInit) => {
      const { path, prompt, body } = toCall(url, "POST", init.body);
      if (path === "/apply-template") return Response.json({ prompt });
      depths.push(body["n_probs"]);
      const all = chatTokens(body["prompt"] as string, byNumber);
      const filling = Array.from({ length: 255 }, (_, index) => ({
        token: `x${index}`,
        logprob: Math.log(0.3 / 255),
      }));
      const shallow = [{ token: "A", logprob: Math.log(0.03) }, ...filling];
      const top_logprobs = body["n_probs"] === 256 ? shallow : all;
      return Response.json({ completion_probabilities: [{ top_logprobs }] });
    };
    const evaluator = evaluatorOver(fetch, { server: "llama.cpp", debias: "raw" });
    const { answers, providerMetadata } = await evaluator.evaluate({ state, questions });
    expect(depths).toEqual([256, 4096]);
    expect(answers.which.probabilities.o2).toBeCloseTo(0.6, 12);
    expect(providerMetadata).toMatchObject({ logprobs: { which: { calls: 2, truncated: false } } });
  });
});
