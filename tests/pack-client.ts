import { exec } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const root = dirname(import.meta.dirname);

/** The client as it would be published, in a folder of its own. */
export interface PackedClient extends AsyncDisposable {
  readonly tarball: string;
}

/** Packs the client. Packing rewrites package.json for a moment, so it happens in a copy that finds the same compiler. */
export async function packClient(): Promise<PackedClient> {
  const cache = `${root}/node_modules/.cache`;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${cache}/packed-`);
  const copy = join(folder, "packages/evaluator-client");
  const skipped = /node_modules\/\.bin|\/dist$|\/\.turbo$|\.stryker-tmp/;
  const filter = (path: string) => !skipped.test(path.slice(root.length));
  await cp(`${root}/packages/evaluator-client`, copy, { recursive: true, filter });
  await cp(`${root}/tsconfig.base.json`, join(folder, "tsconfig.base.json"));
  await promisify(exec)(`npm pack --pack-destination ${folder}`, { cwd: copy });
  const name = (await readdir(folder)).find((file) => file.endsWith(".tgz")) ?? "";
  return {
    tarball: join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
