import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is gone when its use is over. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/** Makes a folder on the disk that programs use for passing things. */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), "evaluator-benchmark-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
