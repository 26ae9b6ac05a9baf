import { cp, mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { describe, expect, inject, test } from "vitest";
import { outputOf, runCommand } from "../run-command.ts";
import { PeerServer } from "./servers.ts";

// The whole way with two models that really read, on the CPU: their weights are in their wheels. They are far
// smaller than a hosted decision model, so what the checks of calibration refuse is as much the result as what
// they allow.

const root = join(import.meta.dirname, "../..");
const installed = inject("models");
const bin = "bin" in installed ? installed.bin : "";
const models = {
  sparrow: ["sparrow-decider", "serve", "--port", "PORT"],
  minilm: ["python", join(import.meta.dirname, "sentence_server.py"), "PORT"],
} as const;

async function start(name: keyof typeof models) {
  const server = await PeerServer.start(bin, models[name], { env: { OPENBLAS_NUM_THREADS: "1" } });
  return { server, engine: `direct=${server.origin}@${name}` };
}

async function folderOf(path: string) {
  const folder = await mkdtempDisposable(join(tmpdir(), "peers-"));
  await cp(join(root, path), folder.path, { recursive: true });
  return folder;
}

const PATH = [dirname(execPath), env["PATH"]].join(delimiter);
const command = (program: string) => `node ${join(root, program, "src/main.ts")}`;
const evaluatorCli = command("packages/evaluator-cli");
const read = async (...path: string[]) =>
  JSON.parse(await readFile(join(...path), "utf8")) as unknown;

describe.runIf("bin" in installed)("small models", { timeout: 900_000 }, () => {
  test.each(["sparrow", "minilm"] as const)("%s triages the sample inbox", async (name) => {
    await using folder = await folderOf("fixtures/mail");
    const { server } = await start(name);
    await using _ = server;
    const variables = {
      PATH,
      EVALUATOR_TRANSPORT: "direct",
      EVALUATOR_DIRECT_BASE_URL: server.origin,
      EVALUATOR_DIRECT_API_KEY: "any",
      EVALUATOR_MODEL_ID: name,
    };
    const options = { cwd: folder.path, env: variables };
    await outputOf(`${command("apps/triage")} inbox.json`, options);
    const records = (await read(folder.path, "inbox.triage.json")) as Record<string, unknown>[];
    const inbox = (await read(folder.path, "inbox.json")) as unknown[];
    expect(records).toHaveLength(inbox.length);
    expect(records.filter(({ scam }) => typeof scam === "number")).toHaveLength(inbox.length);
  });

  test("the sentence model gets a promise of 10 %, keeps it, and is refused one of 5 %", async () => {
    await using folder = await folderOf("fixtures/tickets");
    const { server, engine } = await start("minilm");
    await using _ = server;
    const options = { cwd: folder.path, env: { PATH } };
    const answers = "tickets.evaluator.sqlite";
    const words = "--questions questions.json --state subject,body --yes --concurrency 2";
    await outputOf(`${evaluatorCli} run tickets.csv ${words} --engine ${engine}`, options);

    const calibrate = `${evaluatorCli} calibrate truth.ndjson --answers ${answers} --require`;
    expect(await runCommand(`${calibrate} 5%`, options)).toMatchObject({ exitCode: 3 });
    const printed = await outputOf(`${calibrate} 10%`, options);
    expect(printed).toMatch(/act on "no" at 0\.\d\d and above: at most 10 % wrong/);

    const act = `act tickets.csv --artifact calibration/calibration.json --acts-only`;
    const acts = (await outputOf(`${evaluatorCli} ${act}`, options)).trim().split("\n");
    const truths = await readFile(join(folder.path, "truth.ndjson"), "utf8");
    const yes = new Set(
      truths
        .split("\n")
        .filter((line) => !line.includes('"truth":false'))
        .map((line) => /t-\d+/.exec(line)?.[0]),
    );
    const wrong = acts.filter((line) => yes.has(/t-\d+/.exec(line)?.[0]));
    expect(acts.length).toBeGreaterThan(100);
    expect(wrong.length / acts.length).toBeLessThan(0.1);
  });

  test("compare names the better one, and neither is worth a promise of 5 %", async () => {
    await using folder = await folderOf("fixtures/tickets");
    const [first, second] = await Promise.all([start("sparrow"), start("minilm")]);
    await using stack = new AsyncDisposableStack();
    for (const { server } of [first, second]) stack.use(server);
    const engines = `--engine ${first.engine} --engine ${second.engine}`;
    const words = `truth.ndjson --states tickets.csv --questions questions.json --json ${engines}`;
    const printed = await outputOf(`${evaluatorCli} compare ${words}`, {
      cwd: folder.path,
      env: { PATH },
    });
    const { questions } = JSON.parse(printed) as { questions: { engines: object[] }[] };
    // The first is worse than a coin on this question.
    expect(questions[0]?.engines).toMatchObject([
      { answered: 400, report: { verdict: "worthless" } },
      { answered: 400, report: { verdict: expect.stringMatching(/^useful/) } },
    ]);
  });
});
