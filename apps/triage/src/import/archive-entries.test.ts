import { readdirSync, readlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { temporaryFolder } from "evaluator-kit/testing";
import { type Header, pack } from "tar-stream";
import { expect, test } from "vitest";
import { ZipFile } from "yazl";
import { filesInArchive } from "./archives.ts";
import type { NotRead, SourceFile } from "./found-mail.ts";

const modifiedAt = new Date("2026-11-05T00:00:00Z");

function archiveOf(bytes: Buffer, prefix = "all/a: "): SourceFile {
  return { name: "all/a", prefix, diskPath: null, modifiedAt, contentChunks: pieces(bytes) };
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

async function tarOf(
  ...entries: readonly [Partial<Header> & { name: string }, string?][]
): Promise<Buffer> {
  const archive = pack();
  for (const [header, content = ""] of entries) archive.entry(header, content);
  archive.finalize();
  return await buffer(archive);
}

async function readTar(bytes: Buffer, prefix?: string) {
  return await readAll(archiveOf(bytes, prefix), bytes);
}

function entriesOf(archive: SourceFile, bytes: Buffer): AsyncIterable<SourceFile | NotRead> {
  const entries = filesInArchive(archive, {
    start: bytes.subarray(0, 512),
    all: archive.contentChunks,
  });
  if (entries === null) throw new Error("It is no archive.");
  return entries;
}

async function readAll(archive: SourceFile, bytes: Buffer) {
  const found = [];
  for await (const file of entriesOf(archive, bytes)) {
    if ("reason" in file) found.push(file);
    else found.push({ ...file, contentChunks: await text(file.contentChunks) });
  }
  return found;
}

test("of a tar archive files are read, folders passed over, and what is neither is named", async () => {
  const mtime = new Date("2026-03-02T00:00:00Z");
  const tar = await tarOf(
    [{ name: "box", type: "directory" }],
    [{ name: "box/one", mtime }, "one"],
    [{ name: "box/two", mtime, type: "contiguous-file" }, "two"],
    [{ name: "box/link", type: "symlink", linkname: "one" }],
    [{ name: "box/three", mtime }, "three"],
  );
  const file = (name: string, contentChunks: string) => {
    const full = `all/a/box/${name}`;
    return { name: full, prefix: `${full}: `, diskPath: null, modifiedAt: mtime, contentChunks };
  };
  expect(await readTar(tar)).toEqual([
    file("one", "one"),
    file("two", "two"),
    { name: "all/a/box/link", reason: "it is no regular file", mayBeMail: false },
    file("three", "three"),
  ]);
});

test("in an archive that is the source itself, files go by their own names", async () => {
  const [file] = await readTar(await tarOf([{ name: "one" }, "one"]), "");
  expect(file).toMatchObject({ name: "one", prefix: "one: ", contentChunks: "one" });
});

async function zipOf(change: (bytes: Buffer) => void = () => {}): Promise<string> {
  const archive = new ZipFile();
  const mtime = new Date(2026, 2, 2);
  archive.addEmptyDirectory("box", { mtime });
  archive.addBuffer(Buffer.from("one"), "box/one", { mtime });
  archive.addBuffer(Buffer.from("two"), "two", { mtime });
  archive.end();
  const bytes = await buffer(archive.outputStream);
  change(bytes);
  const path = join(await temporaryFolder(), "a.zip");
  await writeFile(path, bytes);
  return path;
}

async function readZip(path: string) {
  return await readAll({ ...archiveOf(Buffer.of()), diskPath: path }, await readFile(path));
}

/** Where the last entry's header begins in the list at the end of a zip archive. */
function lastHeader(bytes: Buffer): number {
  return bytes.lastIndexOf("PK\u0001\u0002", undefined, "latin1");
}

test("of a zip archive files are read with their time, and folders passed over", async () => {
  const file = (name: string, contentChunks: string) => {
    const full = `all/a/${name}`;
    return {
      name: full,
      prefix: `${full}: `,
      diskPath: null,
      modifiedAt: new Date(2026, 2, 2),
      contentChunks,
    };
  };
  expect(await readZip(await zipOf())).toEqual([file("box/one", "one"), file("two", "two")]);
});

test("a file of a zip archive that is packed in an unknown way is named, and the rest read", async () => {
  const path = await zipOf((bytes) => bytes.writeUInt16LE(99, lastHeader(bytes) + 10));
  const reason = "its packing is unknown; import it unpacked";
  const [one, two] = await readZip(path);
  expect(one).toMatchObject({ contentChunks: "one" });
  expect(two).toEqual({ name: "all/a/two", reason, mayBeMail: true });
});

test.each([-1, 1])(
  "a file of a zip archive that has %i bytes beside those its list says is damaged",
  async (more) => {
    const path = await zipOf((bytes) => {
      bytes.writeUInt32LE("two".length - more, lastHeader(bytes) + 24);
    });
    await expect(readZip(path)).rejects.toThrow("its size differs from the archive's");
  },
);

test.runIf(process.platform === "linux")(
  "a zip archive is closed, also a damaged one",
  async () => {
    const whole = await zipOf();
    const damaged = await zipOf((bytes) => bytes.write("??", lastHeader(bytes)));
    await readZip(whole);
    await readZip(damaged).catch(() => {});
    const open = () =>
      readdirSync("/proc/self/fd").map((name) => {
        try {
          return readlinkSync(`/proc/self/fd/${name}`);
        } catch {
          return ""; // the folder's own, gone by now
        }
      });
    // A file is closed in the background.
    await expect.poll(() => open().filter((path) => [whole, damaged].includes(path))).toEqual([]);
  },
);
