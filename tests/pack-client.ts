import { exec } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdir, mkdtempDisposable, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const root = dirname(import.meta.dirname);

/** The folder in this repository of each package that is published, by its name. */
const folders = new Map(
  globSync("{packages,apps}/*/package.json", { cwd: root }).flatMap((file) => {
    const { name, private: isPrivate = false } = JSON.parse(
      readFileSync(join(root, file), "utf8"),
    ) as { name: string; private?: boolean };
    return isPrivate ? [] : [[name, dirname(file)] as const];
  }),
);

/** Returns the names of the packages that are published. */
export function publishedPackages(): string[] {
  return [...folders.keys()];
}

/** Returns the folder of a published package, relative to the root. */
export function folderOf(name: string): string {
  return folders.get(name) ?? "";
}

/** Builds published packages as `npm run build` does, which keeps what has not changed, and packs them. */
export async function packPackages(names: readonly string[]) {
  const cache = `${root}/node_modules/.cache`;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtempDisposable(`${cache}/packed-`);
  const run = promisify(exec);
  // What an earlier build left there would be packed as well.
  for (const name of names)
    await rm(join(root, folderOf(name), "dist"), { recursive: true, force: true });
  const filters = names.map((name) => `--filter=${name}`).join(" ");
  const turbo = join(root, "node_modules/.bin/turbo");
  await run(`"${turbo}" run build ${filters} --output-logs=errors-only`, { cwd: root });
  for (const name of names) {
    await run(`npm pack --pack-destination "${folder.path}"`, {
      cwd: join(root, folderOf(name), "dist"),
    });
  }
  return {
    tarballs: globSync(`${folder.path}/*.tgz`),
    [Symbol.asyncDispose]: () => folder.remove(),
  };
}

/** Installs packages from the registry or from files in a folder with a `package.json`. */
export async function installPackages(cwd: string, packages: readonly string[], options = "") {
  // npm under npm takes the outer folder for its own.
  const { INIT_CWD: _cwd, npm_config_local_prefix: _prefix, ...env } = process.env;
  const names = packages.map((name) => `"${name}"`).join(" ");
  const command = `npm install --prefer-offline --no-audit --no-fund ${options} ${names}`;
  // A script of an installation may wait for a registry without end.
  await promisify(exec)(command, { cwd, env, timeout: 300_000 });
}
