import { seededRandom } from "evaluator-kit/seeded-random";
import { type Call, type Trap, trapKinds } from "../call.ts";
import { isEventStream } from "../deliver-by-fetch.ts";
import { exhaustedResponse, statusResponse } from "./error-response.ts";
import type { Fault } from "./fault.ts";
import { isSpoiler, spoilResponse } from "./spoilers.ts";

/** A fault that changes the response of a call. */
type BreakingFault = Exclude<Fault, { kind: "latency" }>;

interface Entry {
  readonly fault: Fault;
  readonly draw: (text: string) => number;
  readonly drawJitter: (text: string) => number;
  remainingCount: number;
}

/**
 * Makes the list of active faults, which are played on calls.
 *
 * @param seed - Decides which calls a fault with a rate is played on.
 * @param sleep - Waits for a latency; rejects if the signal aborts.
 */
export function createFaultBook(
  initial: readonly Fault[],
  seed: number,
  sleep: (delayMs: number, signal: AbortSignal) => Promise<void>,
) {
  let entries: Entry[] = [];
  const add = (faults: readonly Fault[]) => {
    for (const plannedFault of faults) {
      const draw = createDraws(`${seed}/${entries.length}`);
      const drawJitter = createDraws(`${seed}/${entries.length}/jitter`);
      const remainingCount = plannedFault.next ?? Number.POSITIVE_INFINITY;
      entries.push({ fault: plannedFault, draw, drawJitter, remainingCount });
    }
  };
  add(initial);
  return {
    /** Answers a call by `next`, after the latencies and with the first fault that apply to it. */
    async play(emulatedCall: Call, next: () => Promise<Response>): Promise<Response> {
      const open = entries.filter(
        ({ fault, remainingCount }) => remainingCount > 0 && isFor(fault, emulatedCall.path),
      );
      const { latencyMs, fault } = use(open, open.some(isDrawn) ? await toText(emulatedCall) : "");
      if (latencyMs > 0) await sleep(latencyMs, emulatedCall.request.signal);
      return fault === null ? await next() : await play(fault, emulatedCall, next);
    },
    add,
    /** Restores the initial faults, none of them used. */
    reset() {
      entries = [];
      add(initial);
    },
    clear() {
      entries = [];
    },
    list: () => entries.map(toListed),
  };
}

// Chosen, not measured: more texts than a test sends, and few enough to keep.
const rememberedValue = 100_000;

/**
 * Returns numbers from 0 up to 1 that depend on the seed, the text and how often the text came
 * before; so the same requests draw the same numbers in whatever order they arrive.
 */
function createDraws(seed: string): (stateText: string) => number {
  const turns = new Map<string, number>();
  return (stateText) => {
    const digest = `${toHash(stateText, 1)}/${toHash(stateText, 2)}`;
    const turn = (turns.get(digest) ?? 0) + 1;
    if (turns.size >= rememberedValue) turns.clear();
    turns.set(digest, turn);
    return seededRandom(toHash(`${seed}/${turn}/${digest}`, 1))();
  };
}

