import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { onTestFinished } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { type ExchangeOptions, record } from "../exchanges/index.ts";
import type { Fetch } from "../http/http-client.ts";
import { boolean } from "../questions/kinds.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

// In pieces, so that this file holds nothing like a key.
export const recordingKey = ["vc", "k_", "q7Rz0VbM", "x3KfYt9L", "aWc5HdJ2"].join("");
/** A request with one question. */
export const scam = {
  state: { subject: "You have won the lottery" },
  questions: { scam: boolean("A scam?") },
};

/** Returns a folder that ends with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "exchanges-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Makes the gateway transport with the key. */
export const gateway = (own: Parameters<NonNullable<ExchangeOptions["transport"]>>[0]) =>
  gatewayTransport({ apiKey: recordingKey, ...own });

/** Returns an evaluator that records what the emulator answers, or `fetch`. */
export function recorder(folder: string, options: Parameters<typeof record>[1] = {}) {
  const transport = record(folder, {
    transport: gateway,
    fetch: createEmulator().fetch,
    ...options,
  });
  return createEvaluator({ transport, maxRetries: 0 });
}

/** Changes what the emulator answers before the transport sees it. */
export function changed(
  change: (body: Record<string, unknown>, headers: Headers) => unknown,
): Fetch {
  const emulator = createEmulator();
  return async (url, init) => {
    const response = await emulator.fetch(url, init);
    const headers = new Headers(response.headers);
    const body = (await response.json()) as Record<string, unknown>;
    change(body, headers);
    return Response.json(body, { status: response.status, headers });
  };
}
