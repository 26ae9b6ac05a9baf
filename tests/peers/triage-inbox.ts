import { cp, mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { outputOf } from "../run-command.ts";

const root = join(import.meta.dirname, "../..");

/** The path of programs that the tests start. */
export const PATH = [dirname(execPath), env["PATH"]].join(delimiter);

/** Returns the command of a workspace's program. */
export function command(workspace: string): string {
  return `node ${join(root, workspace, "src/main.ts")}`;
}

/** Copies a folder of the repository, which is deleted at the end. */
export async function copyOf(path: string) {
  const folder = await mkdtempDisposable(join(tmpdir(), "peers-"));
  await cp(join(root, path), folder.path, { recursive: true });
  return folder;
}

/** Triages the sample inbox at a server that speaks the vendor's API, and returns the results. */
export async function triageInbox(server: { origin: string; apiKey: string; model: string }) {
  await using folder = await copyOf("fixtures/mail");
  const variables = {
    PATH,
    EVALUATOR_TRANSPORT: "direct",
    EVALUATOR_DIRECT_BASE_URL: server.origin,
    EVALUATOR_DIRECT_API_KEY: server.apiKey,
    EVALUATOR_MODEL_ID: server.model,
  };
  await outputOf(`${command("apps/triage")} inbox.json`, { cwd: folder.path, env: variables });
  const text = await readFile(join(folder.path, "inbox.triage.json"), "utf8");
  return JSON.parse(text) as Record<string, unknown>[];
}
