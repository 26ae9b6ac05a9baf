import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { labelUntilPromised, startLabel } from "./testing/label-page.ts";
import { readReport, run } from "./testing/run.ts";
import { ask, isRefund } from "./testing/refunds.ts";

const calibrate = "calibrate tickets.labels.ndjson --answers tickets.evaluator.sqlite".split(" ");

test("records with equal states are labelled once, and the label counts for all of them", async () => {
  const cwd = await temporaryFolder();
  await ask(cwd, 4000, { copies: 20 });
  const words = ["--for-promise", "refund=no"];
  const { origin, stop } = await startLabel(cwd, ...words);
  const { status, html } = await labelUntilPromised(origin, (at) => isRefund(Math.floor(at / 20)));
  expect(html).toContain("each state is labelled once, for all of them");
  const lines = (await readFile(join(cwd, "tickets.labels.ndjson"), "utf8")).trim().split("\n");
  const labels = lines.map((line) => JSON.parse(line) as { id: string });
  const states = labels.map(({ id }) => Math.floor(Number(id.slice(2)) / 20));
  expect(new Set(states).size).toBe(states.length);
  expect(status).toContain(`0 wrong of ${labels.length} labels`);
  // As many as of 171 different records; later ones have other states.
  expect(labels.length).toBe(99);
  expect((await stop()).exitCode).toBe(0);
  expect((await run(cwd, calibrate)).exitCode).toBe(0);
  const { actions } = (await readReport(cwd)).reports[0] ?? {};
  expect(actions).toMatchObject([{ promised: { n: labels.length, wrong: 0 } }]);
});

test("a record whose text was changed since the labels is not one of exactly these, whatever it prints", async () => {
  const cwd = await temporaryFolder();
  await ask(cwd, 400);
  const words = ["--for-promise", "refund=no", "--exactly-these"];
  const { origin, stop } = await startLabel(cwd, ...words);
  await labelUntilPromised(origin, isRefund);
  await stop();
  expect((await run(cwd, calibrate)).exitCode).toBe(0);
  const edited = await temporaryFolder();
  await ask(edited, 400, { isEdited: true });
  await copyFile(join(cwd, "calibration/calibration.json"), join(edited, "calibration.json"));
  const act = ["act", "tickets.csv", "--artifact"];
  for (const [folder, artifact] of [
    [cwd, "calibration/calibration.json"],
    [edited, "calibration.json"],
  ] as const) {
    const isEdited = folder === edited;
    const csv = Array.from({ length: 400 }, (_, at) =>
      isEdited && at === 7 ? "t-7,Another text" : `t-${at},Ticket ${at}`,
    );
    await writeFile(join(folder, "tickets.csv"), ["id,body", ...csv, ""].join("\n"));
    const { exitCode, stdout, stderr } = await run(folder, [...act, artifact]);
    expect([exitCode, stdout === ""]).toEqual(isEdited ? [1, true] : [0, false]);
    const text = "1 of them are missing or changed here";
    expect(stderr.includes(text)).toBe(isEdited);
  }
});
