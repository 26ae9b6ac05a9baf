import { once } from "node:events";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import {
  artifactHash,
  type CalibrationArtifact,
  questionHash,
  toAnswerRecord,
} from "evaluator-calibration";
import { temporaryFolder } from "evaluator-kit/testing";
import { readAnswers } from "evaluator-runs";
import { PostgresRuns } from "evaluator-runs/postgres";
import { openPglite } from "evaluator-runs/testing";
import { expect, test } from "vitest";
import { refundCalibration } from "../testing/refund-calibration.ts";
import { run } from "../testing/run.ts";

const questions = {
  refund: { type: "boolean", instructions: "Does the customer ask for a refund?" },
  kind: {
    type: "choice",
    instructions: "What is it about?",
    criteria: { bill: "a bill", app: "the app" },
  },
} as const;

const subjects = ["Refund my money", "The app crashes", "Hello", "The bill is wrong", "Refund?"];
const tickets = subjects.map((subject, index) => `t-${index},${subject}\n`).join("");

const act = ["act", "tickets.csv", "--artifact", "calibration.json"];

/** Returns a folder with answered tickets, and a calibration with a threshold for a no that some reach. */
async function answeredFolder() {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "tickets.csv"), `id,subject\n${tickets}`);
  await writeFile(join(folder, "q.json"), JSON.stringify(questions));
  await run(folder, ["run", "tickets.csv", "--questions", "q.json", "--offline"]);
  const answers = [...readAnswers(join(folder, "tickets.evaluator.sqlite"))];
  const printed = answers.map(({ id, evaluation }) => {
    const { refund } = evaluation.answers as unknown as { refund: { probability: number } };
    return { id, no: Number((1 - refund.probability).toFixed(2)) };
  });
  const threshold = printed.map(({ no }) => no).toSorted((one, other) => other - one)[2] ?? 1;
  const acted = printed.filter(({ no }) => no >= threshold);
  const artifact = artifactFor(answers[0]?.evaluation.modelId ?? null, Math.max(0.51, threshold));
  await writeArtifact(folder, artifact);
  return { folder, artifact, acted };
}

function artifactFor(modelId: string | null, threshold: number): CalibrationArtifact {
  return refundCalibration(modelId, questions, [{ action: "no", threshold }]);
}

async function writeArtifact(folder: string, artifact: object): Promise<void> {
  await writeFile(join(folder, "calibration.json"), JSON.stringify(artifact));
}

function linesOf(stdout: string) {
  const lines = stdout.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as { id: string; act: string | null });
}

test("a line for each record, in the order of the input, and a summary on stderr", async () => {
  const { folder, artifact, acted } = await answeredFolder();
  const { exitCode, stdout, stderr } = await run(folder, act);
  expect(exitCode).toBe(0);
  const n = acted.length;
  expect(stderr).toBe(`acts on ${n} of 5: refund no ${n}; ${5 - n} for a person\n`);
  const lines = linesOf(stdout);
  expect(lines.map(({ id }) => id)).toEqual(["t-0", "t-1", "t-2", "t-3", "t-4"]);
  for (const line of lines) {
    const no = acted.find(({ id }) => id === line.id)?.no;
    expect(line).toEqual(
      no === undefined
        ? { id: line.id, question: "refund", act: null, why: "below-threshold" }
        : {
            id: line.id,
            question: "refund",
            act: "no",
            evidence: {
              artifact: artifactHash(artifact),
              questions: questionHash(questions).slice(0, 16),
              model: artifact.model.id,
              printed: no,
              threshold: artifact.thresholds[0]?.threshold,
              maxRisk: 0.05,
              confidence: 0.95,
              level: 0.025,
              n: 92,
              wrong: 0,
            },
          },
    );
  }
  expect(Object.keys(lines[0] ?? {}).slice(0, 3)).toEqual(["id", "question", "act"]);
});

test("the journal gives the same bytes as its file, and --acts-only leaves out the other lines", async () => {
  const { folder, acted } = await answeredFolder();
  const whole = await run(folder, act);
  const ofJournal = ["act", "tickets.evaluator.sqlite", "--artifact", "calibration.json"];
  expect(await run(folder, ofJournal)).toEqual(whole);
  expect(await run(folder, act)).toEqual(whole);
  const only = await run(folder, [...act, "--acts-only"]);
  expect(only.stderr).toBe(whole.stderr);
  expect(linesOf(only.stdout).map(({ id }) => id)).toEqual(acted.map(({ id }) => id));
});

test("no act contradicts a label that is known", async () => {
  const { folder, acted } = await answeredFolder();
  const [wrong, right] = acted.map(({ id }) => id);
  const labels = [
    `{"id":"${wrong}","question":"refund","truth":false}`,
    `{"id":"${wrong}","truth":"yes","labeler":"bob"}`,
    `{"id":"${right}","question":"refund","truth":"0.0"}`,
    `{"id":"t-4","question":"kind","truth":"bill"}`,
  ];
  await writeFile(join(folder, "labels.ndjson"), labels.join("\n"));
  const { stdout, stderr } = await run(folder, [...act, "--labels", "labels.ndjson"]);
  const lines = new Map(linesOf(stdout).map((line) => [line.id, line]));
  expect(lines.get(wrong ?? "")).toEqual({
    id: wrong,
    question: "refund",
    act: null,
    why: "label",
  });
  expect(lines.get(right ?? "")?.act).toBe("no");
  expect(stderr).toMatch(new RegExp(`^acts on ${acted.length - 1} of 5`));
});

