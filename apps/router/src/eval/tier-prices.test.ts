import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { tierNames } from "../decision/tier-question.ts";
import { runHere } from "../testing/start-program.ts";

test("the tiers have the models and prices of the router's file", async () => {
  const folder = await temporaryFolder();
  const write = async (name: string, content: object) => {
    await writeFile(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  const tiers = tierNames.map((tier, at) => {
    const price = { input: at === 3 ? 0 : 1000, output: 1000 * at };
    return [tier, { upstream: "own", model: `m-${3 - at}`, price }];
  });
  const upstreams = { own: { type: "openai-chat", baseUrl: "http://127.0.0.1:9" } };
  const config = await write("config.json", { upstreams, tiers: Object.fromEntries(tiers) });
  const scores = { "m-0": 0.9, "m-1": 0.8, "m-2": 0.7, "m-3": 0.6 };
  const prompts = await write("prompts.ndjson", { prompt: "abcd", scores });
  const words = [prompts, "--draws", "1", "--json"];
  const { code, stdout } = await runHere("eval", { ROUTER_CONFIG: config }, words);
  expect(code).toBe(0);
  const { ways, costBasis } = JSON.parse(stdout) as { ways: object[]; costBasis: string };
  expect(costBasis).toContain("US dollars");
  expect(ways[1]).toMatchObject({ quality: { value: 0.6 }, cost: { value: 0.001 } });
  expect(ways[2]).toMatchObject({ quality: { value: 0.9 }, cost: { value: 0.9 } });
});
