import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { twoEngines } from "evaluator-runs/testing";
import { expect, test } from "vitest";
import { sampleMail } from "../testing/samples.ts";
import { folderWith, inbox, startTriage, triageMachines } from "../testing/start-triage.ts";

const machines = triageMachines();

test("the report shows how much each engine answered, cost and, with labels, got wrong", async () => {
  const ids = ["m-1", "m-2", "m-3", "m-4"];
  const cwd = await folderWith(ids.map((id) => sampleMail({ id, subject: id })));
  const { first, again, openTransport, words } = twoEngines();
  const typed = ["inbox.json", "--concurrency", "1", ...words, "--then-unsure", "scam=0.99"];
  const ended = await startTriage(typed, { cwd, openTransport });
  expect(ended.exitCode).toBe(0);
  expect(first.requests).toHaveLength(4);
  expect(again.requests.map(({ questions }) => Object.keys(questions))).toEqual([
    ["scam"],
    ["scam"],
  ]);
  const report = async () => {
    const page = (await startTriage(["report"], { cwd })).stdout.replaceAll(/\s+/g, " ");
    return /Step 1.*?(?:are unknown|of step 2)\./.exec(page)?.[0];
  };
  const one = "Step 1, gateway unknown: asked about 4 records, gave 14 answers, $0.00005. ";
  const two = "Step 2, openai b: asked about 2 records, gave 2 answers (2 unsure), $0.000025. ";
  const steps = one + two;
  expect(await report()).toBe(
    `${steps}No answer is labelled, so the wrong ones of each step are unknown.`,
  );
  const labels = [
    { id: "m-1", question: "scam", truth: false },
    { id: "m-2", question: "scam", truth: true },
    { id: "m-4", question: "scam", truth: false },
    { id: "m-3", question: "brand_deal", truth: true },
    { id: "m-3", question: "scam", truth: true, origin: "override" },
    { id: "m-9", question: "scam", truth: true },
    { id: "m-1", question: "retired", truth: true },
  ];
  const lines = labels.map((label) => `${JSON.stringify(label)}\n`).join("");
  await writeFile(join(cwd, "inbox.labels.ndjson"), lines);
  expect(await report()).toBe(
    `${steps}Wrong answers by the labels: 1 of 2 of step 1, 1 of 2 of step 2.`,
  );
  await writeFile(join(cwd, "inbox.labels.ndjson"), `${lines}{"id":"m-1","question":"scam"}\n`);
  const broken = await startTriage(["report"], { cwd });
  expect(broken).toMatchObject({ exitCode: 1, stdout: "" });
  expect(broken.stderr).toContain("inbox.labels.ndjson line 8: has no truth");
});

test("the report shows the steps of all workers", async () => {
  const cwd = await folderWith(inbox(4));
  const { first, again, openTransport, words } = twoEngines();
  const typed = ["--price", "1", ...words, "--then-unsure", "scam=0.99"];
  const stopped = new AbortController();
  const send: typeof first.send = async (...call) => {
    if (first.requests.length === 1) stopped.abort();
    return await first.send(...call);
  };
  const interrupted: typeof openTransport = async (wanted) => {
    const engine = await openTransport(wanted);
    return engine === first ? { ...engine, send } : engine;
  };
  const run = ["inbox.json", "--concurrency", "1", ...typed];
  const { signal } = stopped;
  const begun = await machines.start(run, { cwd, openTransport: interrupted, signal });
  expect([begun.exitCode, first.requests.length, again.requests.length]).toEqual([130, 2, 1]);
  const worked = await machines.start(["work", ...typed], { cwd, openTransport });
  expect(worked).toMatchObject({ exitCode: 0 });
  const { stdout } = await machines.start(["report"], { cwd });
  const [steps] = /Step 1.*? Not calibrated/.exec(stdout.replaceAll(/\s+/g, " ")) ?? [];
  expect(steps).toContain(
    "Step 1, gateway unknown: asked about 4 records, gave 14 answers, $0.00005. ",
  );
  expect(steps).toContain(
    "Step 2, openai b: asked about 2 records, gave 2 answers (2 unsure), $0.000025.",
  );
});

test("the report counts for a run only the steps that it asked for itself", async () => {
  const { openTransport, words } = twoEngines();
  const typed = ["inbox.json", "--concurrency", "1", "--price", "1"];
  await machines.start([...typed, ...words], { cwd: await folderWith(inbox(4)), openTransport });
  const cwd = await folderWith(inbox(6));
  expect(await machines.start([...typed, ...words], { cwd, openTransport })).toMatchObject({
    exitCode: 0,
  });
  const { stdout } = await machines.start(["report"], { cwd });
  const page = stdout.replaceAll(/\s+/g, " ");
  expect(page).toContain("Step 1, gateway unknown: asked about 2 records, gave");
  expect(page).toContain("Step 2, openai b: asked about 1 record, gave 1 answer, $0.000013.");
});
