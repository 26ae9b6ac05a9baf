import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { mailsOf, PLAN, serverWithPlan } from "../testing/server-with-plan.ts";
import { startTriage } from "../testing/start-triage.ts";

const JOURNAL = "inbox.plan.done.sqlite";

test.each([
  ["MOVE", "moving to Archive is refused: the server has no MOVE: a\n"],
  ["UIDPLUS", "moving to Archive is refused: the server has no UIDPLUS: a\n"],
])("without %s no mail is moved, and flags are set", async (name, problem) => {
  const options = { without: [name] };
  const { run, state } = await serverWithPlan({ a: "archive", b: "flag" }, options);
  const { exitCode, stderr } = await run("apply", PLAN);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(problem)]);
  expect(state()).toEqual({ INBOX: "a, b \\Flagged, c, d, e, f" });
});

test("a keyword is refused if the folder keeps no new ones", async () => {
  const inbox = { ...mailsOf("abcdef"), allowPermanentFlags: false };
  const { run, state } = await serverWithPlan({ a: "keyword $Deal", b: "flag" }, { inbox });
  const { exitCode, stderr } = await run("apply", PLAN);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("$Deal is refused: PERMANENTFLAGS of INBOX has no \\*: a\n");
  expect(state()["INBOX"]).toBe("a, b \\Flagged, c, d, e, f");
});

test.each<[string, Record<string, unknown>, string]>([
  ["another UIDVALIDITY", { uidvalidity: 8 }, "INBOX is missing, or has another UIDVALIDITY"],
  ["a folder that vanished", { folder: "Old" }, "Old is missing, or has another UIDVALIDITY"],
  ["an unknown target", { action: "move", target: "Nowhere" }, "There is no folder Nowhere"],
  ["a system flag as keyword", { action: "keyword", target: "\\Deleted" }, "is not a keyword"],
  ["an unknown action", { action: "delete" }, "Line 1 of"],
  ["an action without its folder", { action: "move" }, '"move" is not an action'],
  ["a wrong UID", { uid: 0 }, "cannot be used: its field uid is missing or wrong. Remove"],
])("a plan with %s changes nothing: one sentence and exit 1", async (_, change, problem) => {
  const { run, state, lines, write, cwd } = await serverWithPlan({ a: "flag" });
  const before = state();
  await write([{ ...lines[0], ...change }]);
  const { exitCode, stderr } = await run("apply", PLAN);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)]);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(state()).toEqual(before);
  expect(await readdir(cwd)).not.toContain(JOURNAL);
});

test("a plan whose mails are all left alone makes no journal", async () => {
  const { run, lines, write, cwd } = await serverWithPlan({ a: "archive" });
  await write([{ ...lines[0], uid: 99 }]);
  expect((await run("apply", PLAN)).exitCode).toBe(2);
  expect(await readdir(cwd)).not.toContain(JOURNAL);
});

test("a plan that another process applies after the sign-in is not applied a second time", async () => {
  const { run, server, state } = await serverWithPlan({ a: "flag" });
  const handler = server.getCommandHandler("STATUS");
  const others: ReturnType<typeof run>[] = [];
  server.setCommandHandler("STATUS", (...call) => {
    server.setCommandHandler("STATUS", handler);
    const other = run("apply", PLAN).then((result) => {
      // A person takes the flag away again.
      Object.assign(server.getMailbox("INBOX")?.messages[0] ?? {}, { flags: [] });
      handler(...call);
      return result;
    });
    others.push(other);
  });
  const { exitCode, stderr } = await run("apply", PLAN);
  expect(await Promise.all(others)).toMatchObject([{ exitCode: 0 }]);
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^Another process wrote .*again/)]);
  expect(state()["INBOX"]).toBe("a, b, c, d, e, f");
});

test.each([
  ["vanished", { folder: "Old" }, /^Old is missing, or has another/],
  [
    "never was there",
    { action: "move", target: "Nowhere" },
    /^There is no folder Nowhere; nothing was done/,
  ],
])("a folder that %s is found before anything is done", async (_, change, problem) => {
  const { run, state, lines, write } = await serverWithPlan({ a: "flag", b: "archive" });
  const before = state();
  await write([lines[0], { ...lines[1], ...change }]);
  for (const limit of [[], ["--limit", "1"]]) {
    const { exitCode, stderr } = await run("apply", PLAN, ...limit);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(problem)]);
    expect(state()).toEqual(before);
  }
});

test("undo of a plan that was not applied makes no file", async () => {
  const cwd = await temporaryFolder();
  const { exitCode, stderr } = await startTriage(["undo", "a.plan.ndjson"], { cwd });
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^Nothing of .* was applied/)]);
  expect(await readdir(cwd)).toEqual([]);
});

test("undo changes nothing in a folder that has another UIDVALIDITY by now", async () => {
  const { server, run, state } = await serverWithPlan({ a: "flag" });
  await run("apply", PLAN);
  const before = state();
  const inbox = server.getMailbox("INBOX");
  if (inbox !== undefined) inbox.uidvalidity = 8;
  const { exitCode, stderr } = await run("undo", PLAN);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("no longer at its UID in INBOX")]);
  expect(state()).toEqual(before);
});

test("a plan with two accounts, one mail twice or a broken line is refused with the line", async () => {
  const { run, lines, write, cwd } = await serverWithPlan({ a: "flag", b: "flag" });
  const [a, b] = lines;
  await write([a, { ...b, account: "imap://eve@127.0.0.1:1" }]);
  expect((await run("apply", PLAN)).stderr).toMatch(/Line 2 of .*: its account imap:\/\/eve/);
  await write([a, { ...b, uid: 1 }]);
  expect((await run("apply", PLAN)).stderr).toMatch(/Line 2 of .*: an earlier line has this mail/);
  const text = await readFile(join(cwd, PLAN), "utf8");
  await writeFile(join(cwd, PLAN), `${text.split("\n")[0]}\n{"id":`);
  expect((await run("apply", PLAN)).stderr).toMatch(
    /Line 2 of .* cannot be used: it is not a JSON object\. Remove/,
  );
});

test("undo without an apply, a wrong password and a file that is no journal are sentences", async () => {
  const { run, cwd } = await serverWithPlan({ a: "flag" });
  expect((await run("undo", PLAN)).stderr).toContain("was applied. Check its path.");
  const wrong = await startTriage(["apply", PLAN], {
    cwd,
    env: { TRIAGE_IMAP_PASSWORD: "hunter2" },
  });
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    1,
    expect.stringContaining("does not let testuser"),
  ]);
  expect(wrong.stderr).not.toContain("hunter2");
  await writeFile(join(cwd, JOURNAL), "no database, but a text that is long enough");
  expect((await run("apply", PLAN)).stderr).toContain('is in use, or no journal of "apply"');
});
