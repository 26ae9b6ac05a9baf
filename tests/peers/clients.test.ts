import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createEmulator } from "evaluator-emulator";
import { post } from "evaluator-emulator/testing";
import { afterAll, beforeEach, describe, expect, inject, test } from "vitest";
import { startRouter } from "./servers.ts";

// Clients from PyPI that get nothing but the address and a key of the emulator, or of the router in front of it.

const rules = [
  { answers: { scam: 0.875, kind: { prize: 0.625, other: 0.375 }, level: { "1": 0.8125 } } },
];
const emulator = createEmulator({ exchanges: [], keys: ["right-key"], rules });
const { origin } = await emulator.listen();
const token = "the-key-of-the-team";
const router = await startRouter(origin, token);

/** The vendor's form has two decimals. */
const rounded = { scam: 0.88, kind: { prize: 0.63, other: 0.38 }, level: { "0": 0.19, "1": 0.81 } };
const whole = {
  scam: 0.875,
  kind: { prize: 0.625, other: 0.375 },
  level: { "0": 0.1875, "1": 0.8125 },
};

interface Peer {
  readonly name: string;
  readonly environment: "clients" | "litellm";
  readonly answers: object;
  /** The errors that it raises for a wrong key and for a limit. */
  readonly errors: readonly [wrongKey: string, limited: string];
}
const peers: readonly Peer[] = [
  {
    name: "typesafe-sdk",
    environment: "clients",
    answers: rounded,
    errors: ["TypeSafeAuthenticationError", "TypeSafeRateLimitError"],
  },
  {
    name: "decision-gateway",
    environment: "clients",
    answers: rounded,
    errors: ["TypeSafeAuthenticationError", "TypeSafeRateLimitError"],
  },
  {
    name: "openai",
    environment: "clients",
    answers: whole,
    errors: ["AuthenticationError", "RateLimitError"],
  },
  {
    name: "google-genai",
    environment: "clients",
    answers: whole,
    errors: ["BadRequestError", "RateLimitError"],
  },
  {
    name: "langchain-openai",
    environment: "clients",
    answers: whole,
    errors: ["OpenAIAuthenticationError", "OpenAIRateLimitError"],
  },
  ...(["typesafe", "openrouter"] as const).map((backend) => ({
    name: `pydecide ${backend}`,
    environment: "clients" as const,
    answers: rounded,
    errors: ["AllBackendsFailed", "AllBackendsFailed"] as const,
  })),
  {
    name: "pydecide openai_decisions",
    environment: "clients",
    answers: whole,
    errors: ["AllBackendsFailed", "AllBackendsFailed"],
  },
  {
    name: "litellm typesafe",
    environment: "litellm",
    answers: rounded,
    errors: ["AuthenticationError", "RateLimitError"],
  },
  {
    name: "litellm openai",
    environment: "litellm",
    answers: whole,
    errors: ["AuthenticationError", "RateLimitError"],
  },
];

// The gateway's answers at the router are rounded, and a wrong key has the status 401 there.
const cases = peers
  .filter(({ environment }) => "bin" in inject(environment))
  .flatMap((peer) => {
    const atEmulator = { at: "the emulator", address: origin, key: "right-key", ...peer };
    const atRouter = { at: "the router", address: router.origin, key: token, ...peer };
    if (peer.name === "google-genai") atRouter.errors = ["AuthenticationError", peer.errors[1]];
    return [atEmulator, { ...atRouter, answers: rounded }];
  });

beforeEach(() => emulator.reset());
afterAll(async () => {
  await router[Symbol.asyncDispose]();
  await emulator.close();
});

describe.each(cases)("$name at $at", ({ name, environment, answers, errors, address, key }) => {
  const installed = inject(environment);
  const bin = "bin" in installed ? installed.bin : "";
  const ask = async (asKey: string, count = 1) => {
    const words = [join(import.meta.dirname, "clients.py"), name, address, asKey, String(count)];
    const env = { PATH: bin, LITELLM_LOCAL_MODEL_COST_MAP: "True" };
    const { stdout } = await promisify(execFile)(join(bin, "python"), words, { env });
    return JSON.parse(stdout) as unknown[];
  };

  test("reads all kinds of answers, also 100 at once", async () => {
    expect(await ask(key, 100)).toEqual(Array.from({ length: 100 }, () => answers));
  });

  test("reports a wrong key as one", async () => {
    expect(await ask("wrong-key")).toMatchObject([{ error: errors[0] }]);
  });

  test("reports a rate limit as one", async () => {
    await post(emulator, "/_emulator/faults", { body: { kind: "status", status: 429 } });
    expect(await ask(key)).toMatchObject([{ error: errors[1] }]);
  });
});
