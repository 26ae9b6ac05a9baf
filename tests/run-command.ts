import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { env as programEnvironment, platform } from "node:process";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";

/** Where a command runs; `env` is added to this process's variables, less keys and service addresses. */
interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command as a person types it, to its end. */
export async function runCommand(command: string, options: CommandOptions) {
  const child = startCommand(command, options);
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  await once(child, "close");
  const [stdout, stderr] = await printed;
  return { exitCode: child.exitCode, stdout, stderr };
}

/** Runs a command that must succeed, and returns its standard output. */
export async function outputOf(command: string, options: CommandOptions): Promise<string> {
  const result = await runCommand(command, options);
  expect(result, `${command}\n${result.stdout}${result.stderr}`).toMatchObject({ exitCode: 0 });
  return result.stdout;
}

/** Starts a command that stays until the test is over, and gives what it has printed once `pattern` is in it. */
export async function startUntil(
  command: string,
  pattern: RegExp,
  options: CommandOptions,
): Promise<RegExpExecArray> {
  const child = startCommand(command, options);
  onTestFinished(() => endWithChildren(child));
  return await untilPrinted(child, pattern);
}

/** Ends a command and all that it started, if it has not ended by itself. */
function endWithChildren({ exitCode, pid }: ChildProcess): void {
  if (exitCode !== null || pid === undefined) return;
  // Windows knows no groups of processes.
  if (platform === "win32") spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"]);
  else process.kill(-pid);
}

/** Returns the match once `pattern` is in what a command has printed. */
export async function untilPrinted(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (text) => (printed += String(text)));
  }
  for (;;) {
    const match = pattern.exec(printed);
    if (match) return match;
    if (child.exitCode !== null) throw new Error(`The command ended early:\n${printed}`);
    await Promise.race([once(child.stdout ?? child, "data"), once(child, "close")]);
  }
}

/** Starts a command, in its own process group if the system has groups. */
export function startCommand(command: string, { cwd, env }: CommandOptions) {
  const inherited = Object.entries(programEnvironment).filter(
    ([name]) => !/^(AI_GATEWAY_|EVALUATOR_|ROUTER_|TRIAGE_|npm_|INIT_CWD|HOST$|PORT$)/.test(name),
  );
  return spawn(command, {
    cwd,
    shell: true,
    detached: platform !== "win32",
    env: { ...Object.fromEntries(inherited), ...env },
  });
}

/** Returns the fenced code blocks of a Markdown file in one language, in order. */
export function readCodeBlocks(file: string, language: string): string[] {
  const markdown = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
  const blocks = markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, name, code = ""]) => (name === language ? [code] : []));
}
