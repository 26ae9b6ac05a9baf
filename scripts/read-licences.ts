import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readManifest } from "./packed-package.ts";

/** Returns the licences of the libraries in some folders as one text. @throws Error if one has none */
export async function readLicences(folders: readonly string[]): Promise<string> {
  const libraries = folders.toSorted().map((path) => {
    const { name, version, license, repository } = readManifest(path);
    const title = `${name} ${version} (${String(license)})`;
    const url: unknown = Object(repository)["url"] ?? repository;
    const names = readdirSync(path).filter((file) => /^(licen[cs]e|notice)([.-]|$)/i.test(file));
    return { title, url, files: names.toSorted().map((file) => join(path, file)) };
  });
  const texts = libraries.map(async ({ title, url, files: ownFiles }) => {
    // Some packages of a repository leave its licence out.
    const others = libraries.filter((each) => url !== undefined && each.url === url);
    const files = [ownFiles, ...others.map((each) => each.files)].find(({ length }) => length > 0);
    if (files === undefined) throw new Error(`${title} has no licence to be published with.`);
    const all = await Promise.all(files.map((file) => readFile(file, "utf8")));
    return [title, ...all.map((text) => text.trim())].join("\n\n") + "\n";
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
}
