import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readLicences } from "../scripts/read-licences.ts";

interface Library {
  readonly repository?: string | { readonly url: string } | undefined;
  /** The texts of its files. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Makes a folder for each library, and returns their licences. */
async function licencesIn(libraries: Readonly<Record<string, Library>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "licences-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folders = Object.entries(libraries).map(async ([name, { repository, files = {} }]) => {
    const folder = join(root, name);
    await mkdir(folder);
    const manifest = JSON.stringify({ name, version: "1.0.0", license: "MIT", repository });
    for (const [file, text] of Object.entries({ ...files, "package.json": manifest }))
      await writeFile(join(folder, file), text);
    return folder;
  });
  return readLicences(await Promise.all(folders));
}

test.each(["LICENSE", "LICENSE.md", "LICENSE.txt", "license", "LICENSE-MIT.txt", "LICENCE"])(
  "the licence in %s is read",
  async (file) => {
    const text = await licencesIn({ a: { files: { [file]: "You may.\n" } } });
    expect(text).toBe("a 1.0.0 (MIT)\n\nYou may.\n");
  },
);

test("a notice is a part of a licence", async () => {
  const text = await licencesIn({ a: { files: { LICENSE: "You may.", NOTICE: "Made by A." } } });
  expect(text).toBe("a 1.0.0 (MIT)\n\nYou may.\n\nMade by A.\n");
});

test("a library without a file has the licence of its repository", async () => {
  const repository = { url: "https://example.com/a" };
  const text = await licencesIn({
    a: { repository, files: { LICENSE: "You may." } },
    b: { repository },
  });
  expect(text).toContain("b 1.0.0 (MIT)\n\nYou may.\n");
});

test.each<[string, Library["repository"], Library["repository"]]>([
  ["no repository", undefined, undefined],
  ["another repository", "one/a", "two/b"],
  ["a repository, the other none", { url: "https://example.com/a" }, undefined],
])("a library without a file takes no licence of one with %s", async (_what, first, second) => {
  const read = licencesIn({
    a: { repository: first, files: { LICENSE: "You may." } },
    b: { repository: second },
  });
  await expect(read).rejects.toThrow("b 1.0.0 (MIT) has no licence to be published with.");
});
