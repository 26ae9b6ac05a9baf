import { expect, test, vi } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import {
  directTransport,
  type DirectTransportOptions,
} from "./transports/direct/direct-transport.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import type { Transport } from "./transports/transport.ts";

const words = (count: number) => "word ".repeat(count);
const sent: Headers[] = [];
const fetch = async (_: unknown, { headers }: RequestInit = {}) => {
  sent.push(new Headers(headers));
  return Response.json(gatewayBody);
};
const direct = (options: DirectTransportOptions) =>
  directTransport({ apiKey: "a-key", accountId: "a", env: {}, fetch, ...options });
const gateway = (modelId?: string) =>
  gatewayTransport({ apiKey: "a-key", modelId, env: {}, fetch });

/** Asks about a state of so many words; returns the error, and whether the request was sent. */
async function ask(transport: Transport, count: number) {
  sent.length = 0;
  const evaluator = createEvaluator({ transport });
  const asked = evaluator.evaluate({ ...emailRequest, state: words(count) }, { maxRetries: 0 });
  const error: unknown = await asked.catch((failure: unknown) => failure);
  return { error, isSent: sent.length > 0 };
}

test.each<[string, Transport, number]>([
  ["gateway", gateway(), 32_000],
  ["direct", direct({}), 32_000],
  ["typesafe", direct({ service: "typesafe" }), 32_000],
  ["gemini", direct({ service: "gemini" }), 262_144],
  ["perplexity", direct({ service: "perplexity" }), 262_144],
  ["cloudflare", direct({ service: "cloudflare" }), 65_536],
])("%s refuses a longer state than it reads before it is sent", async (name, transport, most) => {
  expect((await ask(transport, most)).isSent).toBe(true);
  const { error, isSent } = await ask(transport, most + 1000);
  expect(isSent).toBe(false);
  expect(error).toMatchObject({ name: "InvalidRequestError", attempts: 0 });
  const limit = `more than the ${most.toLocaleString("en")} tokens that the service ${name} reads`;
  expect((error as Error).message).toBe(
    `The state is too long: ${limit}. Shorten it, for example with cutText().`,
  );
});

test.each<[string, Transport]>([
  ["another maker's model at the gateway", gateway("openai/gpt-6-luna")],
  ["a service whose limit is unknown", direct({ service: "openrouter" })],
  ["one's own server", direct({ baseUrl: "http://127.0.0.1:8080" })],
])("a long state is sent to %s", async (_, transport) => {
  expect((await ask(transport, 300_000)).isSent).toBe(true);
});

test("a long context is TypeSafe's alone, is sent with its header, and warns", async () => {
  const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const transport = direct({ longContext: true });
  expect(emitWarning).toHaveBeenCalledExactlyOnceWith(
    expect.stringContaining("slower and less accurate"),
    { type: "EvaluatorWarning", code: "EVALUATOR_LONG_CONTEXT" },
  );
  expect((await ask(transport, 200_000)).isSent).toBe(true);
  expect(sent[0]?.get("TypeSafe-Danger-Zone-Long-Context")).toBe("true");
  expect((await ask(transport, 263_000)).isSent).toBe(false);
  for (const other of [{ service: "gemini" }, { baseUrl: "http://127.0.0.1:8080" }] as const) {
    expect(() => direct({ ...other, longContext: true })).toThrow(
      'The option "longContext" works only with TypeSafe; leave it out.',
    );
  }
});
