import { questionHash } from "evaluator-calibration";
import { expect, test, vi } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError, ConnectionError } from "../errors.ts";
import { boolean, choice } from "../questions/kinds.ts";
import { answeringTransport } from "../testing/answering-transport.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { escalate } from "./escalate.ts";
import { gate, type Requirement } from "./gate.ts";

const questions = {
  harmless: boolean("Is it harmless?"),
  scope: choice("What does it change?", { nothing: "only reads", files: "files", more: "more" }),
};
const approve = {
  harmless: { is: "yes", atLeast: 0.9 },
  scope: { is: ["nothing", "files"], atLeast: 0.6 },
} as const;
const scope = (nothing: number, files: number, more: number) => {
  const probabilities = { nothing, files, more };
  const most = Math.max(nothing, files, more);
  const picked = Object.entries(probabilities).find(([, share]) => share === most)?.[0];
  return { type: "choice", choice: picked, probabilities };
};
const call = { tool: "shell", input: { command: "rm -rf secret-folder" } };

function gateOver(
  answers: Readonly<Record<string, object | number>>,
  { before, ...options }: { before?: () => Promise<unknown>; deadlineMs?: number } = {},
) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const { transport } = answeringTransport({ answers, ...(before && { before }) });
  const evaluator = createEvaluator({ transport, maxRetries: 0 }, { clock });
  const log = (line: string) => void lines.push(line);
  return { clock, lines, mayRun: gate(evaluator, { questions, approve, log, ...options }) };
}

test.each([
  ["approved", 0.95, scope(0.7, 0.2, 0.1)],
  ["approved", 0.9, scope(0.2, 0.6, 0.2)],
  ["denied", 0.04, scope(0.7, 0.2, 0.1)],
  ["denied", 0.95, scope(0.1, 0.2, 0.7)],
  ["denied", 0.5, scope(0.1, 0.2, 0.7)],
  ["undecided", 0.89, scope(0.7, 0.2, 0.1)],
  ["undecided", 0.95, scope(0.4, 0.3, 0.3)],
  ["undecided", 0.95, { type: "refusal" }],
])("a call is %s with harmless %d and the scope %j", async (status, harmless, answer) => {
  const { mayRun } = gateOver({ harmless, scope: answer });
  const verdict = await mayRun(call);
  expect(verdict).toMatchObject({ status, approved: status === "approved", costUsd: 0.001 });
});

test("a tie with an option that is not approved is undecided", async () => {
  const { transport } = answeringTransport({ answers: { scope: scope(0, 0.5, 0.5) } });
  const options = {
    questions: { scope: questions.scope },
    approve: { scope: { is: ["nothing", "files"], atLeast: 0.5 } },
  };
  const verdict = await gate(createEvaluator({ transport }), options)(call);
  expect(verdict).toMatchObject({ status: "undecided", approved: false });
});

test("a failure is not approved, and not denied", async () => {
  const lost = () => Promise.reject(new ConnectionError("Cut.", { maybeBilled: true }));
  const { mayRun, lines } = gateOver({}, { before: lost });
  const verdict = await mayRun(call);
  expect(verdict).toMatchObject({ status: "undecided", approved: false, costUsd: null });
  expect(lines).toEqual([expect.stringContaining('"shell" undecided: ConnectionError: Cut.')]);
});

test("a foreign error, an abort and an input that is no JSON are not approved", async () => {
  const evaluator = { evaluate: () => Promise.reject(new RangeError("secret-folder")) };
  const mayRun = gate(evaluator, { questions, approve });
  expect(await mayRun(call)).toMatchObject({ approved: false, reason: "RangeError" });
  const signal = AbortSignal.abort(new Error("secret-folder"));
  expect(await gateOver({}).mayRun(call, { signal })).toMatchObject({ reason: "Error" });
  expect(await gateOver({}).mayRun(null as never)).toMatchObject({ approved: false });
  const odd = await gateOver({}).mayRun({ tool: "shell", input: { at: 1n } });
  expect(odd).toMatchObject({ status: "undecided", approved: false });
});

test("late answers are not approved", async () => {
  const never = () => new Promise(() => undefined);
  const { mayRun, clock } = gateOver({}, { before: never, deadlineMs: 500 });
  const verdict = mayRun(call);
  await clock.advance(600);
  expect(await verdict).toMatchObject({ status: "undecided", approved: false });
});

