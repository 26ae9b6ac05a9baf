import { exec } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const root = dirname(import.meta.dirname);

/** The client as it would be published, in a folder of its own. */
export interface PackedClient extends AsyncDisposable {
  readonly tarball: string;
}

/** Builds the client into a new folder, as `npm run build` does into `dist`, and packs that. */
export async function packClient(): Promise<PackedClient> {
  const cache = `${root}/node_modules/.cache`;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${cache}/packed-`);
  const built = join(folder, "evaluator-client");
  const run = promisify(exec);
  await run(`node ${root}/scripts/build-package.ts ${built}`, {
    cwd: `${root}/packages/evaluator-client`,
  });
  await run(`npm pack --pack-destination ${folder}`, { cwd: built });
  const name = (await readdir(folder)).find((file) => file.endsWith(".tgz")) ?? "";
  return {
    tarball: join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
