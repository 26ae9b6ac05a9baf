import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileCache, temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import type { MessageRecord } from "./records/message-record.ts";
import { calibrationOf } from "./testing/calibration-of.ts";
import { runHere, startRouterHere } from "./testing/start-program.ts";

/** Starts the router, lets it decide, and ends it. */
async function decideAll(messages: readonly string[], env: Record<string, string>) {
  const { interrupt, ended, origin } = startRouterHere({ PORT: "0", ...env });
  const headers = { "content-type": "application/json" };
  const statuses: number[] = [];
  for (const [index, message] of messages.entries()) {
    const body = JSON.stringify({ message });
    const init = { method: "POST", headers: { ...headers, "x-request-id": `m-${index}` }, body };
    statuses.push((await fetch(`${await origin}/decide`, init)).status);
  }
  interrupt();
  return { ...(await ended), statuses };
}

const evaluator = fileURLToPath(
  new URL("../../../packages/evaluator-cli/src/main.ts", import.meta.url),
);

async function calibrate(cwd: string, ...words: string[]) {
  const args = [evaluator, "calibrate", "labels.ndjson", "--answers", "decisions.jsonl", ...words];
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    // Under `npm test` INIT_CWD is where the test was typed, and paths are relative to that.
    const env = { ...compileCache, INIT_CWD: cwd };
    execFile(process.execPath, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const plans = ["a birthday", "a week in Rome", "a small garden", "an upgrade", "a talk"];
const verbs = ["Plan", "Explain", "Sketch", "Review", "Write code for", "Prove", "Name"];
const messages = verbs.flatMap((verb) => plans.map((plan) => `${verb} ${plan}, please.`));

test("the decision log joins with labels by the request's id, calibrated or not", async () => {
  const cwd = await temporaryFolder();
  const log = join(cwd, "decisions.jsonl");
  const calibration = join(cwd, "calibration.json");
  await writeFile(calibration, JSON.stringify(calibrationOf("local/lexical-1")));
  // A busy machine may take longer over a decision than the router waits for one.
  const env = { ROUTER_DECISION_LOG: log, ROUTER_DECISION_TIMEOUT_MS: "60000" };
  const { code, stderr } = await decideAll(messages.slice(0, 18), env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const later = await decideAll(messages, { ...env, ROUTER_CALIBRATION: calibration });
  expect(later).toMatchObject({ code: 0, stderr: "", statuses: messages.map(() => 200) });
  expect(later.stdout).toContain("Decisions of local/lexical-1 are calibrated on 204 labels.\n");

  const records = (await readFile(log, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as MessageRecord);
  expect(records.map(({ requestId }) => requestId)).toHaveLength(18 + messages.length);
  expect(records[0]).toMatchObject({
    requestId: "m-0",
    evaluatorModelId: "local/lexical-1",
    wire: "emulator local:emulator",
  });
  expect(records[18]?.printedProbabilities).toEqual(records[0]?.probabilities);
  expect(records[18]?.probabilities).not.toEqual(records[0]?.probabilities);

  await writeFile(
    log,
    records
      .slice(18)
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(""),
  );
  const tiers = ["nano", "fast", "balanced", "frontier"];
  const labels = messages.map((_, index) => ({ id: `m-${index}`, truth: tiers[index % 4] }));
  const lines = labels.map((label) => `${JSON.stringify({ ...label, question: "tier" })}\n`);
  await writeFile(join(cwd, "labels.ndjson"), lines.join(""));
  const report = await calibrate(cwd, "--json");
  expect(report.stderr).toMatch(/^Wrote /);
  expect(report).toMatchObject({ code: 0 });
  expect(report.stdout).toMatch(/"joined": ?35\b/);
  expect(await calibrate(cwd, "--require", "5%")).toMatchObject({ code: 3 });
});

const fitting = calibrationOf("local/lexical-1");
const wrong: [what: string, content: string | null, message: string][] = [
  ["a file that is not there", null, "cannot be read: no such file or directory"],
  ["no JSON", "{", "is not JSON"],
  ["no calibration", "{}", "is not a calibration"],
  [
    "other questions",
    JSON.stringify({ ...fitting, questionHash: "another" }),
    "was made for other questions; ask those",
  ],
  [
    "questions that are not named",
    JSON.stringify({ ...fitting, questionHash: null }),
    "has no question hash",
  ],
  [
    "another question's parameters",
    JSON.stringify({ ...fitting, question: "scam" }),
    "corrects and promises no choice of a tier",
  ],
  [
    "no parameters",
    JSON.stringify({ ...fitting, kind: "none", parameters: {} }),
    "corrects and promises no choice of a tier",
  ],
];

test.each(wrong)("%s as ROUTER_CALIBRATION ends the start with one line", async (...row) => {
  const [, content, message] = row;
  const path = join(await temporaryFolder(), "calibration.json");
  if (content !== null) await writeFile(path, content);
  const env = { PORT: "0", ROUTER_CALIBRATION: path };
  const { code, stdout, stderr } = await startRouterHere(env).ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(`ROUTER_CALIBRATION=${JSON.stringify(path)} ${message}`);
  expect(stderr).toMatch(/^[^\n]+evaluator-cli calibrate[^\n]+\n$/);
});

test("a calibration that only promises choices starts the router, and log and report show the promise", async () => {
  const cwd = await temporaryFolder();
  const [log, calibration] = [join(cwd, "decisions.jsonl"), join(cwd, "calibration.json")];
  const promise = { maxRisk: 0.05, confidence: 0.95, level: 0.05, n: 92, wrong: 0 };
  const threshold = { question: "tier", action: "top", threshold: 0, ...promise };
  const only = { ...fitting, kind: "none", parameters: {}, thresholds: [threshold] };
  await writeFile(calibration, JSON.stringify(only));
  const env = { ROUTER_DECISION_LOG: log, ROUTER_CALIBRATION: calibration };
  expect(await decideAll(messages.slice(0, 1), env)).toMatchObject({ code: 0, statuses: [200] });
  const record = JSON.parse(await readFile(log, "utf8")) as MessageRecord;
  expect(record.promise).toMatchObject({ act: record.tierChosen, evidence: { n: 92 } });
  const report = await runHere("report", { ROUTER_DECISION_LOG: log });
  expect(report.stdout).toContain("at most 5 % wrong at 0.00 and above, with 95 % confidence");
});

test("a calibration for another model is an error for whoever asks, and the router goes on", async () => {
  const path = join(await temporaryFolder(), "calibration.json");
  await writeFile(path, JSON.stringify(calibrationOf("local/lexical-2")));
  const { code, statuses } = await decideAll(messages.slice(0, 2), { ROUTER_CALIBRATION: path });
  expect({ code, statuses }).toEqual({ code: 0, statuses: [502, 502] });
});
