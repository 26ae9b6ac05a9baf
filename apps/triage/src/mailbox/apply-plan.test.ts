import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { imapEnv } from "../testing/start-hoodiecrow.ts";
import { mailsOf, PLAN, serverWithPlan } from "../testing/server-with-plan.ts";
import { startTriage } from "../testing/start-triage.ts";

const everything = {
  a: "archive",
  b: "junk",
  c: "move Work",
  d: "keyword $Deal",
  e: "flag",
  f: "read",
};

test("applies each action, does nothing a second time, and takes all back", async () => {
  const { cwd, run, state } = await serverWithPlan(everything);
  const before = state();
  const applied = await run("apply", PLAN);
  expect([applied.exitCode, applied.stderr]).toEqual([
    0,
    'Applied 6 mails. "undo" takes it back.\n',
  ]);
  const after = {
    INBOX: "d $Deal, e \\Flagged, f \\Seen",
    Archive: "a",
    Spam: "b",
    Work: "c",
  };
  expect(state()).toEqual(after);
  const again = await run("apply", PLAN);
  expect([again.exitCode, again.stderr]).toEqual([
    0,
    expect.stringMatching(/^No line of .* is open\.\n$/),
  ]);
  expect(state()).toEqual(after);
  const undone = await run("undo", PLAN);
  expect([undone.exitCode, undone.stderr]).toEqual([0, "Undid 6 mails.\n"]);
  expect(state()).toEqual(before);
  expect((await run("undo", PLAN)).stderr).toBe("Undid 0 mails.\n");
  expect((await run("apply", PLAN)).stderr).toMatch(/^No line of .* is open\.\n$/);
  expect((await stat(join(cwd, "inbox.plan.done.sqlite"))).mode & 0o777).toBe(0o600);
});

test("a rule without a promise needs --yes", async () => {
  const { run, state, lines, write } = await serverWithPlan({ a: "flag", b: "flag" });
  const before = state();
  await write([lines[0], { ...lines[1], evidence: null }]);
  const refused = await run("apply", PLAN);
  expect([refused.exitCode, refused.stderr]).toEqual([
    3,
    expect.stringContaining("Rules without a promise for all mails: scam >= 0.9 -> flag"),
  ]);
  expect(state()).toEqual(before);
  expect((await run("apply", PLAN, "--yes")).exitCode).toBe(0);
  expect(state()["INBOX"]).toContain("a \\Flagged, b \\Flagged");
});

test("--limit leaves the rest of the plan for the next time", async () => {
  const { run, state } = await serverWithPlan({ a: "flag", b: "flag", c: "flag" });
  const first = await run("apply", PLAN, "--limit", "2");
  expect(first.stderr).toBe('Applied 2 mails, 1 mail still open. "undo" takes it back.\n');
  expect(state()["INBOX"]).toBe("a \\Flagged, b \\Flagged, c, d, e, f");
  await run("apply", PLAN);
  await run("undo", PLAN);
  expect(state()["INBOX"]).toBe("a, b, c, d, e, f");
});

test("another mail at the UID, and a UID without a mail, are left alone and named", async () => {
  const { run, state, lines, write } = await serverWithPlan({
    a: "archive",
    b: "archive",
    c: "flag",
  });
  await write([
    { ...lines[0], messageId: "other@example.com" },
    { ...lines[1], uid: 99 },
    lines[2],
  ]);
  const { exitCode, stderr } = await run("apply", PLAN);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("another mail is at its UID in INBOX; import and plan again: a\n");
  expect(stderr).toContain("it is no longer at its UID in INBOX; import and plan again: b\n");
  expect(state()).toEqual({ INBOX: "a, b, c \\Flagged, d, e, f" });
});

test("flags that the mail had before stay at undo", async () => {
  const inbox = mailsOf("abcdef", { a: ["\\Flagged"], b: ["$deal"], c: ["\\Seen"] });
  const actions = { a: "flag", b: "keyword $Deal", c: "archive", d: "flag" };
  const { run, state } = await serverWithPlan(actions, { inbox });
  const before = state();
  expect((await run("apply", PLAN)).exitCode).toBe(0);
  expect(state()).toEqual({
    INBOX: "a \\Flagged, b $deal, d \\Flagged, e, f",
    Archive: "c \\Seen",
  });
  expect((await run("undo", PLAN)).exitCode).toBe(0);
  expect(state()).toEqual(before);
});

