import { systemErrorCode } from "evaluator-kit";
import {
  emulatorHeader,
  type Exchange,
  findLeak,
  keepHeaders,
  type LiveReply,
} from "evaluator-client/testing";
import { z } from "zod";
import type { LiveCall } from "./choose-calls.ts";
import { type LiveContext, UnusableAnswerError } from "./live-context.ts";

/**
 * Makes each call, one after the other; one that fails does not stop the rest.
 *
 * @param onFailure - Called with each call whose answer could not be used, and why.
 * @returns how many failed.
 */
export async function askEach(
  calls: readonly LiveCall[],
  ask: (call: LiveCall) => Promise<void>,
  onFailure: (name: string, reason: string) => void,
): Promise<number> {
  let failures = 0;
  for (const call of calls) {
    try {
      await ask(call);
    } catch (error) {
      if (!(error instanceof UnusableAnswerError)) throw error;
      failures += 1;
      onFailure(call.exchange.name, error.message);
    }
  }
  return failures;
}

/**
 * Sends a call and gives its answer in the form of an exchange's response, kept headers only.
 *
 * @param keys - Every key in use; an answer that holds one is rejected before anything is read.
 * @throws {UnusableAnswerError} when it holds a key, has another status, or is no JSON.
 */
export async function readAnswer(
  call: LiveCall,
  { keys, ...context }: LiveContext & { keys: readonly string[] },
): Promise<Exchange["response"]> {
  const { exchange } = call;
  const reply = await sendCall(call, context);
  const publicText = `${JSON.stringify(exchange)} ${emulatorHeader}`;
  const leak = findLeak(reply, { keys, publicText });
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

/**
 * Sends an exchange's request with the key, once; follows no redirect.
 *
 * @throws {UnusableAnswerError} when no whole answer came; the signal's reason when aborted.
 */
async function sendCall(
  { exchange: { request }, url, apiKey }: LiveCall,
  { fetch, signal, timeoutMs, clock }: LiveContext,
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
    const why = limit.signal.aborted ? ` within ${timeoutMs} ms` : codeOf(error);
    // Without the cause: what fetch throws may hold the request.
    throw new UnusableAnswerError(`no whole answer came${why}`);
  } finally {
    stop();
  }
}

function codeOf(error: unknown): string {
  const code = systemErrorCode(error instanceof Error ? error.cause : null);
  return code === null ? "" : ` (${code})`;
}

const mostBytes = 1024 * 1024;

/**
 * Reads the text of a response, up to 1 MiB.
 *
 * @throws {UnusableAnswerError} when it is longer, or no UTF-8.
 */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > mostBytes) throw new UnusableAnswerError(`its body is over ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return decode(Buffer.concat(chunks));
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UnusableAnswerError("its body is not UTF-8");
  }
}
