import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { playTranscripts } from "../testing/play-transcript.ts";
import { mailsOf } from "../testing/samples.ts";
import { startTriage } from "../testing/start-triage.ts";

interface Session {
  /** The UIDs that are there. */
  readonly uids: readonly number[];
  readonly uidnext?: number;
  readonly deleted?: readonly number[];
  /** What follows the search: commands and answers. */
  readonly more: readonly string[];
}

/** A session with a server that has neither CONDSTORE nor QRESYNC. */
function session({ uids, uidnext = 4, deleted = [], more }: Session): string {
  const exists = uids.length + deleted.length;
  return [
    'S: * PREAUTH [CAPABILITY IMAP4rev1 IDLE] ready\nC: LIST "" ""\nS: * LIST () "/" ""\nS: TAG OK',
    'C: LIST "" "INBOX"\nS: * LIST () "/" INBOX\nS: TAG OK\nC: LSUB "" "INBOX"\nS: TAG OK\nC: EXAMINE INBOX',
    `S: * ${exists} EXISTS\nS: * OK [UIDVALIDITY 7] x\nS: * OK [UIDNEXT ${uidnext}] x\nS: TAG OK`,
    `C: UID SEARCH DELETED\nS: * SEARCH ${deleted.join(" ")}\nS: TAG OK`,
    ...more,
  ].join("\n");
}

const search = (range: string, uids: readonly number[]) =>
  `C: UID SEARCH UID ${range}\nS: * SEARCH ${uids.join(" ")}\nS: TAG OK`;
const fields = `INTERNALDATE "02-Nov-2026 09:00:00 +0000" RFC822.SIZE 147`;
const structure = `BODYSTRUCTURE ("text" "plain" NIL NIL NIL "7bit" 10 1)`;
const header = (uid: number) => String.raw`BODY[HEADER]<0> {Subject: mail ${uid}\r\n\r\n}`;
const head = (uid: number) =>
  `S: * ${uid} FETCH (UID ${uid} ${fields} ${structure} ${header(uid)})`;
const text = (uid: number) =>
  String.raw`S: * ${uid} FETCH (UID ${uid} BODY[1]<0> {Text ${uid}\r\n})`;
const heads = (range: string, ...answers: readonly string[]) =>
  [`C: UID FETCH ${range} (BODYSTRUCTURE`, ...answers, "S: TAG OK"].join("\n");
const texts = (range: string, ...answers: readonly string[]) =>
  [`C: UID FETCH ${range} (UID BODY.PEEK[1]`, ...answers, "S: TAG OK"].join("\n");
/** A session with one mail, whose head is in the given answers. */
const sessionOfOne = (...answers: readonly string[]) => {
  const more = [search("1:* UNDELETED", [1]), heads("1", ...answers), texts("1", text(1))];
  return session({ uids: [1], uidnext: 2, more });
};

async function importing(...transcripts: string[]) {
  const { url } = await playTranscripts(...transcripts);
  const cwd = await temporaryFolder();
  const env = { TRIAGE_IMAP_PASSWORD: "hunter2" };
  const run = async () => await startTriage(["import", url, "inbox.json"], { cwd, env });
  const mails = async () =>
    (await mailsOf(join(cwd, "inbox.json"))).map(
      ({ subject, snippet }) => `${subject}: ${snippet}`,
    );
  return { run, mails };
}

const all = [1, 2, 3].map((uid) => `mail ${uid}: Text ${uid}`);

test("answers that were not asked for, and parts of answers, are no mails", async () => {
  const seen = String.raw`S: * 1 FETCH (UID 1 FLAGS (\Seen))`;
  const bare = String.raw`S: * 2 FETCH (FLAGS (\Seen))`;
  const other = String.raw`S: * 4 FETCH (UID 9 FLAGS (\Seen))`;
  const { run, mails } = await importing(
    session({
      uids: [1, 2, 3],
      more: [
        search("1:* UNDELETED", [1, 2, 3]),
        heads("1,2,3", seen, bare, head(1), head(2), other, seen, head(3)),
        texts("1,2,3", seen, bare, text(1), other, text(3), seen, text(2)),
      ],
    }),
    // The mail with UID 9 may be anywhere from UIDNEXT on.
    session({
      uids: [1, 2, 3, 9],
      uidnext: 10,
      more: [
        search("4:* UNDELETED", [9]),
        heads("9", seen, head(9), seen),
        texts("9", seen, text(9), seen),
      ],
    }),
  );
  expect((await run()).stderr).toContain("has 3 mails: read 3 mails; 0 left");
  expect(await mails()).toEqual(all);
  expect((await run()).stderr).toContain("has 4 mails: read 1 mail; 0 left");
  expect(await mails()).toEqual([...all, "mail 9: Text 9"]);
});

test("the fields of a mail may come in several answers", async () => {
  const { run, mails } = await importing(
    sessionOfOne(
      `S: * 1 FETCH (UID 1 ${fields} ${header(1)})`,
      `S: * 1 FETCH (UID 1 ${structure})`,
    ),
  );
  expect((await run()).exitCode).toBe(0);
  expect(await mails()).toEqual(all.slice(0, 1));
});