test("a change by a person after apply stays at undo, and its mail is named", async () => {
  const { run, server, state } = await serverWithPlan({ a: "archive", b: "flag", c: "archive" });
  await run("apply", PLAN);
  const archive = server.getMailbox("Archive")?.messages ?? [];
  archive[0]?.flags?.push("\\Seen");
  const [, gone] = archive.splice(0, 2, ...archive.slice(0, 1));
  server.getMailbox("Work")?.messages.push({ uid: 1, ...gone } as (typeof archive)[0]);
  server
    .getMailbox("INBOX")
    ?.messages.find(({ raw }) => raw.includes("<b@"))
    ?.flags?.push("mine");
  const { exitCode, stderr } = await run("undo", PLAN);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("its flags changed since, and stay: b, a\n");
  expect(stderr).toContain("it is no longer at its UID in Archive; it stays where it is: c\n");
  expect(state()).toEqual({ INBOX: "a \\Seen, b mine, d, e, f", Work: "c" });
});

test("a mail that changes between the look and the command is left alone, and done the next time", async () => {
  const { run, server, state } = await serverWithPlan({ a: "flag", b: "flag" });
  const store = server.getCommandHandler("UID STORE");
  server.setCommandHandler("UID STORE", (...call) => {
    const [first] = server.getMailbox("INBOX")?.messages ?? [];
    Object.assign(first ?? {}, { MODSEQ: 100, flags: ["\\Seen"] });
    server.setCommandHandler("UID STORE", store);
    store(...call);
  });
  const { exitCode, stderr } = await run("apply", PLAN);
  expect([exitCode, stderr]).toEqual([
    2,
    'Note on 1 mail: it changed just now: a\nApplied 1 mail, 1 mail still open. "undo" takes it back.\n',
  ]);
  expect(state()["INBOX"]).toContain("a \\Seen, b \\Flagged");
  expect((await run("apply", PLAN)).exitCode).toBe(0);
  await run("undo", PLAN);
  expect(state()["INBOX"]).toBe("a \\Seen, b, c, d, e, f");
});

test("an interruption ends it after the command, and the next apply goes on", async () => {
  const { run, server, state, cwd } = await serverWithPlan({ a: "archive", b: "flag" });
  const interruption = new AbortController();
  const store = server.getCommandHandler("UID STORE");
  server.setCommandHandler("UID STORE", (...call) => {
    interruption.abort();
    store(...call);
  });
  const { exitCode, stderr } = await startTriage(["apply", PLAN], {
    cwd,
    env: imapEnv,
    signal: interruption.signal,
  });
  expect([exitCode, stderr]).toEqual([
    130,
    'Interrupted. Applied 1 mail, 1 mail still open. "undo" takes it back.\n',
  ]);
  expect(state()).toEqual({ INBOX: "a, b \\Flagged, c, d, e, f" });
  expect((await run("apply", PLAN)).exitCode).toBe(0);
  expect(state()).toMatchObject({ Archive: "a" });
});

test("a move is noted before it is sent; if its answer is lost, undo takes it back", async () => {
  const { cwd, run, server, state } = await serverWithPlan({ a: "archive" });
  let isNoted = false;
  const move = server.getCommandHandler("UID MOVE");
  server.setCommandHandler("UID MOVE", (...call) => {
    const [{ socket }] = call as [{ socket: Socket }];
    server.setCommandHandler("UID MOVE", move);
    isNoted = readFileSync(join(cwd, "inbox.plan.done.sqlite")).includes("a@example.com");
    socket.cork(); // the mail moves, and nothing is sent
    move(...call);
    socket.destroy();
  });
  expect((await run("apply", PLAN)).exitCode).not.toBe(0);
  expect(isNoted).toBe(true);
  expect(state()).toMatchObject({ Archive: "a" });
  expect((await run("undo", PLAN)).stderr).toBe("Undid 1 mail.\n");
  expect(state()).toEqual({ INBOX: "a, b, c, d, e, f" });
});
