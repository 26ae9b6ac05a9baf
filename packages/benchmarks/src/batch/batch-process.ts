import process from "node:process";
import type { EvaluationRequest } from "evaluator-client";
import { loadClient } from "../client-build.ts";
import { apiKey, mailState, triageQuestions } from "../sample-requests.ts";
import { serveParent } from "evaluator-cli-kit/child";
import { verifierFor } from "../server/replies.ts";

/** A batch to run. */
export interface BatchOptions {
  readonly clientFolder: string;
  /** The gateway's base URL. */
  readonly baseUrl: string;
  readonly requests: number;
  readonly concurrency: number;
}

/** The memory at one moment, in bytes. */
export interface MemorySample {
  readonly heapUsed: number;
  readonly rss: number;
}

/** What a batch took; every item in it was verified. */
export interface BatchFigures {
  readonly wallMs: number;
  /** Processor time of the whole process, in microseconds. */
  readonly cpuUs: number;
  /** The memory at a hundred moments, evenly apart, garbage included. */
  readonly memory: readonly MemorySample[];
  /** What is alive on the heap after the first tenth of the requests, in bytes. */
  readonly liveEarly: number;
  /** The same after the last request. */
  readonly liveLate: number;
  /** The most the process ever held, in bytes. */
  readonly peakRss: number;
}

const questions = triageQuestions();

function* requestsUpTo(count: number): Generator<EvaluationRequest> {
  for (let index = 0; index < count; index += 1) yield { state: mailState(index), questions };
}

async function runBatch(options: BatchOptions): Promise<BatchFigures> {
  const { clientFolder, baseUrl, requests, concurrency } = options;
  const { createEvaluator, gatewayTransport } = await loadClient(clientFolder);
  const evaluator = createEvaluator({ transport: gatewayTransport({ apiKey, baseUrl, env: {} }) });
  const verify = verifierFor(questions);
  const memory: MemorySample[] = [];
  let done = 0;
  let liveEarly = 0;
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  for await (const item of evaluator.evaluateMany(requestsUpTo(requests), { concurrency })) {
    if (item.status === "failed") throw item.error;
    if (item.index !== done) throw new Error(`Item ${item.index} came in place of ${done}.`);
    verify(item.evaluation.answers);
    done += 1;
    if (done % Math.ceil(requests / 100) === 0) memory.push(memoryNow());
    if (done === Math.ceil(requests / 10)) liveEarly = liveHeap();
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const wallMs = performance.now() - startedAt;
  if (done !== requests) throw new Error(`${done} of ${requests} requests were answered.`);
  const peakRss = process.resourceUsage().maxRSS * 1024;
  return { wallMs, cpuUs: user + system, memory, liveEarly, liveLate: liveHeap(), peakRss };
}

/** The heap without its garbage. */
function liveHeap(): number {
  if (globalThis.gc === undefined) throw new Error("The process was started without --expose-gc.");
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

function memoryNow(): MemorySample {
  const { heapUsed, rss } = process.memoryUsage();
  return { heapUsed, rss };
}

const service = { runBatch };

/** What a batch process does when asked. */
export type BatchService = typeof service;

serveParent(service);
