import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordingTransport, sampleMail } from "../testing/samples.ts";
import { folderWith, readResults, startTriage } from "../testing/start-triage.ts";

// Mails are read again fifty at a time, and those before the changed ones are asked about. The first
// megabyte of a file is read at once, and the changed mails are behind it.
const mails = Array.from({ length: 1001 }, (_, index) =>
  sampleMail({ id: `m-${index}`, subject: `Subject ${index} ${"x".repeat(1200)}` }),
);

test.each([
  ["977", 950],
  ["1000", 1000],
])(
  "an input that changes during a run at mail %s ends it, and keeps every answer that was paid for",
  async (mail, askedCount) => {
    const cwd = await folderWith(mails);
    const path = join(cwd, "inbox.json");
    const text = await readFile(path, "utf8");
    const change = () => writeFile(path, text.replace(`Subject ${mail}`, "Subject XXX"));
    const recording = recordingTransport();
    let sent = 0;
    const transport = {
      ...recording,
      async send(...call: Parameters<typeof recording.send>) {
        if ((sent += 1) === 100) await change();
        return await recording.send(...call);
      },
    };
    const broken = await startTriage(["inbox.json", "--concurrency", "7"], { cwd, transport });
    expect(broken.exitCode).toBe(1);
    expect(broken.stderr).toContain(
      `${path} has changed since the run began; run the same command`,
    );
    expect(recording.requests).toHaveLength(askedCount);
    await writeFile(path, text);
    const again = await startTriage(["inbox.json"], { cwd, transport });
    expect(again.exitCode).toBe(0);
    expect(recording.requests).toHaveLength(1001);
    expect(await readResults(cwd)).toHaveLength(1001);
  },
);

test("--skip-invalid leaves out what is wrong, names it, and says so with its exit code", async () => {
  const cwd = await folderWith([sampleMail({ id: "a" }), sampleMail({ id: "b", date: "soon" })]);
  const refused = await startTriage(["inbox.json"], { cwd });
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('record at index 1, line 1 (id "b"): date is not a day');
  const { exitCode, stderr } = await startTriage(["inbox.json", "--skip-invalid"], { cwd });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Left out as invalid (1):\n  record at index 1, line 1 (id "b"): date ');
  expect(stderr).toContain("Wrote 1 of 1 record to");
  expect(await readResults(cwd)).toMatchObject([{ id: "a" }]);
  const dry = await startTriage(["inbox.json", "--skip-invalid", "--dry-run"], { cwd });
  expect(dry.stderr).toContain("Left out as invalid (1)");
});