test("a mail that is not handed out is named, and read when it is", async () => {
  const { run, mails } = await importing(
    session({
      uids: [1, 2, 3],
      more: [
        search("1:* UNDELETED", [1, 2, 3]),
        heads("1,2,3", head(1), head(3)),
        search("2", [2]),
        heads("2").replace("S: TAG OK", "S: TAG NO [SERVERBUG] Cannot read it"),
        texts("1,3", text(1), text(3)),
      ],
    }),
    session({
      uids: [1, 2, 3],
      more: [search("2:* UNDELETED", [2, 3]), heads("2", head(2)), texts("2", text(2))],
    }),
  );
  const { exitCode, stderr } = await run();
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("has 2 mails: read 2 mails")]);
  expect(stderr).toContain(
    'UID 2: the server refused it. The server wrote: "NO [SERVERBUG] Cannot',
  );
  expect(await mails()).toEqual([all[0], all[2]]);
  expect(await run()).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("read 1 mail"),
  });
  expect(await mails()).toEqual(all);
});

test("a mail that is expunged during the read has left the folder", async () => {
  const { run, mails } = await importing(
    session({
      uids: [1, 2, 3],
      more: [
        search("1:* UNDELETED", [1, 2, 3]),
        heads("1,2,3", head(1), head(2), head(3)),
        texts("1,2,3", text(1), text(3)),
        search("2", []),
      ],
    }),
  );
  const { exitCode, stderr } = await run();
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining("has 2 mails: read 2 mails; 1 left the folder"),
  ]);
  expect(await mails()).toEqual([all[0], all[2]]);
});

test("mails of a refused range are asked for one by one", async () => {
  const { run, mails } = await importing(
    session({
      uids: [1, 2, 3],
      more: [
        search("1:* UNDELETED", [1, 2, 3]),
        heads("1,2,3", head(1)).replace("S: TAG OK", "S: TAG NO [EXPUNGEISSUED] Some are gone"),
        search("2,3", [2, 3]),
        heads("2", head(2)),
        heads("3", head(3)),
        texts("1,2,3").replace("S: TAG OK", "S: TAG NO Internal error"),
        search("1,2,3", [1, 2, 3]),
        texts("1", text(1)),
        texts("2").replace("S: TAG OK", "S: TAG NO Internal error"),
        texts("3", text(3)),
      ],
    }),
  );
  const { exitCode, stderr } = await run();
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining('UID 2: the server refused it. The server wrote: "NO Internal error"'),
  ]);
  expect(await mails()).toEqual([all[0], all[2]]);
});

test.each([
  ["no time", "NIL"],
  ["an impossible time", '"00-Jan-0000 09:00:00 +0000"'],
  ["a year of five digits", '"02-Nov-12026 09:00:00 +0000"'],
])("a mail with %s is imported", async (_, time) => {
  const { run, mails } = await importing(
    sessionOfOne(head(1).replace('"02-Nov-2026 09:00:00 +0000"', time)),
  );
  expect((await run()).exitCode).toBe(0);
  expect(await mails()).toEqual(all.slice(0, 1));
});

test.each([
  ["with the blank line", String.raw`\r\n\r\n}`],
  ["without it", String.raw`\r\n}`],
  ["cut within a line", "}"],
])("the text of a mail is behind its header: %s", async (_, end) => {
  const { run, mails } = await importing(sessionOfOne(head(1).replace(String.raw`\r\n\r\n}`, end)));
  expect((await run()).exitCode).toBe(0);
  expect(await mails()).toEqual(all.slice(0, 1));
});

test("without a structure or a text the whole text is read, and a mail with nothing is left out", async () => {
  const noStructure = head(1).replace(structure, "BODYSTRUCTURE NIL");
  const noHeader = head(2).replace(/BODY\[HEADER\].*/, "BODY[HEADER]<0> NIL)");
  const nothing = (answer: string) => answer.replace(/\{.*\}/, "NIL");
  const whole = (answer: string) => answer.replace("BODY[1]", "BODY[TEXT]");
  const { run, mails } = await importing(
    session({
      uids: [1, 2, 3],
      more: [
        search("1:* UNDELETED", [1, 2, 3]),
        heads("1,2,3", noStructure, noHeader, head(3)),
        search("1", [1]),
        heads("1", noStructure),
        texts("2,3", nothing(text(2)), nothing(text(3))),
        texts("2,3,1", whole(text(1)), whole(nothing(text(2))), whole(nothing(text(3)))).replace(
          "PEEK[1]",
          "PEEK[TEXT]",
        ),
      ],
    }),
  );
  const { exitCode, stderr } = await run();
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining(
      "has 2 mails: read 3 mails; 0 left the folder; left out 1 without content",
    ),
  ]);
  expect(await mails()).toEqual([all[0], "mail 3: "]);
});

test("mails that are marked as deleted are left out, and are back without the mark", async () => {
  // Without a Message-ID, only its size shows that it is another mail than 3.
  const larger = head(2).replace(/RFC822\.SIZE \d+/, "RFC822.SIZE 999");
  const { run, mails } = await importing(
    session({
      uids: [1, 3],
      deleted: [2],
      more: [
        search("1:* UNDELETED", [1, 3]),
        heads("1,3", head(1), head(3)),
        texts("1,3", text(1), text(3)),
      ],
    }),
    session({
      uids: [1, 2],
      deleted: [3],
      more: [search("1:* UNDELETED", [1, 2]), heads("2", larger), texts("2", text(2))],
    }),
  );
  expect((await run()).stderr).toContain("0 left the folder; left out 1 deleted.");
  expect(await mails()).toEqual([all[0], all[2]]);
  expect((await run()).stderr).toContain("1 left the folder; left out 1 deleted.");
  expect(await mails()).toEqual(all.slice(0, 2));
});
