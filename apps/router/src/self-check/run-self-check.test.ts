import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../testing/keep-output.ts";
import { runHere } from "../testing/start-program.ts";

const decider = { EVALUATOR_TRANSPORT: "logprobs", EVALUATOR_MODEL_ID: "qwen3:4b" };
const tierModels = {
  ROUTER_MODEL_NANO: "a",
  ROUTER_MODEL_FAST: "a",
  ROUTER_MODEL_BALANCED: "a",
  ROUTER_MODEL_FRONTIER: "a",
};
const nowhere = "http://127.0.0.1:9";

test("the emulator answers unless --live is given, key or no key", async () => {
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  const env = { AI_GATEWAY_API_KEY: plantedKey, EVALUATOR_BASE_URL: gatewayBaseUrl };
  const recorded = await runHere("self-check", { ...env, EVALUATOR_BASE_URL: nowhere });
  expect(recorded).toMatchObject({ code: 0, stderr: "" });
  expect(recorded.stdout).toMatch(/^Answers are recordings, played by the local emulator;/);
  const live = await runHere("self-check", env, ["--live"]);
  expect(live).toMatchObject({ code: 0, stderr: "" });
  expect(live.stdout).toContain(`Replies come from the gateway at ${gatewayBaseUrl}.`);
});

const deciding = { ...decider, EVALUATOR_LOGPROBS_BASE_URL: nowhere };

test.each([{}, { ROUTER_REPLY_BASE_URL: nowhere, ...tierModels }, deciding])(
  "--live with %j alone names the missing variables",
  async (some) => {
    const { code, stderr } = await runHere("self-check", some, ["--live"]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      "set AI_GATEWAY_API_KEY, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL, or leave out",
    );
  },
);

test("--live asks the user's own server, and without it the emulator's own models are asked", async () => {
  const own = {
    ...deciding,
    ROUTER_REPLY_BASE_URL: nowhere,
  };
  const live = await runHere("self-check", own, ["--live"]);
  expect(live.code).toBe(1);
  expect(live.stdout).toContain(`Decisions are asked of qwen3:4b at ${nowhere}`);
  expect(live.stdout).toContain(`Replies come from the models at ${nowhere}/v1.`);
  const recorded = await runHere("self-check", own);
  expect(recorded.stdout).toContain("3 of 3 prompts passed");
});

test("--live asks the upstreams of the file", async () => {
  const folder = await temporaryFolder();
  const tier = { upstream: "own", model: "a-model" };
  const tiers = { nano: tier, fast: tier, balanced: tier, frontier: tier };
  const upstreams = { own: { type: "openai-chat", baseUrl: nowhere } };
  const file = join(folder, "config.json");
  await writeFile(file, JSON.stringify({ upstreams, tiers }));
  const env = { ...deciding, ROUTER_CONFIG: file };
  const { code, stdout } = await runHere("self-check", env, ["--live"]);
  expect(code).toBe(1);
  expect(stdout).toContain("Replies come from own.");
});

test.each([["--life"], ["now"], ["--live=yes"]])("%s shows how to get the help", async (word) => {
  const { code, stderr } = await runHere("self-check", {}, [word]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^[^\n]+\nFor its options: evaluator-router self-check --help\n$/);
});
