import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordingTransport, sampleMail } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const mails = [
  sampleMail({ id: "m-1", from: "Ada <Ada@Example.com>", subject: "Re: [list] Lunch  today" }),
  sampleMail({
    id: "m-2",
    from: "ada@example.com",
    subject: "AW: lunch today",
    date: "2026-11-20",
  }),
  sampleMail({ id: "m-3", from: "Bo <bo@example.com>", subject: "Lunch today" }),
];

async function statesOf(words: readonly string[], env = {}) {
  const cwd = await folderWith(mails);
  await writeFile(
    join(cwd, "people.vcf"),
    "BEGIN:VCARD\nEMAIL;TYPE=work:BO@example.com\nEND:VCARD\n",
  );
  const transport = recordingTransport();
  await startTriage(["inbox.json", ...words], { cwd, transport, env });
  return transport.requests.map(({ state }) => state);
}

test("adds age, repeats and known contact behind the contract's four keys", async () => {
  const words = ["--context", "--today", "2026-11-12", "--contacts", "people.vcf"];
  const states = await statesOf(words, { TRIAGE_USER_ADDRESSES: "me@example.com" });
  expect(Object.keys(states[0] ?? {})).toEqual(
    "from subject date snippet age_days repeat_count known_contact today sent_by_user".split(" "),
  );
  expect(states).toMatchObject([
    { age_days: 10, repeat_count: 2, known_contact: false, today: "2026-11-12" },
    { age_days: -8, repeat_count: 2, known_contact: false },
    { age_days: 10, repeat_count: 1, known_contact: true },
  ]);
});

test("counts ages to today, repeats over the whole file, and the user's own addresses as known", async () => {
  const env = { TRIAGE_USER_ADDRESSES: "Me@example.com, ada@example.com" };
  const states = await statesOf(["--context", "--limit", "1"], env);
  const known = { known_contact: true, sent_by_user: true };
  expect(states).toMatchObject([{ age_days: 19, repeat_count: 2, today: "2026-11-21", ...known }]);
});

test("where nobody says who the user is, no state says that they sent it", async () => {
  const [state] = await statesOf(["--context"]);
  expect(state).toMatchObject({ known_contact: false });
  expect(state).not.toHaveProperty("sent_by_user");
});

test("without the flag the state is exactly the contract's four keys", async () => {
  for (const state of await statesOf([])) {
    expect(Object.keys(state)).toEqual(["from", "subject", "date", "snippet"]);
  }
});

test("subjects of one thread differ in case, reply marks and the mark of a list alone", async () => {
  const threads = [
    ["Re: Fwd: RE[2]: Hello", "[team] Re: [team] Hello", "hello"],
    ["Return of the invoice", "return of the invoice"],
    ["turn of the invoice"],
    ["Re:", ""],
  ];
  const all = threads.flat().map((subject, at) => sampleMail({ id: `m-${at}`, subject }));
  const transport = recordingTransport();
  await startTriage(["inbox.json", "--context"], { cwd: await folderWith(all), transport });
  expect(transport.requests.map(({ state }) => state)).toMatchObject(
    threads.flatMap((thread) => thread.map(() => ({ repeat_count: thread.length }))),
  );
});
