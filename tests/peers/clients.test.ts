import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createEmulator } from "evaluator-emulator";
import { post } from "evaluator-emulator/testing";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { installEnvironment } from "./environments.ts";
import { startRouter } from "./servers.ts";

// Clients from PyPI, Cargo and Maven that get nothing but the address and a key of the
// emulator, or of the router in front of it.

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

/** Its providers, with the base URL that its documentation gives for each, on the emulator. */
const kunobiProviders = [
  ["typesafe", rounded, "", ""],
  ["vercel", rounded, "/typesafe", ""],
  ["openrouter", rounded, "/api", "/api"],
  ["liquid", whole, "/decisions", ""],
  ["cloudflare", whole, "", null],
] as const;

const python = (bin: string) => [join(bin, "python"), join(import.meta.dirname, "clients.py")];
const programs = {
  clients: python,
  litellm: python,
  rust: (bin: string) => [join(bin, "clients")],
  // With one thread for its garbage and quick compilation, since each test starts it once.
  java: (bin: string) => [
    "java",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-cp",
    `${bin}/*:${bin}`,
    "Clients",
  ],
};

interface Peer {
  readonly name: string;
  readonly environment: keyof typeof programs;
  /** Added to the origin of the emulator and of the router, where it differs. */
  readonly paths?: readonly [emulator: string, router: string | null];
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
  {
    name: "judgment",
    environment: "rust",
    answers: rounded,
    errors: ["Unauthorized", "RateLimited"],
  },
  { name: "jev-sdk", environment: "rust", answers: rounded, errors: ["Api401", "Api429"] },
  // It has no error of its own for a limit.
  { name: "typesafe-jev", environment: "rust", answers: rounded, errors: ["Auth", "Api"] },
  {
    name: "typesafe-systemone",
    environment: "rust",
    answers: rounded,
    errors: ["Authentication", "RateLimit"],
  },
  ...kunobiProviders.map(([provider, answers, ...paths]) => ({
    name: `kunobi-decision ${provider}`,
    environment: "rust" as const,
    paths,
    answers,
    errors: ["Authentication", "RateLimit"] as const,
  })),
  {
    name: "openai-java",
    environment: "java",
    answers: whole,
    errors: ["UnauthorizedException", "RateLimitException"],
  },
  // Its message names the status.
  {
    name: "google-genai-java",
    environment: "java",
    answers: whole,
    errors: ["GaosApiException", "GaosApiException"],
  },
];

const installed = {
  clients: await installEnvironment("clients"),
  litellm: await installEnvironment("litellm"),
  rust: await installEnvironment("rust"),
  java: await installEnvironment("java"),
};

// The gateway's answers at the router are rounded, and a wrong key has the status 401 there.
const cases = peers
  .filter(({ environment }) => "bin" in installed[environment])
  .flatMap(({ paths: [emulatorPath, routerPath] = ["", ""], ...peer }) => {
    const address = `${origin}${emulatorPath}`;
    const atEmulator = { at: "the emulator", address, key: "right-key", ...peer };
    if (routerPath === null) return [atEmulator];
    const behind = { address: `${router.origin}${routerPath}`, key: token, answers: rounded };
    const atRouter = { ...peer, at: "the router", ...behind };
    if (peer.name === "google-genai") atRouter.errors = ["AuthenticationError", peer.errors[1]];
    return [atEmulator, atRouter];
  });

beforeEach(() => emulator.reset());
afterAll(async () => {
  await router[Symbol.asyncDispose]();
  await emulator.close();
});

describe.each(cases)("$name at $at", ({ name, environment, answers, errors, address, key }) => {
  const found = installed[environment];
  const bin = "bin" in found ? found.bin : "";
  const ask = async (asKey: string, count = 1) => {
    const [program = "", ...words] = programs[environment](bin);
    const env = { PATH: `${bin}:/usr/bin`, LITELLM_LOCAL_MODEL_COST_MAP: "True" };
    const all = [...words, name, address, asKey, String(count)];
    const { stdout } = await promisify(execFile)(program, all, { env });
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
