import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { AnsweredCalls } from "../testing/start-program.ts";
import {
  folderWith,
  readResults,
  startGatewayProgram,
  startOnGateway,
} from "../testing/tickets/start-tickets.ts";

// A limit on the size of files stands in for the full disk: it lets the first blocks through, stops
// the rest, and holds for the administrator as well.
async function folderAndService(tickets: readonly object[]) {
  const folder = await folderWith(tickets);
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  const answered = new AnsweredCalls(emulator);
  // Only what the limit is on needs a process of its own.
  const run = async (mostKilobytes?: number) => {
    const ended =
      mostKilobytes === undefined
        ? await startOnGateway(folder, gatewayBaseUrl)
        : await startGatewayProgram(folder, { gatewayBaseUrl, concurrency: 1, mostKilobytes })
            .ended;
    await answered.count();
    return ended;
  };
  return { folder, answered, run };
}

function inbox(length: number) {
  const subject = "A subject as long as a letter. ".repeat(60);
  return Array.from({ length }, (_, index) => sampleTicket({ id: `m-${index}`, subject }));
}

test("a disk that is full when the results are written costs no answer and no older results", async () => {
  const { folder, answered, run } = await folderAndService(inbox(100));
  expect(await run()).toMatchObject({ exitCode: 0 });
  const older = await readFile(join(folder, "inbox.tickets.json"), "utf8");

  // Two tickets more: their answers still fit beside the others, all results together do not.
  await writeFile(join(folder, "inbox.json"), JSON.stringify(inbox(102)));
  const { exitCode, stderr } = await run(170);
  expect(stderr).toContain("Answered: 2, 100 answered already.");
  expect(stderr).toMatch(
    /Cannot write .*inbox\.tickets\.json: file too large\. Check the disk and try again\. Every answer is kept\./,
  );
  expect(exitCode).toBe(1);
  expect(await readFile(join(folder, "inbox.tickets.json"), "utf8")).toBe(older);
  expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/^\.tickets-/));

  expect(await run()).toMatchObject({ exitCode: 0 });
  expect(await readResults(folder)).toHaveLength(102);
  expect(answered.total).toBe(102);
});

test("a disk that fills up while answers come in ends the run before the next call is paid", async () => {
  const { folder, answered, run } = await folderAndService(inbox(40));
  const { exitCode, stderr } = await run(300);
  expect(stderr).toMatch(/The journal .*inbox\.tickets\.sqlite .*disk .*full\. Make room/);
  expect(exitCode).toBe(1);
  expect(await readdir(folder)).not.toContainEqual(
    expect.stringMatching(/^\.tickets-|\.tickets\.json$/),
  );
  const paid = answered.total;
  expect(paid).toBeGreaterThan(1);
  expect(paid).toBeLessThan(40);

  const again = await run();
  expect(again.exitCode).toBe(0);
  expect(again.stderr).toContain(`1 in flight when a run ended`);
  expect(answered.total).toBe(41);
});
