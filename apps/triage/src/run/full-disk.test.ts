import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import { sampleMail } from "../testing/samples.ts";
import { AnsweredCalls, startProgram, startWords } from "../testing/start-program.ts";
import { folderWith, readResults, startOnGateway } from "../testing/start-triage.ts";

// A limit on the size of files stands in for the full disk: it lets the first blocks through, stops
// the rest, and holds for the administrator as well.
async function folderAndService(mails: readonly object[]) {
  const folder = await folderWith(mails);
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  const answered = new AnsweredCalls(emulator);
  // Only what the limit is on needs a process of its own.
  const run = async (mostKilobytes?: number) => {
    const ended =
      mostKilobytes === undefined
        ? await startOnGateway(folder, gatewayBaseUrl)
        : await startProgram(folder, { gatewayBaseUrl, concurrency: 1, mostKilobytes }).ended;
    await answered.count();
    return ended;
  };
  return { folder, answered, run };
}

function inbox(length: number) {
  const subject = "A subject as long as a letter. ".repeat(60);
  return Array.from({ length }, (_, index) => sampleMail({ id: `m-${index}`, subject }));
}

test("a disk that is full when the results are written costs no answer and no older results", async () => {
  const { folder, answered, run } = await folderAndService(inbox(100));
  expect(await run()).toMatchObject({ exitCode: 0 });
  const older = await readFile(join(folder, "inbox.triage.json"), "utf8");

  // Two mails more: their answers still fit beside the others, all results together do not.
  await writeFile(join(folder, "inbox.json"), JSON.stringify(inbox(102)));
  const { exitCode, stderr } = await run(170);
  expect(stderr).toContain("Answered: 2, 100 answered already.");
  expect(stderr).toMatch(
    /Cannot write .*inbox\.triage\.json: file too large\. Nothing was written, and every answer is kept; make room/,
  );
  expect(exitCode).toBe(1);
  expect(await readFile(join(folder, "inbox.triage.json"), "utf8")).toBe(older);
  expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/^\.triage-/));

  expect(await run()).toMatchObject({ exitCode: 0 });
  expect(await readResults(folder)).toHaveLength(102);
  expect(answered.total).toBe(102);
});

test("a disk that fills up while answers come in ends the run before the next call is paid", async () => {
  const { folder, answered, run } = await folderAndService(inbox(40));
  const { exitCode, stderr } = await run(300);
  expect(stderr).toMatch(/The journal .*inbox\.triage\.sqlite .*disk .*full\. Make room/);
  expect(exitCode).toBe(1);
  expect(await readdir(folder)).not.toContainEqual(
    expect.stringMatching(/^\.triage-|\.triage\.json$/),
  );
  const paid = answered.total;
  expect(paid).toBeGreaterThan(1);
  expect(paid).toBeLessThan(40);

  const again = await run();
  expect(again.exitCode).toBe(0);
  expect(again.stderr).toContain(`1 in flight when an earlier run ended`);
  expect(answered.total).toBe(41);
});

test("a disk that is full when a report is sorted is told, and leaves the report before", async () => {
  const subject = "A subject as long as a book. ".repeat(2000);
  const mails = Array.from({ length: 60 }, (_, index) => sampleMail({ id: `m-${index}`, subject }));
  const { folder, run } = await folderAndService(mails);
  expect(await run()).toMatchObject({ exitCode: 0 });
  await writeFile(join(folder, "inbox.triage.html"), "the one before");
  const options = { cwd: folder, env: {}, mostKilobytes: 1000 };
  const { exitCode, stderr } = await startWords(["report", "inbox.json"], options).ended;
  expect(stderr).toBe(
    "Cannot sort the mails in a temporary file: disk I/O error. Make room there, or name another folder with TMPDIR.\n",
  );
  expect(exitCode).toBe(1);
  expect(await readFile(join(folder, "inbox.triage.html"), "utf8")).toBe("the one before");
});
