import { mkdtempDisposable } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startChild } from "evaluator-kit/child";
import { request } from "undici";
import greeting from "evaluator-fixtures/exchanges/direct/greeting-routes-to-nano.json" with { type: "json" };
import {
  compareRounds,
  printNumber,
  printSummary,
  type ReportTable,
  summarise,
} from "../figures.ts";
import type { SectionContext } from "../section-context.ts";
import { measureRounds, type RoundsByName } from "../calls/contestants.ts";
import { cpuUsPerCall, type RoundOptions, roundsOf } from "../calls/run-round.ts";
import { openPost } from "../sample-requests.ts";
import type { ChatUpstreamService } from "./chat-upstream-process.ts";
import { gatewayPrograms, type StartedGateway, startGateway } from "./gateway-programs.ts";
import { buildRouter } from "./router-build.ts";

const post = await openPost();
const crowd = { streams: 500, deltas: 5, everyMs: 2000 };

/** Measures this router beside other gateways in front of one service: start, calls, streams and memory. */
export async function gatewaysSection({ scale, tell }: SectionContext): Promise<ReportTable[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "gateways-"));
  await using stack = new AsyncDisposableStack();
  const upstream = startChild<ChatUpstreamService>(
    new URL("chat-upstream-process.ts", import.meta.url),
  );
  stack.defer(() => upstream.close());
  const router = stack.use(await buildRouter());
  const programs = await gatewayPrograms(await upstream.ask("listen"), folder.path, router.program);
  const gateways: StartedGateway[] = [];
  for (const program of programs) {
    tell(`gateways: starting ${program.title}`);
    gateways.push(stack.use(await startGateway(program)));
  }
  const rest = gateways.map(({ usage }) => usage().bytes);
  tell("gateways, 32 in flight");
  // Processor time is counted in hundredths of a second, and servers compile their code for some thousand calls.
  const longer = { ...scale, roundMs: 4 * scale.roundMs, warmUpMs: 8 * scale.warmUpMs };
  const options = { scale: longer, concurrency: 32 };
  const chats = await measureRounds(gateways.map(runnerOf("chat")), options);
  const asking = gateways.filter(({ answersQuestions }) => answersQuestions);
  const questions = await measureRounds(asking.map(runnerOf("questions")), options);
  await upstream.ask("stream", crowd);
  const streams: Streams[] = [];
  for (const gateway of gateways) {
    tell(`gateways: ${crowd.streams} streams at ${gateway.title}`);
    streams.push(await streamAll(gateway));
  }
  return [toTable({ gateways, rest, chats, questions, streams })];
}

/** Returns the maker of a gateway's runner: its rounds have the gateway's processor time. */
function runnerOf(kind: "chat" | "questions") {
  return (gateway: StartedGateway) => {
    const calls = roundsOf(async (call: (number: number) => Promise<void>) => call);
    const ready = calls.setUp(kind === "chat" ? gateway.chat : (number) => ask(gateway, number));
    const run = async (options: RoundOptions) => {
      await ready;
      const before = gateway.usage().cpuUs;
      const round = await calls.run(options);
      return { ...round, cpuUs: gateway.usage().cpuUs - before };
    };
    return { name: gateway.title, run };
  };
}

async function ask({ origin, headers }: StartedGateway, number: number): Promise<void> {
  const { questions } = greeting.request.body;
  const asked = { model: "jev-latest", state: `hi ${number}`, questions };
  const reply = (await post(
    `${origin}/v1/systemone`,
    headers,
    asked,
  )) as typeof greeting.response.body;
  if (reply.answers.tier.choice !== "nano") throw new Error(JSON.stringify(reply));
}

/**
 * Reads all streams at once; returns the processor time of one (ms), and the memory amid them (bytes).
 * Null if the gateway streams nothing.
 */
async function streamAll({ origin, headers, model, usage }: StartedGateway) {
  const { cpuUs } = usage();
  let isRefused = false;
  const reading = Array.from({ length: crowd.streams }, async (_, number) => {
    const messages = [{ role: "user", content: `stream ${number}` }];
    const { statusCode, body } = await request(`${origin}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model, messages, stream: true }),
      headersTimeout: 0,
    });
    const deltas = (await body.text()).match(/"content": ?"a"/g)?.length ?? 0;
    isRefused ||= statusCode === 500;
    if (!isRefused && deltas !== crowd.deltas) throw new Error(`A stream has ${deltas} deltas.`);
  });
  const all = Promise.all(reading);
  await Promise.race([all, setTimeout((crowd.deltas * crowd.everyMs) / 2)]);
  const { bytes } = usage();
  await all;
  if (isRefused) return null;
  return { bytes, cpuMs: (usage().cpuUs - cpuUs) / crowd.streams / 1000 };
}

interface Measured {
  readonly gateways: readonly StartedGateway[];
  readonly rest: readonly number[];
  readonly chats: RoundsByName;
  readonly questions: RoundsByName;
  readonly streams: readonly Streams[];
}

type Streams = Awaited<ReturnType<typeof streamAll>>;

function streamCells(streams: Streams): string[] {
  return streams === null
    ? ["-", "-"]
    : [printNumber(streams.cpuMs), printNumber(streams.bytes / 1e6)];
}

const cpu = (all: RoundsByName, title = "") => (all.get(title) ?? []).map(cpuUsPerCall);

function toTable({ gateways, rest, chats, questions, streams }: Measured): ReportTable {
  const [reference] = gateways;
  const wallMs = (title: string) =>
    (chats.get(title) ?? []).map(({ wallMs, calls }) => (wallMs * 32) / calls);
  return {
    title: "Gateways in front of one service",
    columns: [
      "",
      "start s",
      "MB at rest",
      "chat CPU µs",
      "against the first",
      "chat ms, 32 in flight",
      "questions CPU µs",
      "stream CPU ms",
      `MB with ${crowd.streams} streams`,
    ],
    rows: gateways.map(({ title, startMs, answersQuestions }, at) => [
      title,
      printNumber(startMs / 1000),
      printNumber((rest[at] ?? 0) / 1e6),
      printSummary(summarise(cpu(chats, title))),
      printSummary(compareRounds(cpu(chats, title), cpu(chats, reference?.title)), "×"),
      printNumber(summarise(wallMs(title)).median),
      answersQuestions ? printSummary(summarise(cpu(questions, title))) : "-",
      ...streamCells(streams[at] ?? null),
    ]),
    note: `A start lasts until the first answered chat completion. A stream has ${crowd.deltas} deltas. Memory is resident. The router is built as for publishing. The load is ${printNumber(loadavg()[0] ?? Number.NaN)}.`,
  };
}
