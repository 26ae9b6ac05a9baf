import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { findFiles } from "./read-source.ts";

async function find(path: string) {
  const found = [];
  for await (const file of findFiles(path, { signal: new AbortController().signal }))
    found.push(file);
  return found;
}

test("files of a folder are found by name, links to them too; devices and linked folders are named", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "b"));
  await writeFile(join(folder, "b", "two.eml"), "");
  await writeFile(join(folder, "a.eml"), "");
  await symlink(join(folder, "a.eml"), join(folder, "link.eml"));
  await symlink("/dev/null", join(folder, "null.eml"));
  await symlink(join(folder, "b"), join(folder, "same"));
  await symlink(join(folder, "gone"), join(folder, "z.eml"));
  const found = await find(folder);
  expect(found.map((file) => ("reason" in file ? file : [file.name, file.prefix]))).toEqual([
    ["a.eml", "a.eml: "],
    ["b/two.eml", "b/two.eml: "],
    ["link.eml", "link.eml: "],
    { name: "null.eml", reason: "it is no regular file", mayBeMail: false },
    { name: "same", reason: "it is a link to a folder; give that folder", mayBeMail: true },
    {
      name: "z.eml",
      reason: expect.stringMatching(/^it cannot be read: no such file/),
      mayBeMail: true,
    },
  ]);
  const [device] = await find("/dev/null");
  expect(device).toEqual({ name: "null", reason: "it is no regular file", mayBeMail: false });
});

test("an interrupt ends the search between files, and the reading between pieces of one", async () => {
  const folder = await temporaryFolder();
  for (const name of ["a.mbox", "b.mbox"])
    await writeFile(join(folder, name), Buffer.alloc(200_000));
  const interrupt = new AbortController();
  const files = findFiles(folder, interrupt);
  const { value: file } = await files.next();
  if (file === undefined || "reason" in file) throw new Error("No file was found.");
  const pieces = file.contentChunks[Symbol.asyncIterator]();
  expect((await pieces.next()).value).toHaveLength(65_536);
  interrupt.abort(new Error("interrupted"));
  await expect(pieces.next()).rejects.toThrow("interrupted");
  await expect(files.next()).rejects.toThrow("interrupted");
});
