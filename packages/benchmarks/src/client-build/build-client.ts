import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** The client as npm would publish it, in a folder of its own. */
export interface BuiltClient extends AsyncDisposable {
  /** Where its `package.json` and its compiled files are. */
  readonly folder: string;
}

/** The root of this repository. */
export const repository = join(import.meta.dirname, "../../../..");

/** The client's workspace in this repository. */
export const ownClient = join(repository, "packages/evaluator-client");

/**
 * Builds the client as it is published, because compiled files are what its users run: in a copy,
 * which may come from anywhere, inside `node_modules` for its dependencies.
 *
 * @param source - The client's workspace, in this checkout or another.
 * @throws Error with what the build printed.
 */
export async function buildClient(source: string): Promise<BuiltClient> {
  const cache = join(repository, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const parent = await mkdtemp(join(cache, "benchmark-"));
  const dispose = () => rm(parent, { recursive: true, force: true });
  const folder = join(parent, "packages/evaluator-client");
  try {
    const isSource = (path: string) =>
      !/^\/(node_modules|dist|\.turbo|\.stryker-tmp)/.test(path.slice(source.length));
    await cp(source, folder, { recursive: true, filter: isSource });
    await cp(join(repository, "tsconfig.base.json"), join(parent, "tsconfig.base.json"));
    await build(folder);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { folder: join(folder, "dist"), [Symbol.asyncDispose]: dispose };
}

async function build(folder: string): Promise<void> {
  try {
    const script = join(repository, "scripts/build-package.ts");
    await promisify(execFile)(process.execPath, [script], { cwd: folder });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`The client does not build.\n${stdout}${stderr}`, { cause: error });
  }
}
