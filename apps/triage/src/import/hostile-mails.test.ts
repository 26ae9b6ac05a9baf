import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";
import { startTriage } from "../testing/start-triage.ts";

const characters = [
  "*",
  "x",
  "#",
  "1",
  " ",
  "-",
  "\t",
  "a",
  "ä",
  "<",
  ">",
  "(",
  "&",
  "=",
  "?",
  '"',
  "\\",
  "@",
  ",",
  ".",
];
const rows = [
  "*".repeat(100),
  "a".repeat(200_000),
  ...characters.map((character) => character.repeat(5000)),
  "** ".repeat(2000),
  "order ".repeat(2000),
  `bestell${"a1".repeat(3000)}`,
  "<b>".repeat(30_000),
  `${"<b>".repeat(60_000)}${"</i>".repeat(60_000)}`,
  "<p style=".repeat(5000),
  "=?utf-8?Q?".repeat(5000),
  "From a@b.example Mon ".repeat(3000),
];

// Each took minutes or for ever once; none is timed, but the test ends.
test("mails of long rows come whole, in every field", async () => {
  const mails = rows.flatMap((row) => [
    `${dateHeader}\nSubject: text\n\n${row}`,
    `${dateHeader}\nSubject: ${row}\nFrom: ${row}\n\nHi`,
    `Date: ${row}\nReceived: ${row}\nMessage-ID: ${row}\nX-Gmail-Labels: ${row}\nContent-Type: ${row}\n\nHi`,
    `${dateHeader}\nSubject: html\nContent-Type: text/html\n\n<p>${row}</p>`,
    `${dateHeader}\nSubject: lines\n\n${`${row.slice(0, 40)}\n`.repeat(200)}`,
  ]);
  const { mails: imported, exitCode, stderr } = await importOf({ "a.mbox": mbox(...mails) });
  // The headers of one take all that is read.
  expect(stderr.match(/it has no sender, subject or text/g)).toHaveLength(1);
  expect(exitCode).toBe(2);
  expect(imported).toHaveLength(mails.length - 1);
});

test("Ctrl-C ends an import, and leaves nothing behind", async () => {
  const message = `${dateHeader}\n\n${"Hi ".repeat(2000)}`;
  const files = { "a.mbox": mbox(...Array.from({ length: 100 }, () => message)) };
  const interruption = new AbortController();
  const { signal } = interruption;
  let checks = 0;
  // At the hundredth look at the signal, the person has pressed it.
  signal.throwIfAborted = () => {
    checks += 1;
    if (checks === 100) interruption.abort(new Error("Ctrl-C"));
    if (signal.aborted) throw signal.reason;
  };
  const first = await importOf(files);
  expect(first.mails).toHaveLength(100);
  const { exitCode, stderr } = await startTriage(["import", "a.mbox", "new.json"], {
    cwd: first.cwd,
    signal,
  });
  expect(exitCode).toBe(130);
  expect(stderr).toBe("Interrupted; nothing was written.\n");
  expect((await readdir(first.cwd)).toSorted()).toEqual(["a.mbox", "inbox.json"]);
});
