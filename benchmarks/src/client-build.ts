import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtempDisposable } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { CliError, toPrintable } from "evaluator-kit";

/** The root of this repository. */
export const repository = join(import.meta.dirname, "../..");

const clientPath = "packages/evaluator-client";
/** The client's workspace in this repository. */
const ownClient = join(repository, clientPath);

/**
 * Builds a copy of the client for publishing, because users run compiled files. The copy is
 * beside this repository's `node_modules`, so Node finds its dependencies.
 *
 * @param given - A checkout of this repository, or the client's workspace in one; this one by default.
 * @throws CliError if it is neither, or with the output of a failed build.
 */
export async function buildClient(given = ownClient) {
  const source = clientIn(given);
  const builds = join(repository, "benchmarks/dist");
  await mkdir(builds, { recursive: true });
  const parent = await mkdtempDisposable(join(builds, "client-"));
  const folder = join(parent.path, clientPath);
  const isSource = (path: string) =>
    !/^\/(node_modules|dist|\.turbo)/.test(path.slice(source.length));
  try {
    await cp(source, folder, { recursive: true, filter: isSource });
    const script = join(repository, "scripts/build-package.ts");
    await promisify(execFile)(process.execPath, [script], { cwd: folder });
  } catch (error) {
    await parent.remove();
    const { stdout = "", stderr = String(error) } = error as { stdout?: string; stderr?: string };
    throw new CliError(`The client does not build.\n${stdout}${stderr}`, { cause: error });
  }
  // The folder of its `package.json` and its compiled files.
  return { folder: join(folder, "dist"), [Symbol.asyncDispose]: () => parent.remove() };
}

/** Returns the root of the checkout that a folder names as {@link buildClient} takes it. @throws CliError */
export function checkoutOf(given: string): string {
  return join(clientIn(given), "../..");
}

function clientIn(folder: string): string {
  const places = [folder, join(folder, clientPath)];
  const source = places.find((place) => existsSync(join(place, "src/create-evaluator.ts")));
  if (source !== undefined) return source;
  const message = `There is no client in ${folder}; name a checkout of this repository, or its ${clientPath}.`;
  throw new CliError(toPrintable(message));
}
