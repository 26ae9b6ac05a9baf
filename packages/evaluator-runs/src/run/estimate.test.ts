import { gatewayTransport } from "evaluator-client";
import { expect, test } from "vitest";
import { sampleSource } from "../testing/samples.ts";
import { announceRun } from "./estimate.ts";
import type { CallPlan } from "./plan-calls.ts";
import type { RunContext } from "./run-context.ts";

interface Announced {
  readonly calls: number;
  readonly run: Partial<RunContext["run"]>;
  readonly inputTokens?: number;
  readonly confirm?: RunContext["confirm"];
  readonly signal?: AbortSignal;
  readonly next?: RunContext["next"];
}

/** Announces a run of so many calls; with a million tokens at $1.2649 it is above $1. */
async function announce(given: Announced) {
  const { calls, run, inputTokens = 0, confirm = null } = given;
  const missing = [
    { calls, inputTokens },
    { calls, inputTokens },
  ];
  const plan = { open: calls, missing, count: () => 0 } as unknown as CallPlan;
  let stdout = "";
  const context = {
    run: { concurrency: 1, maxCost: Number.POSITIVE_INFINITY, price: 1.2649, ...run },
    input: { describeLeftOut: () => "" },
    source: sampleSource,
    transport: gatewayTransport({ apiKey: "local", env: {} }),
    service: { address: "w", modelId: "m" },
    catalog: null,
    next: given.next ?? null,
    signal: given.signal ?? new AbortController().signal,
    confirm,
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write() {} },
  } as unknown as RunContext;
  await announceRun(plan, context);
  return stdout;
}

test.each([
  ["no", 1, { answer: false, yes: false }, false],
  ["yes", 1, { answer: true, yes: false }, true],
  ["nothing, with --yes", 0, { answer: false, yes: true }, true],
])("a run above $1 asks the person, who says %s", async (_, asked, { answer, yes }, goesOn) => {
  const questions: string[] = [];
  const confirm = async (question: string) => {
    questions.push(question);
    return answer;
  };
  const checked = announce({
    calls: 1,
    inputTokens: 1_000_000,
    run: yes ? { yes: true } : {},
    confirm,
  }).then(
    () => true,
    (error: unknown) => String(error) !== "CliError: Nothing was sent.",
  );
  expect(await checked).toBe(goesOn);
  expect(questions).toEqual(["Spend about $1.26? [y/N] "].slice(0, asked));
});

const gateway = gatewayTransport({ apiKey: "local", env: {} });
const unlisted = { ...gateway, name: "unlisted" };

test("a run is above $1 if its second engine may cost that, and the person sees both", async () => {
  const questions: string[] = [];
  const confirm = async (question: string) => {
    questions.push(question);
    return true;
  };
  const next = { transport: unlisted, bounds: {}, catalog: null };
  const run = { price: 0.1, thenPrice: 20 };
  await announce({ calls: 1, inputTokens: 100_000, run, next, confirm });
  expect(questions).toEqual(["Spend about $0.01, up to $2.00 to ask again? [y/N] "]);
});

test("the price of the first engine is none of the second, so that a cap needs both", async () => {
  const next = { transport: unlisted, bounds: {}, catalog: null };
  const run = { price: 0, maxCost: 1 };
  const announced = announce({ calls: 1, inputTokens: 1000, run, next });
  await expect(announced).rejects.toThrow(
    "through unlisted; nothing was sent. Set --then-price USD",
  );
});

test("an interruption in place of an answer ends with 130", async () => {
  const interruption = new AbortController();
  const { signal } = interruption;
  const confirm = async () => {
    interruption.abort();
    return false;
  };
  const run = { maxCost: 3 };
  const announced = announce({ calls: 1, inputTokens: 1_500_000, run, confirm, signal });
  await expect(announced).rejects.toMatchObject({ exitCode: 130 });
});

test.each([
  [0, 1, ""],
  [
    10_000_000,
    1,
    "The key allows 1,200 requests a minute: 5.8 days on any number of machines. One machine reaches that with --concurrency 6.\n",
  ],
  [
    100,
    6,
    "The key allows 1,200 requests a minute: 5 s on any number of machines. One machine reaches that.\n",
  ],
])("%d calls, %d at once: whether more machines help", async (calls, concurrency, line) => {
  const stdout = await announce({ calls, run: { dryRun: true, rate: 1200, concurrency } });
  expect(stdout.replace(/^To ask: .*\n/, "")).toBe(line);
});
