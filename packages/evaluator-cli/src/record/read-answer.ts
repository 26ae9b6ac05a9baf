import {
  emulatorHeader,
  type Exchange,
  findLeak,
  keepHeaders,
  type LiveReply,
} from "evaluator-client/testing";
import { type Clock, systemErrorCode } from "evaluator-kit";
import { z } from "zod";
import type { LiveCall } from "./live-calls.ts";

/** How requests are sent. */
export interface Sending {
  readonly fetch: typeof globalThis.fetch;
  /** Time for one request with its body. */
  readonly timeoutMs: number;
  /** Every key in use: an answer that holds one is rejected before anything is read. */
  readonly keys: readonly string[];
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** An answer that cannot be used; its message repeats nothing of the answer. */
export class UnusableAnswerError extends Error {
  override readonly name = "UnusableAnswerError";
}

/**
 * Sends a call, and returns its answer in the form of an exchange's response.
 *
 * @throws UnusableAnswerError if it holds a key, has another status, or is not JSON.
 */
export async function readAnswer(call: LiveCall, sending: Sending): Promise<Exchange["response"]> {
  const { exchange } = call;
  const reply = await sendCall(call, sending);
  const publicText = `${JSON.stringify(exchange)} ${emulatorHeader}`;
  const leak = findLeak(reply, { keys: sending.keys, publicText });
  if (leak !== null) throw new UnusableAnswerError(leak);
  const expected = exchange.response.status;
  if (reply.status !== expected) {
    throw new UnusableAnswerError(`it answered ${reply.status}, not ${expected}`);
  }
  return { status: reply.status, headers: keepHeaders(reply.headers), body: parse(reply.text) };
}

function parse(text: string): Exchange["response"]["body"] {
  try {
    return z.json().parse(JSON.parse(text));
  } catch {
    throw new UnusableAnswerError("its body is not JSON");
  }
}

// Once, and without following a redirect.
async function sendCall(
  { exchange: { request }, url, apiKey }: LiveCall,
  { fetch, signal, timeoutMs, clock }: Sending,
): Promise<LiveReply> {
  const limit = new AbortController();
  const stop = clock.schedule(timeoutMs, () => limit.abort());
  try {
    const response = await fetch(url, {
      method: request.method,
      headers: { ...request.headers, authorization: `Bearer ${apiKey}` },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      redirect: "manual",
      signal: AbortSignal.any([signal, limit.signal]),
    });
    const { status, headers } = response;
    return { status, headers, text: await readText(response) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UnusableAnswerError) throw error;
    const code = systemErrorCode(error instanceof Error ? error.cause : null);
    const known = code === null ? "" : ` (${code})`;
    const why = limit.signal.aborted ? ` within ${timeoutMs} ms` : known;
    // Without the cause: what fetch throws may hold the request.
    throw new UnusableAnswerError(`no whole answer came${why}`);
  } finally {
    stop();
  }
}

const mostBytes = 1024 * 1024;

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > mostBytes) throw new UnusableAnswerError(`its body is over ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UnusableAnswerError("its body is not UTF-8");
  }
}
