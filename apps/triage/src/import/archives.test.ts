import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { temporaryFolder } from "evaluator-kit/testing";
import { pack } from "tar-stream";
import { expect, test } from "vitest";
import { ZipFile } from "yazl";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";
import { readSource, loadSize } from "./read-source.ts";

const mail = (subject: string) => `${dateHeader}\nSubject: ${subject}\nFrom: a@b.example\n\nHi\n`;

const takeout = {
  "Takeout/archive_browser.html": "<html></html>",
  "Takeout/Mail/Inbox.mbox": mbox(mail("one"), mail("two")),
  "Takeout/Mail/More.mbox": mbox(mail("three")),
  "Takeout/Mail/deep/four.eml": mail("four"),
};

async function tgz(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content);
  archive.finalize();
  return gzipSync(await buffer(archive));
}

async function zip(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(files)) {
    archive.addBuffer(Buffer.from(content), name);
  }
  archive.end();
  return await buffer(archive.outputStream);
}

test.each([
  ["zip", zip],
  ["tgz", tgz],
])("the .%s of Takeout comes whole, and what is no mail is named", async (type, make) => {
  const { mails, stderr, exitCode } = await importOf({ [`takeout.${type}`]: await make(takeout) });
  expect(mails?.map(({ subject }) => subject)).toEqual(["one", "two", "three", "four"]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("Not read: Takeout/archive_browser.html: it is no mail\n");
});

test("archives in a folder come whole, and those in archives are named", async () => {
  const inner = (await zip({ "x.mbox": mbox(mail("inner")) })).toString("latin1");
  const files = {
    "all/takeout-001.zip": await zip(takeout),
    "all/takeout-002.tgz": await tgz({
      "Takeout/Mail/Rest.mbox": mbox(mail("five")),
      "b.zip": inner,
    }),
  };
  const { mails, stderr, exitCode } = await importOf(files, "all");
  expect(mails?.map(({ subject }) => subject)).toEqual(["one", "two", "three", "four", "five"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("Broken: takeout-002.tgz/b.zip: it is an archive in an archive; import");
});

test("a path outside the archive is named as such, and the mails before it are read", async () => {
  const files = { "a.mbox": mbox(mail("one")), "xx/b.mbox": mbox(mail("two")) };
  const text = (await zip(files)).toString("latin1").replaceAll("xx/b.mbox", "../b.mbox");
  const { mails, exitCode, stderr } = await importOf({ "a.zip": Buffer.from(text, "latin1") });
  expect([mails?.length, exitCode]).toEqual([1, 2]);
  expect(stderr).toContain("it has a path outside the archive; the rest is lost");
});

test("an encrypted archive is refused, with what to do instead", async () => {
  const archive = await zip({ "a.mbox": mbox(mail("one")) });
  for (const [signature, at] of [
    ["PK\u0003\u0004", 6],
    ["PK\u0001\u0002", 8],
  ] as const) {
    const flags = archive.indexOf(signature, 0, "latin1") + at;
    archive.writeUInt16LE(archive.readUInt16LE(flags) | 1, flags);
  }
  const { exitCode, stderr } = await importOf({ "a.zip": archive });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Broken: a.mbox: it is encrypted; import it unpacked");
});

test("an archive that breaks off gives the mails before, and says so", async () => {
  const archive = gunzipSync(await tgz(takeout));
  const cut = archive.subarray(0, archive.indexOf("Subject: three") + 5);
  const { mails, exitCode, stderr } = await importOf({ "a.tar": cut });
  expect(mails?.map(({ subject }) => subject)).toEqual(["one", "two"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("breaks off");
});

test("archives in archives without end are refused", async () => {
  let packed = gzipSync(mbox(mail("one")));
  for (let depth = 0; depth < 3; depth += 1) packed = gzipSync(packed);
  const { exitCode, stderr } = await importOf({ "a.gz": packed });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    "Broken: a.gz: it is an archive in an archive; import the unpacked outer one",
  );
});

const plain = (files: Readonly<Record<string, string>>) => Object.values(files).join("");

test.each([
  ["zip", zip],
  ["tgz", tgz],
  ["mbox", plain],
])("the bytes that are read of a %s are its size, for the progress", async (kind, make) => {
  const noise = randomBytes(1_000_000).toString("base64");
  const text = mbox(mail("one"), `${mail("two")}${noise}\n`, mail("three"));
  const path = join(await temporaryFolder(), `a.${kind}`);
  await writeFile(path, await make({ "a.mbox": text }));
  let read = 0;
  const onRead = (bytes: number) => void (read += bytes);
  const found = readSource(path, { signal: new AbortController().signal, onBytesRead: onRead });
  let mails = 0;
  for await (const _ of found) mails += 1;
  expect(mails).toBe(3);
  const size = await loadSize(path);
  expect(await loadSize(dirname(path))).toBe(size);
  // A zip's first bytes are read twice.
  expect(read / size).toBeGreaterThanOrEqual(0.99);
  expect(read / size).toBeLessThan(1.1);
});
