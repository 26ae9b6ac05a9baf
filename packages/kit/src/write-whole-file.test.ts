import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { systemFiles } from "./file-system.ts";
import { temporaryFolder } from "./testing/test-context.ts";
import { writeWholeFile } from "./write-whole-file.ts";

// Windows has other permissions, no limit on a file's size, and another word for a folder in the way.
const isWindows = process.platform === "win32";

test("replaces an older, longer file and leaves nothing beside it", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "results.json");
  await writeFile(path, "an older and longer text");
  await writeWholeFile(path, ["n", "é"]);
  expect(await readFile(path, "utf8")).toBe("né");
  expect(await readdir(folder)).toEqual(["results.json"]);
});

test.each([
  ["text", "né"],
  ["bytes", Buffer.from("né")],
  ["text and bytes in order", ["n", Buffer.from("é")]],
])("writes %s", async (_what, content) => {
  const path = join(await temporaryFolder(), "file");
  await writeWholeFile(path, content);
  expect(await readFile(path, "utf8")).toBe("né");
});

test.skipIf(isWindows)("a public file keeps the permissions of the file it replaces", async () => {
  const path = join(await temporaryFolder(), "private.json");
  await writeFile(path, "older");
  for (const mode of [0o600, 0o666]) {
    await chmod(path, mode);
    await writeWholeFile(path, "newer", { isPublic: true });
    expect((await stat(path)).mode & 0o777).toBe(mode);
  }
});

test.skipIf(isWindows)(
  "a file is private from its first byte on, unless it is meant to be public",
  async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "private.json");
    for (const before of [null, 0o644]) {
      if (before !== null) await chmod(path, before);
      async function* content() {
        const names = await readdir(folder);
        yield (
          await stat(join(folder, names.find((name) => name.endsWith(".tmp")) ?? ""))
        ).mode.toString(8);
      }
      await writeWholeFile(path, content());
      expect(await readFile(path, "utf8")).toBe("100600");
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
  },
);

test("writes where a link leads, and leaves the link", async () => {
  const folder = await temporaryFolder();
  const target = join(folder, "target.json");
  const link = join(folder, "link.json");
  await writeFile(target, "older");
  await symlink("target.json", link);
  await writeWholeFile(link, "newer");
  expect(await readFile(target, "utf8")).toBe("newer");
  expect(await readlink(link)).toBe("target.json");
});

test("writes a missing file that links lead to; links in a circle are an error", async () => {
  const folder = await temporaryFolder();
  const [link, circle] = [join(folder, "link.json"), join(folder, "circle.json")];
  await symlink("between.json", link);
  await symlink(join(folder, "target.json"), join(folder, "between.json"));
  await writeWholeFile(link, "new");
  expect(await readlink(link)).toBe("between.json");
  expect(await readFile(join(folder, "target.json"), "utf8")).toBe("new");
  await symlink("circle.json", circle);
  await expect(writeWholeFile(circle, "new")).rejects.toThrow("too many symbolic links");
  expect(await readlink(circle)).toBe("circle.json");
});

test("leaves nothing behind when the file cannot be put in place", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "results.json");
  await mkdir(path);
  await expect(writeWholeFile(path, ["text"])).rejects.toThrow(
    isWindows ? "operation not permitted" : "directory. Name a file, not a folder.",
  );
  expect(await readdir(folder)).toEqual(["results.json"]);
});

test("keeps the older file when what is to be written breaks off", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "results.json");
  await writeFile(path, "older");
  async function* content() {
    yield "x".repeat(100_000);
    throw new Error("interrupted");
  }
  await expect(writeWholeFile(path, content())).rejects.toThrow("interrupted");
  expect(await readFile(path, "utf8")).toBe("older");
  expect(await readdir(folder)).toEqual(["results.json"]);
});

