import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env, execPath, kill } from "node:process";
import { setTimeout } from "node:timers/promises";
import { freePort } from "evaluator-kit/postgres-server";
import { repository } from "../client-build.ts";
import { apiKey, openPost, replyText } from "../sample-requests.ts";

/** A gateway, as its users start it. */
interface GatewayProgram {
  readonly title: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The model of a chat completion. */
  readonly model: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answersQuestions: boolean;
}

const post = await openPost();
const require = createRequire(import.meta.url);
const versionOf = (path: string) =>
  (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;

/** Returns the programs of this machine that are installed; `router` is the file of this one. */
export async function gatewayPrograms(upstream: string, folder: string, router: string) {
  const portkey = dirname(require.resolve("@portkey-ai/gateway/package.json"));
  const [litellm] = globSync(join(tmpdir(), "evaluator-peers/litellm-*/bin/litellm"));
  const programs: GatewayProgram[] = [
    {
      title: "a plain hono pass-through",
      command: [execPath, "benchmarks/src/gateways/plain-gateway.ts", "PORT"],
      env: { UPSTREAM: upstream },
      model: "m",
      answersQuestions: true,
    },
    {
      title: "this router, a model by name",
      command: [execPath, router, "--port", "PORT"],
      env: routerVariables(upstream),
      model: "nano",
      answersQuestions: true,
    },
    {
      title: "this router, `auto`",
      command: [execPath, router, "--port", "PORT"],
      env: routerVariables(upstream),
      model: "auto",
      answersQuestions: false,
    },
    {
      title: `Portkey's gateway ${versionOf(join(portkey, "package.json"))}`,
      command: [execPath, join(portkey, "build/start-server.js"), "--port=PORT", "--headless"],
      headers: { "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstream}/v1` },
      model: "m",
      answersQuestions: false,
    },
  ];
  if (litellm === undefined) return programs;
  const config = join(folder, "litellm.yaml");
  await writeFile(config, JSON.stringify(litellmConfig(upstream)));
  const command = [litellm, "--config", config, "--host", "127.0.0.1", "--port", "PORT"];
  const version = /litellm-(\d[\d.]*)\.dist-info/.exec(
    globSync(join(dirname(dirname(litellm)), "lib/*/site-packages/litellm-*.dist-info")).join(),
  );
  return [
    ...programs,
    {
      title: `LiteLLM's proxy ${version?.[1] ?? ""}`,
      command,
      env: {
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: "true",
      },
      model: "m",
      answersQuestions: true,
    },
  ];
}

function routerVariables(upstream: string) {
  return {
    AI_GATEWAY_API_KEY: apiKey,
    EVALUATOR_BASE_URL: `${upstream}/v4/ai`,
    ROUTER_REPLY_BASE_URL: `${upstream}/v1`,
    ROUTER_REPLY_API_KEY: apiKey,
    ROUTER_MODEL_NANO: "m",
    ROUTER_MODEL_FAST: "m",
    ROUTER_MODEL_BALANCED: "m",
    ROUTER_MODEL_FRONTIER: "m",
    ROUTER_ACCESS_LOG: "off",
    ROUTER_MAX_CALLS: "500",
  };
}

function modelOf(name: string, model: string, base: string) {
  return { model_name: name, litellm_params: { model, api_base: base, api_key: apiKey } };
}

/** JSON is YAML. */
function litellmConfig(upstream: string) {
  const chat = modelOf("m", "openai/m", `${upstream}/v1`);
  return { model_list: [chat, modelOf("jev-latest", "typesafe/jev-latest", upstream)] };
}

/** A started gateway. */
export type StartedGateway = Awaited<ReturnType<typeof startGateway>>;

/** Starts a gateway, and waits until it answers a chat completion. */
export async function startGateway({ command, headers = {}, ...program }: GatewayProgram) {
  const port = await freePort();
  const [file = "", ...words] = command.map((word) => word.replace("PORT", String(port)));
  const variables = { PATH: env["PATH"], HOME: tmpdir(), ...program.env };
  const child = spawn(file, words, {
    cwd: repository,
    env: variables,
    stdio: "ignore",
    detached: true, // a group of its own, which is measured and ended as one
  });
  const origin = `http://127.0.0.1:${port}`;
  const given = {
    "content-type": "application/json",
    authorization: `Bearer ${apiKey}`,
    ...headers,
  };
  const chat = async (number: number) => {
    const messages = [{ role: "user", content: `hi ${number}` }];
    const reply = await post(`${origin}/v1/chat/completions`, given, {
      model: program.model,
      messages,
    });
    const { choices } = reply as { choices: { message: { content: unknown } }[] };
    if (choices[0]?.message.content !== replyText) throw new Error(JSON.stringify(reply));
  };
  const startedAt = performance.now();
  while (
    !(await chat(0).then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`${program.title} ended before it answered.`);
    await setTimeout(20);
  }
  const group = child.pid ?? 0;
  return {
    ...program,
    origin,
    headers: given,
    chat,
    startMs: performance.now() - startedAt,
    usage: () => usageOf(group),
    [Symbol.asyncDispose]: () => endGroup(child, group),
  };
}

/** Returns the processor time (µs) and the memory (bytes) of the processes of a group, from Linux's /proc. */
function usageOf(group: number) {
  const sums = { cpuUs: 0, bytes: 0 };
  for (const path of globSync("/proc/[0-9]*/stat")) {
    if (!existsSync(path)) continue;
    const fields = readFileSync(path, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    if (fields[2] !== group) continue;
    sums.cpuUs += ((fields[11] ?? 0) + (fields[12] ?? 0)) * 10_000; // hundredths of a second
    sums.bytes += (fields[21] ?? 0) * 4096;
  }
  return sums;
}

async function endGroup(child: ChildProcess, group: number): Promise<void> {
  const ended = new Promise((resolve) => void child.once("exit", resolve));
  kill(-group, "SIGKILL");
  await ended;
}
