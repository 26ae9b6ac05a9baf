import fs from "node:fs";
import { chmod, link, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "./testing/test-context.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkOutput } from "./check-output.ts";

async function inputAndOutput() {
  const folder = await temporaryFolder();
  const [input, output] = [join(folder, "inbox.json"), join(folder, "inbox.triage.json")];
  await writeFile(input, "[]");
  return { folder, input, output };
}

test("a free place is fine and stays as it was", async () => {
  const { folder, input, output } = await inputAndOutput();
  await checkOutput(output, [input]);
  expect(await readdir(folder)).toEqual(["inbox.json"]);
});

test("a file with the name of the temporary one stays", async () => {
  const { folder, input, output } = await inputAndOutput();
  await writeFile(join(folder, ".one.tmp"), "");
  const checked = checkOutput(output, [input], { newId: () => "one" });
  await expect(checked).rejects.toThrow("file already exists");
  expect(await readdir(folder)).toEqual([".one.tmp", "inbox.json"]);
});

test("a disk that is full only when the temporary file is closed, as over a network, keeps no part of it", async () => {
  const { folder, input, output } = await inputAndOutput();
  const close = fs.closeSync;
  const closing = vi.spyOn(fs, "closeSync").mockImplementation((descriptor) => {
    close(descriptor);
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  });
  onTestFinished(() => closing.mockRestore());
  await expect(checkOutput(output, [input])).rejects.toThrow("no space left on device");
  expect(await readdir(folder)).toEqual(["inbox.json"]);
});

test("older results may be replaced", async () => {
  const { input, output } = await inputAndOutput();
  await writeFile(output, "[]");
  await expect(checkOutput(output, [input])).resolves.toBeUndefined();
});

test("an output that is a symbolic link to the input is refused", async () => {
  const { input, output } = await inputAndOutput();
  await symlink(input, output);
  await expect(checkOutput(output, [input])).rejects.toThrow(`${output} is the input file`);
});

test("an output that is a hard link to the input is refused", async () => {
  const { input, output } = await inputAndOutput();
  await link(input, output);
  await expect(checkOutput(output, [input])).rejects.toThrow(`${output} is the input file`);
});

test("an input that is a symbolic link to the output is refused", async () => {
  const { folder, output } = await inputAndOutput();
  const input = join(folder, "linked.json");
  await writeFile(output, "[]");
  await symlink(output, input);
  await expect(checkOutput(output, [input])).rejects.toThrow("is the input file");
});

test("a place that an input names too, also through a link, is refused before it is a file", async () => {
  const { folder, input, output } = await inputAndOutput();
  const linked = join(folder, "linked.json");
  await symlink(output, linked);
  for (const other of [output, linked])
    await expect(checkOutput(output, [input, other])).rejects.toThrow(
      `${output} is named for two files; name another.`,
    );
});

test("a folder in the way is named", async () => {
  const { input, output } = await inputAndOutput();
  await mkdir(output);
  await expect(checkOutput(output, [input])).rejects.toThrow(`${output} is not a file; move it.`);
});

test("a name the disk cannot hold is refused", async () => {
  const { folder, input } = await inputAndOutput();
  const output = join(folder, `${"x".repeat(250)}.triage.json`);
  await expect(checkOutput(output, [input])).rejects.toThrow(
    `Cannot write ${output}: name too long.`,
  );
});

test("a folder closed for writing is refused", async () => {
  const { folder, input, output } = await inputAndOutput();
  await chmod(folder, 0o555);
  stopBeingAdministrator();
  await expect(checkOutput(output, [input])).rejects.toThrow("permission denied");
});

// The administrator may write anywhere.
function stopBeingAdministrator(): void {
  if (process.geteuid?.() !== 0) return;
  process.seteuid?.(65_534);
  onTestFinished(() => process.seteuid?.(0));
}

test("a file that the command did not write is refused, and one that it wrote or that is empty is not", async () => {
  const { input, output } = await inputAndOutput();
  const check = () => checkOutput(output, [input], { isOwn: (text) => text.startsWith("own") });
  await writeFile(output, "");
  await check();
  await writeFile(output, "own text");
  await check();
  await writeFile(output, "a text of somebody");
  await expect(check()).rejects.toThrow(`${output} exists, and this command did not write it.`);
});
