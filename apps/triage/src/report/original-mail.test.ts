import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";
import { mailsOf, recordingTransport } from "../testing/samples.ts";
import { startTriage, startTriagePage } from "../testing/start-triage.ts";

const mail = (name: string, text = `text of ${name}`) =>
  `${dateHeader}\nMessage-ID: <${name}@x.example>\nFrom: a@x.example\nSubject: ${name}\n\n${text}\n`;
const large = mail("large", "A long line.\n".repeat(100_000));

/** Imports files, serves their list with or without the export, and returns how one asks for a mail. */
async function served(
  files: Record<string, string | Uint8Array>,
  from: string,
  words = ["--source", from],
) {
  const { cwd } = await importOf(files, from);
  await startTriage(["inbox.json"], { cwd, transport: recordingTransport() });
  const { origin } = await startTriagePage(["serve", "inbox.json", ...words], { cwd });
  const page = await (await fetch(origin)).text();
  const get = async (name: string, headers = {}) => {
    const id = encodeURIComponent(`${name}@x.example`);
    const answer = await fetch(`${origin}/mail.eml?id=${id}`, { headers });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  return { cwd, page, get };
}

test("a mail is saved whole as its export has it, and is no page", async () => {
  const { get, page } = await served(
    {
      "all/in/a.mbox": mbox(mail("one"), large, mail("from", ">From here\n>>From there")),
      "all/b.eml": mail("two"),
      "all/c.mbox.gz": gzipSync(mbox(mail("three"), mail("four"))),
      "all/d.emlx": `${mail("five").length}\n${mail("five")}<plist/>`,
    },
    "all",
  );
  for (const name of ["one", "two", "three", "four", "five"]) {
    expect(page).toContain(`mail.eml?id=${name}%40x.example`);
    expect((await get(name)).text.trimEnd()).toBe(mail(name).trimEnd());
  }
  expect((await get("large")).text.trimEnd()).toBe(large.trimEnd());
  const { headers, text } = await get("from");
  expect(text).toContain("\nFrom here\n>From there\n");
  expect(headers.get("content-type")).toBe("message/rfc822");
  expect(headers.get("content-disposition")).toBe("attachment");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect((await get("one", { origin: "http://evil.example" })).status).toBe(403);
});

test("a mail that is not at its place any more is not saved, nor one of another export", async () => {
  const { cwd, get } = await served({ "a.mbox": mbox(mail("one"), mail("two")) }, "a.mbox");
  await writeFile(join(cwd, "a.mbox"), mbox(mail("one"), mail("other")));
  expect((await get("one")).text.trimEnd()).toBe(mail("one").trimEnd());
  const { status, text } = await get("two");
  expect({ status, text }).toEqual({
    status: 500,
    text: `${join(cwd, "a.mbox")} no longer has this mail at its place. Give the imported export, or import it again. Go back and try again.`,
  });
  await rm(join(cwd, "a.mbox"));
  expect((await get("one")).text).toContain("no longer has this mail at its place.");
  expect((await get("none")).text).toContain("has no such mail");
});

test("a record cannot name a file outside the export", async () => {
  const text = "text ".repeat(1000);
  const { cwd, get } = await served({ "all/a.eml": mail("one", text) }, "all");
  await writeFile(join(cwd, "secret.eml"), mail("one", `${text} secret`));
  const path = join(cwd, "inbox.json");
  const [record] = await mailsOf(path);
  for (const file of ["../secret.eml", join(cwd, "secret.eml"), "a.eml/../../secret.eml"]) {
    await writeFile(path, JSON.stringify([{ ...record, source: { file } }]));
    await startTriage(["inbox.json"], { cwd, transport: recordingTransport() });
    expect((await get("one")).text).not.toContain("secret");
  }
});

test("without the export a mail is refused, and a report names the way", async () => {
  const { cwd, get } = await served({ "a.mbox": mbox(mail("one")) }, "a.mbox", []);
  expect((await get("one")).text).toContain("Start serve with --source PATH");
  const { stdout } = await startTriage(["report"], { cwd });
  expect(stdout).toContain("a.mbox, byte 0. serve --source PATH saves it as .eml.");
});
