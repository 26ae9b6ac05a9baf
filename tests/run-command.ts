import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { env as programEnvironment, platform } from "node:process";
import { onTestFinished } from "vitest";

/** Where and with what a command runs. */
export interface CommandOptions {
  readonly cwd: string;
  /** Added to this process's variables, of which keys and service addresses are left out. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A command's end and what it printed. */
export type CommandResult = Awaited<ReturnType<typeof runCommand>>;

/** Runs a command as a person types it, to its end. */
export async function runCommand(command: string, options: CommandOptions) {
  const child = startCommand(command, options);
  const printed = { stdout: "", stderr: "" };
  child.stdout?.on("data", (text) => (printed.stdout += String(text)));
  child.stderr?.on("data", (text) => (printed.stderr += String(text)));
  await once(child, "close");
  return { exitCode: child.exitCode, ...printed };
}

/** Runs a command; returns what it printed, where it failed, else null. */
export async function failureOf(command: string, options: CommandOptions): Promise<string | null> {
  const { exitCode, stdout, stderr } = await runCommand(command, options);
  return exitCode === 0 ? null : `${command}\n${stdout}${stderr}`;
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

/** Starts a command, in a process group of its own where there are such. */
function startCommand(command: string, { cwd, env }: CommandOptions): ChildProcess {
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