test("a recalibration does not change the acts: thresholds are of printed values", async () => {
  const { folder, artifact } = await answeredFolder();
  const actsOf = async () => {
    return linesOf((await run(folder, act)).stdout).map(({ id, act: done }) => [id, done]);
  };
  const before = await actsOf();
  const flat = { kind: "logistic", question: "refund", parameters: { intercept: 0, slope: 0.1 } };
  await writeArtifact(folder, { ...artifact, ...flat });
  expect(await actsOf()).toEqual(before);
  expect(before.some(([, done]) => done === "no")).toBe(true);
});

test.each([
  ["without the hash of its questions", { questionHash: null }, "has no question hash"],
  ["of other questions", { questionHash: "other" }, "made for other questions; ask those"],
  [
    "of another model",
    { model: { id: "maker/judge-8", wire: null } },
    "was made for maker/judge-8",
  ],
  ["of another version", { version: 3 }, "is of version 3"],
])("a calibration %s is refused, and nothing is printed", async (_, changed, message) => {
  const { folder, artifact } = await answeredFolder();
  await writeArtifact(folder, { ...artifact, ...changed });
  const { exitCode, stdout, stderr } = await run(folder, act);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain(message);
});

test("acts on options are those of the most probable one", async () => {
  const { folder, artifact } = await answeredFolder();
  const [no] = artifact.thresholds;
  const top = { ...no, question: "kind", action: "top", threshold: 0 };
  await writeArtifact(folder, { ...artifact, thresholds: [no, top] });
  const both = await run(folder, act);
  expect(both.stderr).toMatch(/^acts on \d+ of 10: kind app \d, kind bill \d, refund no \d; /);
  expect(linesOf(both.stdout)).toHaveLength(10);
  const acts = linesOf(both.stdout).map(({ act: one }) => one);
  expect(acts.filter((one) => one === "bill" || one === "app")).toHaveLength(5);
});

test("a calibration without a threshold gives no act: exit code 3", async () => {
  const { folder, artifact } = await answeredFolder();
  await writeArtifact(folder, { ...artifact, thresholds: [] });
  expect(await run(folder, act)).toMatchObject({ exitCode: 3, stdout: "" });
});

test("a record that changed has no answer: it is counted, and the exit code is 2", async () => {
  const { folder } = await answeredFolder();
  await writeFile(join(folder, "tickets.csv"), `id,subject\n${tickets.replace("Hello", "Hi")}`);
  const { exitCode, stdout, stderr } = await run(folder, act);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/; 1 without an answer \("evaluator-cli work"\)\n$/);
  const none = { id: "t-2", question: "refund", act: null, why: "no-answer" };
  expect(linesOf(stdout)).toContainEqual(none);
});

test("evidence takes less than 300 bytes for a model id of 64 characters", async () => {
  const { folder } = await answeredFolder();
  const [line] = linesOf((await run(folder, [...act, "--acts-only"])).stdout);
  const { evidence } = line as unknown as { evidence: { model: string } };
  const long = { ...evidence, model: "m".repeat(64) };
  expect(JSON.stringify(long).length).toBeLessThanOrEqual(300);
});

test("a reader that closes the pipe is no error", async () => {
  const { folder } = await answeredFolder();
  const broken = Object.assign(new Error("closed"), { code: "EPIPE" });
  const stdout = new Writable({ highWaterMark: 1, write: (_, __, done) => done(broken) });
  const ended = once(stdout, "close").catch(() => {});
  expect(await run(folder, act, { stdout })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  await ended;
});

test("a journal in PostgreSQL gives the same bytes", async () => {
  const { folder } = await answeredFolder();
  const whole = await run(folder, act);
  await rename(join(folder, "tickets.evaluator.sqlite"), join(folder, "old.sqlite"));
  const database = await openPglite();
  const openRuns = () => PostgresRuns.open({ ...database, close: async () => {} });
  const journal = ["--journal", "postgres://ada@db.example.com/tickets"];
  const asked = ["run", "tickets.csv", "--questions", "q.json", "--offline", ...journal];
  expect((await run(folder, asked, { openRuns })).exitCode).toBe(0);
  expect(await run(folder, [...act, ...journal], { openRuns })).toEqual(whole);
  expect(await readFile(join(folder, "old.sqlite"))).toBeDefined();
});

test("lines of answers give the same acts as their journal, and a wrong one is named", async () => {
  const { folder } = await answeredFolder();
  const { stdout } = await run(folder, act);
  const answers = [...readAnswers(join(folder, "tickets.evaluator.sqlite"))];
  const records = answers.map(({ id, evaluation }) =>
    JSON.stringify(toAnswerRecord(id, evaluation, questions)),
  );
  const actOn = async (lines: readonly string[]) => {
    await writeFile(join(folder, "before.ndjson"), lines.join("\n"));
    return await run(folder, ["act", "before.ndjson", "--artifact", "calibration.json"]);
  };
  expect(await actOn(records)).toMatchObject({ exitCode: 0, stdout });
  const refused = [
    [[...records, '{"id":"t-9"}'], `line ${records.length + 1} of ${folder}/before.ndjson is no`],
    [
      [...records, records[0] ?? ""],
      `line ${records.length + 1} of ${folder}/before.ndjson is repeated`,
    ],
    [[records[0]?.replace(/"questionHash":"[^"]+"/, '"questionHash":"other"') ?? ""], "questions"],
  ] as const;
  for (const [lines, problem] of refused) {
    const { stderr, ...rest } = await actOn(lines);
    expect({ ...rest, stderr }).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringContaining(problem),
    });
  }
  const none = await actOn(['{"id":"t-9"}']);
  expect(none.stderr).toContain("The file has no journal beside it");
});
