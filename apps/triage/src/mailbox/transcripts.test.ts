import { join } from "node:path";
import type { Clock } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { playTranscripts } from "../testing/play-transcript.ts";
import { mailsOf } from "../testing/samples.ts";
import { startTriage } from "../testing/start-triage.ts";

// From sessions with Dovecot 2.3, without the sign-in.
const greeting = (enabled = "* ENABLED CONDSTORE QRESYNC") => `
  S: * PREAUTH [CAPABILITY IMAP4rev1 ENABLE NAMESPACE CONDSTORE QRESYNC IDLE] Dovecot ready.
  C: NAMESPACE
  S: * NAMESPACE (("" "/")) NIL NIL
  S: TAG OK Namespace completed.
  C: ENABLE CONDSTORE QRESYNC
  S: ${enabled}
  S: TAG OK Enabled.
  C: LIST "" "INBOX"
  S: * LIST (\\HasNoChildren) "/" INBOX
  S: TAG OK List completed.
  C: LSUB "" "INBOX"
  S: TAG OK Lsub completed.`;

const examined = (exists: number, modseq: number, ...more: string[]) => `
  S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)
  S: * ${exists} EXISTS
  S: * OK [UIDVALIDITY 7] UIDs valid
  S: * OK [UIDNEXT 4] Predicted next UID
  S: * OK [HIGHESTMODSEQ ${modseq}] Highest
  ${more.map((line) => `S: ${line}`).join("\n  ")}
  S: TAG OK [READ-ONLY] Examine completed.`;

const noneDeleted = `
  C: UID SEARCH DELETED
  S: * SEARCH
  S: TAG OK Search completed.`;

const searched = `${noneDeleted}
  C: UID SEARCH UID 1:* UNDELETED
  S: * SEARCH 1 2 3
  S: TAG OK Search completed.`;

const fetched = `
  C: UID FETCH 1,2,3 (BODYSTRUCTURE
  ${[1, 2, 3].map((uid) => String.raw`S: * ${uid} FETCH (UID ${uid} INTERNALDATE "02-Nov-2026 09:00:00 +0000" RFC822.SIZE 147 MODSEQ (3) BODYSTRUCTURE ("text" "plain" NIL NIL NIL "7bit" 10 1) BODY[HEADER]<0> {Subject: mail ${uid}\r\n\r\n})`).join("\n  ")}
  S: TAG OK Fetch completed.
  C: UID FETCH 1,2,3 (MODSEQ UID BODY.PEEK[1]<0.6000>)
  ${[1, 2, 3].map((uid) => String.raw`S: * ${uid} FETCH (UID ${uid} MODSEQ (3) BODY[1]<0> {Hi there\r\n})`).join("\n  ")}
  S: TAG OK Fetch completed.`;

const first = `${greeting()}\n  C: EXAMINE INBOX${examined(3, 9)}${searched}${fetched}`;

async function importing(...transcripts: string[]) {
  const { url, left } = await playTranscripts(...transcripts);
  const cwd = await temporaryFolder();
  const waits: number[] = [];
  const clock: Clock = {
    now: () => 0,
    epochNow: () => Date.parse("2026-11-21T12:00:00Z"),
    schedule(delayMs, callback) {
      waits.push(delayMs);
      setImmediate(callback);
      return () => {};
    },
  };
  const env = { TRIAGE_IMAP_PASSWORD: "hunter2" };
  const run = async () => await startTriage(["import", url, "inbox.json"], { cwd, env, clock });
  const subjects = async () =>
    (await mailsOf(join(cwd, "inbox.json"))).map(({ subject }) => subject);
  return { run, subjects, waits, left };
}

test.each([
  ["once", ["* VANISHED (EARLIER) 1:2"], undefined],
  ["twice", ["* VANISHED (EARLIER) 1:2", "* VANISHED (EARLIER) 2"], undefined],
  ["and never known mails too", ["* VANISHED (EARLIER) 1:2,4:900"], undefined],
  ["after an empty list of ENABLED, as iCloud has it", ["* VANISHED (EARLIER) 1:2"], "* ENABLED"],
])("a mail that vanished leaves the file: reported %s", async (_, vanished, enabled) => {
  const changes = `\n  C: EXAMINE INBOX (QRESYNC (7 9))${examined(1, 12, ...vanished)}${noneDeleted}`;
  const { run, subjects } = await importing(
    first.replace("* ENABLED CONDSTORE QRESYNC", enabled ?? "* ENABLED CONDSTORE QRESYNC"),
    greeting(enabled) + changes,
  );
  await run();
  expect(await subjects()).toEqual(["mail 1", "mail 2", "mail 3"]);
  expect((await run()).stderr).toContain("has 1 mail: read 0 mails; 2 left the folder");
  expect(await subjects()).toEqual(["mail 3"]);
});

const listed = `
  C: LIST "" "INBOX"
  S: * LIST (\\HasNoChildren) "/" INBOX
  S: TAG OK List completed.`;
const examine = `${greeting()}\n  C: EXAMINE INBOX`;

test.each([
  [
    5000,
    `${examine}${examined(3, 9)}${searched}\n  C: UID FETCH\n  S: TAG NO [OVERQUOTA] Account exceeded bandwidth limits.`,
  ],
  [5000, `${examine}${examined(3, 9)}\n  C: UID SEARCH\n  S: TAG NO [THROTTLED] Slow down.`],
  [5000, `${examine}\n  S: TAG NO [UNAVAILABLE] Temporary failure.${listed}`],
  [60_000, `${examine}\n  S: TAG NO [UNAVAILABLE] Try again in 60 seconds.${listed}`],
])("a busy server is asked again after %i ms", async (delayMs, busy) => {
  const { run, subjects, waits, left } = await importing(busy, first);
  const { exitCode, stderr } = await run();
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("is busy; goes on in")]);
  expect([waits.slice(0, 1), left()]).toEqual([[delayMs], 0]);
  expect(await subjects()).toHaveLength(3);
});

test.each([
  [
    "refuses a command",
    `${examine}${examined(3, 9)}\n  C: UID SEARCH\n  S: TAG BAD No hunter2`,
    'refused a command (BAD). Try again later. The server wrote: "BAD No …"',
  ],
  [
    "cuts the connection",
    `${examine}${examined(3, 9)}${searched}\n  C: UID FETCH\n  S: CUT`,
    "failed (NoConnection)",
  ],
  [
    "ends the session",
    `${examine}\n  S: * BYE Too late, hunter2\n  S: CUT`,
    'The server wrote: "Too late, …"',
  ],
])("a server that %s is reported in its words, without the secret", async (_, wrong, problem) => {
  const { run } = await importing(wrong);
  const { exitCode, stderr } = await run();
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)]);
  expect([stderr.trim().split("\n").length, stderr.includes("hunter2")]).toEqual([1, false]);
});
