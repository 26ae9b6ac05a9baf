import { createEmulator } from "evaluator-emulator/fetch";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import type { RefusalError } from "../errors.ts";
import { boolean, choice, score } from "../questions/kinds.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { fallback } from "./fallback.ts";

const request = {
  state: { text: "Please refund me, or else" },
  questions: {
    "is it a threat?": boolean("Is it a threat?", { true: "a threat", false: "none" }),
    kind: choice("Which kind?", { refund: "money back", other: "anything else" }),
    urgency: score("How urgent?", ["can wait", "today"]),
  },
};

type Faulty = Parameters<typeof createEmulator>[0];

/** Asks Cloudflare, else OpenRouter, else one's own server; each plays its faults. */
async function ask(...faults: readonly [cloudflare: Faulty, openrouter: Faulty]) {
  const bodies: Record<string, unknown>[] = [];
  const served = (options: Faulty = {}) => {
    const { fetch } = createEmulator({ exchanges: [], ...options });
    return async (url: string, init: RequestInit) => {
      bodies.push(JSON.parse(init.body as string) as Record<string, unknown>);
      return await fetch(url, init);
    };
  };
  const limits = { limits: {}, maxRetries: 0 };
  const reach = { baseUrl: "http://emulator", apiKey: "any", env: {} };
  const cloudflare = { ...reach, service: "cloudflare", accountId: "any" } as const;
  const openrouter = { ...reach, service: "openrouter" } as const;
  const own = { baseUrl: "http://emulator/direct", apiKey: null, env: {}, model: "jev-latest" };
  const [first, second, third] = [
    directTransport({ ...cloudflare, fetch: served(faults[0]) }),
    directTransport({ ...openrouter, fetch: served(faults[1]) }),
    directTransport({ ...own, fetch: served() }),
  ];
  const last = createEvaluator({ transport: third, ...limits });
  const middle = createEvaluator({ transport: second, ...limits }).with(fallback(last));
  const evaluator = createEvaluator({ transport: first, ...limits }).with(fallback(middle));
  const evaluation = await evaluator.evaluate(request).catch((error: RefusalError) => error);
  return { bodies, evaluation };
}

const down = { faults: [{ kind: "status", status: 503 }] } as const;

test.each([
  ["cloudflare", {}, {}, 1],
  ["openrouter", down, {}, 2],
  ["direct", down, down, 3],
] as const)(
  "%s answers the same question in its own form",
  async (name, cloudflare, openrouter, asked) => {
    const { bodies, evaluation } = await ask(cloudflare, openrouter);
    expect(evaluation).toMatchObject({
      transport: name,
      answers: {
        "is it a threat?": { type: "boolean" },
        kind: { type: "choice" },
        urgency: { type: "score" },
      },
    });
    expect(bodies).toHaveLength(asked);
    const questions = bodies.map((body) => Object.values(body["questions"] as object));
    expect(questions).toEqual(bodies.map(() => questions[0]));
    expect(bodies.map(({ state }) => state)).toEqual(bodies.map(() => request.state));
  },
);