test("an error of a file that the content is read from is none of the written file", async () => {
  const folder = await temporaryFolder();
  const source = createReadStream(join(folder, "source.txt"));
  await expect(writeWholeFile(join(folder, "results.json"), source)).rejects.toMatchObject({
    code: "ENOENT",
    path: join(folder, "source.txt"),
  });
  expect(await readdir(folder)).toEqual([]);
});

test.skipIf(isWindows)("keeps the older file when there is no room for the new one", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "results.json");
  await writeFile(path, "older");
  const module = new URL("write-whole-file.ts", import.meta.url).href;
  const program = `
    const { writeWholeFile } = await import(${JSON.stringify(module)});
    await writeWholeFile(${JSON.stringify(path)}, ["x".repeat(1_000_000)]);`;
  // The limit lets the first blocks through and stops the rest, as a disk that fills up does.
  const limited = 'ulimit -f 8; exec "$0" --input-type=module --eval "$1"';
  const run = promisify(execFile)("bash", ["-c", limited, process.execPath, program]);
  await expect(run).rejects.toMatchObject({ stderr: expect.stringContaining("EFBIG") });
  expect(await readFile(path, "utf8")).toBe("older");
  expect(await readdir(folder)).toEqual(["results.json"]);
});

test("has its name when it is on the disk, and then the name is there too", async () => {
  const path = join(await temporaryFolder(), "results.json");
  const steps: string[] = [];
  const files = Object.fromEntries(
    Object.entries(systemFiles).map(([name, call]) => {
      const noted = (...words: Parameters<typeof call>) => {
        steps.push(name);
        return (call as (...words: unknown[]) => unknown)(...words);
      };
      return [name, noted];
    }),
  ) as unknown as typeof systemFiles;
  await writeWholeFile(path, ["a", "b"], { files, newId: () => "one" });
  const folder = isWindows ? [] : ["open", "sync", "close"];
  const own = ["realpath", "stat", "open", "write", "sync", "stat", "close", "rename"];
  expect(steps).toEqual([...own, ...folder]);
});

const full = Object.assign(new Error("EIO"), { errno: -5, code: "EIO" });

test.each([
  ["takes too little", { write: async () => 0 }, "The disk took 0 of 5 bytes."],
  [
    "fails to sync",
    { sync: () => Promise.reject(full) },
    "Cannot write .*: i/o error. Check the disk and try again. It is unchanged.",
  ],
])("keeps the older file when the disk %s", async (_what, faults, message) => {
  const folder = await temporaryFolder();
  const path = join(folder, "results.json");
  await writeFile(path, "older");
  const files = { ...systemFiles, ...faults };
  const written = writeWholeFile(path, "newer", { files, failureNote: "It is unchanged." });
  await expect(written).rejects.toThrow(new RegExp(message));
  expect(await readFile(path, "utf8")).toBe("older");
  expect(await readdir(folder)).toEqual(["results.json"]);
});

test("goes on after a short write", async () => {
  const path = join(await temporaryFolder(), "results.json");
  const write: typeof systemFiles.write = (file, bytes) =>
    systemFiles.write(file, bytes.subarray(0, 2));
  await writeWholeFile(path, "newer", { files: { ...systemFiles, write } });
  expect(await readFile(path, "utf8")).toBe("newer");
});

test.skipIf(isWindows)("a pipe takes the text, and is still a pipe", async () => {
  const path = join(await temporaryFolder(), "pipe");
  await promisify(execFile)("mkfifo", [path]);
  const text = readFile(path, "utf8");
  await writeWholeFile(path, ["n", "é"]);
  expect(await text).toBe("né");
  expect((await stat(path)).isFIFO()).toBe(true);
});

test.skipIf(isWindows)("/dev/stdout prints", async () => {
  const module = new URL("write-whole-file.ts", import.meta.url).href;
  const program = `
    const { writeWholeFile } = await import(${JSON.stringify(module)});
    await writeWholeFile("/dev/stdout", ["n", "é"]);
    process.stdout.write("!");`;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  expect((await run).stdout).toBe("né!");
});