test("the log line has the reason and the price, and never the input", async () => {
  const { mayRun, lines } = gateOver({ harmless: 0.95, scope: scope(0.7, 0.2, 0.1) });
  await mayRun({ ...call, tool: "shell\nallow" });
  expect(lines).toEqual([
    'gate: "shell\\nallow" approved: "harmless" is yes (0.95); "scope" is nothing (0.70), $0.0010',
  ]);
});

test("a log that throws changes no verdict", async () => {
  const { transport } = answeringTransport({ answers: { harmless: 0.99 } });
  vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const log = () => {
    throw new Error("full");
  };
  const asked = { harmless: questions.harmless };
  const options = { questions: asked, approve: { harmless: approve.harmless }, log };
  const verdict = await gate(createEvaluator({ transport }), options)(call);
  expect(verdict.approved).toBe(true);
});

const asked = { harmless: questions.harmless };
const promise = {
  model: { id: "model of first" },
  questionHash: questionHash(asked),
  thresholds: [
    { question: "harmless", action: "yes", threshold: 0.8, maxRisk: 0.05, confidence: 0.95 },
  ],
};

const these = { unlabelled: 227, mostWrong: 11, records: ["a key"] };
const ofTheseRecords = {
  ...promise,
  thresholds: promise.thresholds.map((threshold) => ({ ...threshold, these })),
};

test.each([
  ["approved", 0.8, promise],
  ["undecided", 0.79, promise],
  ["undecided", 0.02, promise],
  ["undecided", 0.99, { ...promise, model: { id: "another" } }],
  ["undecided", 0.99, { ...promise, questionHash: "another" }],
  ["undecided", 0.99, ofTheseRecords],
])("with a promise a call is %s at %d", async (status, harmless, artifact) => {
  const { transport } = answeringTransport({ answers: { harmless } });
  const approved = { harmless: { is: "yes", promise: artifact } };
  const options = { questions: asked, approve: approved };
  const verdict = await gate(createEvaluator({ transport }), options)(call);
  expect(verdict.status).toBe(status);
  const text = "at most 5 % of such acts are wrong, with 95 % confidence";
  expect(verdict.reason.includes(text)).toBe(status === "approved");
});

test("the promise of a gate is printed at its weaker side", async () => {
  const { transport } = answeringTransport({ answers: { harmless: 0.99 } });
  const [threshold] = promise.thresholds;
  const weak = { ...threshold, maxRisk: 0.12341111, confidence: 0.99999 };
  const artifact = { ...promise, thresholds: [weak] } as typeof promise;
  const approved = { harmless: { is: "yes", promise: artifact } };
  const verdict = await gate(createEvaluator({ transport }), {
    questions: asked,
    approve: approved,
  })(call);
  expect(verdict.reason).toContain("at most 12.3412 % of such acts");
  expect(verdict.reason).toContain("with 99.999 % confidence");
});

test("an unsure gate may ask a better model", async () => {
  const first = answeringTransport({ answers: { harmless: 0.6 } });
  const second = answeringTransport({ name: "second", answers: { harmless: 0.97 } });
  const better = createEvaluator({ transport: second.transport });
  const evaluator = createEvaluator({ transport: first.transport }).with(
    escalate(better, { harmless: { below: 0.9 } }),
  );
  const options = { questions: asked, approve: { harmless: approve.harmless } };
  expect((await gate(evaluator, options)(call)).approved).toBe(true);
});

test.each<[Record<string, Requirement>, string]>([
  [{ harmless: { is: "maybe", atLeast: 0.9 } }, 'none of "yes", "no"'],
  [{ harmless: { is: [], atLeast: 0.9 } }, 'none of "yes", "no"'],
  [{ harmless: { is: "yes", atLeast: 90 } }, "below"],
  [{}, "approve.harmless"],
  [{ harmless: { is: "yes", atLeast: 0.9 }, other: { is: "yes", atLeast: 0.9 } }, "no question"],
])("the requirement %j is wrong", (wrong, message) => {
  const { transport } = answeringTransport({ answers: {} });
  const evaluator = createEvaluator({ transport });
  const make = () => gate(evaluator, { questions: asked, approve: wrong as never });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});
