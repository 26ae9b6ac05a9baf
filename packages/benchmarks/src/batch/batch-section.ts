import { startChild } from "evaluator-cli-kit/child";
import { triageQuestions } from "../sample-requests.ts";
import { printNumber } from "../figures.ts";
import type { SectionResult, SectionContext } from "../section.ts";
import type { BatchFigures, BatchService, MemorySample } from "./batch-process.ts";

const CONCURRENCY = 32;
const MB = 2 ** 20;

/** Measures a long `evaluateMany`: its rate, and whether its memory stays flat. */
export async function batchSection(context: SectionContext): Promise<SectionResult> {
  const { server, clientFolder, scale, tell } = context;
  const requests = scale.batchRequests;
  tell(`batch, ${requests} requests`);
  await server.answer(triageQuestions());
  const child = startChild<BatchService>(new URL("batch-process.ts", import.meta.url), [
    "--expose-gc",
  ]);
  try {
    const target = { clientFolder, baseUrl: server.addresses.gateway };
    const figures = await child.ask("runBatch", { ...target, requests, concurrency: CONCURRENCY });
    return { tables: [toTable(requests, figures)], data: { requests, ...figures } };
  } finally {
    await child.close();
  }
}

function toTable(requests: number, figures: BatchFigures) {
  const { wallMs, cpuUs, memory, liveEarly, liveLate, peakRss } = figures;
  const fifth = Math.ceil(memory.length / 5);
  const [first, last] = [memory.slice(0, fifth), memory.slice(-fifth)];
  return {
    title: `\`evaluateMany\` over ${requests.toLocaleString("en")} requests, ${CONCURRENCY} in flight`,
    columns: ["", ""],
    rows: [
      ["requests/s", printNumber((requests / wallMs) * 1000)],
      ["CPU µs per request", printNumber(cpuUs / requests)],
      ["alive on the heap after a tenth, MB", printNumber(liveEarly / MB)],
      ["alive on the heap at the end, MB", printNumber(liveLate / MB)],
      ["heap in the first fifth, most MB", printNumber(mostOf(first, "heapUsed") / MB)],
      ["heap in the last fifth, most MB", printNumber(mostOf(last, "heapUsed") / MB)],
      ["resident in the first fifth, most MB", printNumber(mostOf(first, "rss") / MB)],
      ["resident in the last fifth, most MB", printNumber(mostOf(last, "rss") / MB)],
      ["resident, most MB ever", printNumber(peakRss / MB)],
    ],
  };
}

function mostOf(samples: readonly MemorySample[], kind: keyof MemorySample): number {
  return Math.max(...samples.map((sample) => sample[kind]));
}