/** Returns a hash of 32 bits, FNV-1a from a start; draws need no stronger one. */
function toHash(hashedText: string, start: number): number {
  let hash = start;
  for (let at = 0; at < hashedText.length; at += 1) {
    hash = Math.imul(hash ^ hashedText.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** Returns a fault and the number of calls that are left; JSON prints infinity as null. */
function toListed({ fault, remainingCount }: Entry) {
  return { ...fault, left: remainingCount };
}

function isDrawn({ fault }: Entry): boolean {
  return fault.rate !== undefined || (fault.kind === "latency" && fault.jitterMs !== undefined);
}

/** Uses up the faults of a call: the sum of its latencies, and the first other fault. */
function use(open: readonly Entry[], text: string) {
  let latencyMs = 0;
  let pickedBreakingFault: BreakingFault | null = null;
  for (const entry of open) {
    const { fault, draw, drawJitter } = entry;
    const isSpare = fault.kind !== "latency" && pickedBreakingFault !== null;
    // Another call may have used the last one while this one was read.
    if (isSpare || entry.remainingCount === 0) continue;
    if (fault.rate !== undefined && draw(text) >= fault.rate) continue;
    entry.remainingCount -= 1;
    if (fault.kind === "latency") {
      const { jitterMs = 0 } = fault;
      latencyMs += fault.latencyMs;
      if (jitterMs > 0) latencyMs += Math.floor(drawJitter(text) * (jitterMs + 1));
    } else pickedBreakingFault = fault;
  }
  return { latencyMs, fault: pickedBreakingFault };
}

/** Returns the text of a request by which faults are drawn; never its key. */
async function toText(emulatedCall: Call): Promise<string> {
  const bodyText = await emulatedCall.text().catch(() => "");
  return `${emulatedCall.request.method} ${emulatedCall.path}\n${bodyText}`;
}

const logprobPaths = new Set(["/v1/chat/completions", "/completion", "/generate"]);
const evaluationPattern = /\/(?:evaluation-model|decision-model|systemone|decisions|@cf\/.+)$/;

function isTrap(kind: Fault["kind"]): kind is Trap {
  return trapKinds.some((engineTrap) => engineTrap === kind);
}

function isFor(plannedFault: Fault, requestPath: string): boolean {
  if (isSpoiler(plannedFault.kind) && !evaluationPattern.test(requestPath)) return false;
  if (isTrap(plannedFault.kind) && !logprobPaths.has(requestPath)) return false;
  if (plannedFault.path === undefined) return true;
  return plannedFault.path.endsWith("*")
    ? requestPath.startsWith(plannedFault.path.slice(0, -1))
    : requestPath === plannedFault.path;
}

async function play(
  fault: BreakingFault,
  emulatedCall: Call,
  next: () => Promise<Response>,
): Promise<Response> {
  const { delivery } = emulatedCall;
  if (fault.kind === "hang" || fault.kind === "reset") {
    Object.assign(delivery, { ending: fault.kind, hasResponse: false });
    return new Response(null);
  }
  const response = await responseTo(fault, emulatedCall, next);
  mark(response, fault);
  if (fault.kind === "reset-body") delivery.ending = "reset";
  if (fault.kind === "cut-body") delivery.ending = "cut";
  return response;
}

/** A call whose response is spoilt was answered and charged. */
async function responseTo(
  fault: BreakingFault,
  emulatedCall: Call,
  next: () => Promise<Response>,
): Promise<Response> {
  if (fault.kind === "status") return await statusResponse(fault, emulatedCall);
  if (fault.kind === "exhausted-quota") return await exhaustedResponse(emulatedCall);
  if (fault.kind === "html") return htmlPage(fault.status ?? 502);
  if (isTrap(fault.kind)) emulatedCall.trap = fault.kind;
  const response = await next();
  if (isSpoiler(fault.kind)) return await spoilResponse(response, fault.kind, emulatedCall);
  return fault.kind === "malformed-json" ? await malformJson(response) : response;
}

/** Adds the fault to the emulator's header. */
function mark({ headers }: Response, { kind }: BreakingFault): void {
  const basis = headers.get("x-evaluator-emulator");
  headers.set("x-evaluator-emulator", basis === null ? `fault=${kind}` : `${basis}; fault=${kind}`);
}

/** Removes the last character of a body, or the end of every event of a stream. */
async function malformJson(response: Response): Promise<Response> {
  if (response.body === null) return response;
  const jsonText = await response.text();
  const spoilt = isEventStream(response)
    ? jsonText.replaceAll("}\n\n", "\n\n")
    : jsonText.slice(0, -1);
  return new Response(spoilt, response);
}

function htmlPage(statusCode: number): Response {
  const page = "<!doctype html><title>Bad gateway</title><h1>Something in between answered</h1>\n";
  return new Response(page, {
    status: statusCode,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}
