import { printCounted } from "evaluator-runs/source";
import { existsSync, readdirSync, statSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CalibrationMismatchError, toAnswerRecord } from "evaluator-calibration";
import {
  type CliContext,
  CliError,
  exitCodes,
  paintVerdicts,
  printable,
  type Program,
  readTextFile,
  writeWholeFile,
} from "evaluator-kit";
import { readAnswers } from "evaluator-runs";
import type { ProgramContext } from "evaluator-runs/commands";
import { drawSheets, LabelFile, readTable, savedLabels } from "evaluator-runs/label";
import type { AskOptions } from "../commands/ask-commands.ts";
import { makeFolder } from "../write-report.ts";
import { serveDemo } from "./demo-page.ts";
import { inventTickets, simulatedTransport } from "./simulated-model.ts";

const about =
  "Demo: a simulated model answers 400 invented tickets. No model is asked, no key is used, nothing leaves this machine.";

const questions = {
  refund: { type: "boolean", instructions: "Does the customer want the money back?" },
} as const;

/** The command of each step for the files of the reader. */
const commands = {
  run: "run tickets.csv --questions q.json --state subject,body",
  label: "label tickets.csv --count 200",
  promise: "calibrate tickets.labels.ndjson --answers tickets.evaluator.sqlite --action refund=yes",
  act: "act tickets.csv --artifact calibration/calibration.json --acts-only > acts.ndjson",
  release:
    "drift --before may.evaluator.sqlite --after june.evaluator.sqlite --labels tickets.labels.ndjson --calibration calibration/calibration.json",
};

/** The name of the person in the labels. */
const PERSON = "you";
const SIMULATION = "the simulation";
/** Journals and reports, which are not kept. */
const WORK = ".work";

interface Demo {
  readonly options: AskOptions<"demo">;
  readonly folder: string;
  readonly tickets: ReturnType<typeof inventTickets>;
  readonly context: CliContext;
  /** Runs a command of the program. */
  readonly run: Program;
}

/** Shows on invented tickets how a promise is made, used and broken; sets the exit code. */
export async function demo(options: AskOptions<"demo">, context: CliContext, run: Demo["run"]) {
  const { out, seed } = options;
  const folder = resolve(context.cwd, out);
  if (existsSync(folder) && !(await isDemo(folder))) {
    const problem = printable`${out} is there, and no demo made it. Nothing was written.`;
    throw new CliError(`${problem} Choose another --out.`);
  }
  await makeFolder(out, context);
  const work = await makeFolder(join(out, WORK), context);
  try {
    await playDemo({ options, folder, tickets: inventTickets(seed), context, run });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Whether a demo made a folder, which a full disk may have left empty. */
async function isDemo(folder: string): Promise<boolean> {
  if ((await readText(folder, "demo.json")).startsWith('{"simulated":true')) return true;
  return statSync(folder).isDirectory() && readdirSync(folder).length === 0;
}

async function playDemo(demoSetting: Demo): Promise<void> {
  const { options, tickets, folder, context } = demoSetting;
  const { auto, page = context.stdout.isTTY === true && auto !== true, port } = options;
  await writeInputs(demoSetting);
  const { journalPath, answered: answeredCount } = await answerTickets(1, demoSetting);
  const [sheet] = drawSheets(await readTable(readAnswers(journalPath), journalPath), options);
  if (sheet === undefined) throw new CliError("The simulated model gave no answer.");
  using labels = await LabelFile.open(join(folder, "labels.ndjson"));
  const log: (readonly string[])[] = [];
  const step = (name: keyof typeof commands, ...lines: readonly string[]) => {
    const all = [...lines, `your files: npx evaluator-cli ${commands[name]}`];
    const head = `${log.length + 1} ${name}`;
    const text = `${head.padEnd(11)}${all.join(`\n${" ".repeat(11)}`)}\n`;
    context.stdout.write(paintVerdicts(text, context));
    log.push([head, ...all]);
  };
  const begin = () => {
    context.stdout.write(`${about}\n`);
    step("run", `${answeredCount} of ${tickets.length} answered by simulated/agent-1`);
  };
  const promise = async () => {
    step("label", await labelRest(sheet, labels, demoSetting));
    const promisedText = await promiseThreshold(demoSetting);
    context.exitCode = promisedText === null ? exitCodes.notEnoughEvidence : exitCodes.done;
    step("promise", promisedText ?? 'act on "yes": no threshold can be promised');
    if (promisedText !== null) step("act", await actOnTickets(demoSetting));
    return promisedText;
  };
  const release = async () => {
    const { isRefused, drift } = await shipRelease(demoSetting);
    context.exitCode = isRefused ? exitCodes.done : exitCodes.failed;
    const verdict = `${isRefused ? "" : "not "}refused: the thresholds were learnt from simulated/agent-1`;
    step("release", `simulated/agent-2 answers the same records; ${verdict}`, drift);
  };
  const toState = async (id: string) =>
    Array.from(readAnswers(journalPath)).find((entry) => entry.id === id)?.state ?? null;
  const steps = { about, labeler: PERSON, log, begin, promise, release };
  if (page) await serveDemo({ sheet, labels, stateOf: toState, port, context, ...steps });
  else {
    begin();
    if ((await promise()) !== null) await release();
  }
  if (context.stdout.isTTY !== true) return;
  const files = printable`The files of the demo are in ${options.out}.`;
  const next = `For your tickets, type the commands after "your files"; docs/tickets.md explains each.`;
  context.stderr.write(`${files} ${next}\n`);
}

/** Writes the records, and removes the results of an earlier demo; the labels of a person stay. */
async function writeInputs(demoSetting: Demo): Promise<void> {
  const { tickets, folder, options } = demoSetting;
  const { skill, seed, count } = options;
  const made = JSON.stringify({ simulated: true, skill, seed, count });
  const lines = (await readText(folder, "labels.ndjson")).split("\n");
  const ownLines = lines.filter(
    (line) => line !== "" && !line.includes(`"labeler":"${SIMULATION}"`),
  );
  if (ownLines.length > 0 && (await readText(folder, "demo.json")) !== made) {
    const problem = printable`${options.out} has ${printCounted(ownLines.length, "label")} by hand of another demo`;
    throw new CliError(`${problem}. Choose another --out. Nothing was written.`);
  }
  for (const name of ["calibration.json", "acts.ndjson", "after.ndjson"])
    await rm(join(folder, name), { force: true });
  // The first, as it shows that a demo made the folder, also after a full disk.
  await write("demo.json", made, demoSetting);
  await write("labels.ndjson", ownLines.map((line) => `${line}\n`).join(""), demoSetting);
  await write("questions.json", JSON.stringify(questions, null, 2), demoSetting);
  const rows = tickets.map(({ id, subject, body }) => `${id},${subject},"${body}"\n`);
  await write("records.csv", `id,subject,body\n${rows.join("")}`, demoSetting);
  await write(
    "truth.ndjson",
    toLines(tickets.map(({ id, truth }) => ({ id, truth }))),
    demoSetting,
  );
}

async function readText(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  return existsSync(path) ? await readTextFile(path) : "";
}

async function write(name: string, text: string, { folder }: Demo): Promise<void> {
  await writeWholeFile(join(folder, name), text);
}

function toLines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Runs a command in the folder, without the settings of other runs, and returns its output. */
async function type(words: string, { run, context, folder }: Demo, more?: Partial<ProgramContext>) {
  let printedText = "";
  const stdout = { write: (text: string) => (printedText += text) };
  const quiet = { env: {}, stdout, stderr: { write() {} }, confirm: null };
  await run(words.split(" "), { ...context, ...quiet, cwd: folder, ...more });
  return printedText;
}

/** Lets a model answer all tickets; returns its journal and the count of its answers. */
async function answerTickets(agent: 1 | 2, demoSetting: Demo) {
  const { folder, tickets, options } = demoSetting;
  const name = join(WORK, `agent-${agent}`);
  const transport = simulatedTransport(tickets, { ...options, agent });
  await copyFile(join(folder, "records.csv"), join(folder, `${name}.csv`));
  await type(`run ${name}.csv --questions questions.json --concurrency 64`, demoSetting, {
    openTransport: async () => transport,
    openCatalog: async () => null,
    mayCost: async () => false,
  });
  const journalPath = join(folder, `${name}.evaluator.sqlite`);
  const lines = Array.from(readAnswers(journalPath), ({ id, evaluation }) =>
    toAnswerRecord(id, evaluation, questions),
  );
  await write(agent === 1 ? "before.ndjson" : "after.ndjson", toLines(lines), demoSetting);
  return { journalPath, answered: lines.length };
}

/** Labels the tickets that the person left, each with its truth. */
async function labelRest(
  sheet: Parameters<typeof savedLabels>[0],
  labels: LabelFile,
  { tickets }: Demo,
) {
  const truths = new Map(tickets.map(({ id, truth }) => [id, truth]));
  const sheetLabels = savedLabels(sheet, labels, PERSON);
  const openRecords = sheet.records.filter((_, index) => sheetLabels[index] === undefined);
  for (const { id } of openRecords) {
    const truth = truths.get(id) ?? null;
    await labels.save({ id, question: sheet.id, truth, labeler: SIMULATION });
  }
  const byHand = sheetLabels.length - openRecords.length;
  return `${printCounted(sheetLabels.length, "label")}: ${byHand} by hand, ${openRecords.length} by the simulation`;
}

/** Returns the sentence of the promise that the labels make; null for none. */
async function promiseThreshold(demoSetting: Demo): Promise<string | null> {
  const words = "calibrate labels.ndjson --answers before.ndjson --action refund=yes";
  const printedText = await type(`${words} --out ${WORK}`, demoSetting);
  const [promise = null] = /act on "yes" at .*? confidence/.exec(printedText) ?? [];
  const artifactPath = join(demoSetting.folder, WORK, "calibration.json");
  if (promise !== null) await copyFile(artifactPath, join(demoSetting.folder, "calibration.json"));
  return promise;
}

async function actOnTickets(demoSetting: Demo): Promise<string> {
  const lines = await type("act before.ndjson --artifact calibration.json", demoSetting);
  await write("acts.ndjson", lines, demoSetting);
  const acts = lines.match(/"act":"/g)?.length ?? 0;
  return `${acts} of ${demoSetting.tickets.length} acted on, ${demoSetting.tickets.length - acts} left to you`;
}

/** Lets another model answer; returns whether `act` refuses its answers, and what `drift` finds. */
async function shipRelease(demoSetting: Demo) {
  await answerTickets(2, demoSetting);
  const isRefused = await type("act after.ndjson --artifact calibration.json", demoSetting).then(
    () => false,
    (error: Error) => {
      if (error.cause instanceof CalibrationMismatchError) return true;
      throw error;
    },
  );
  const files = "--before before.ndjson --after after.ndjson --labels labels.ndjson";
  const printedText = await type(`drift ${files} --calibration calibration.json`, demoSetting);
  const [, verdict, act, wrong] =
    /^ {2}(\S.*?) {2,}refund: (act on "yes" at \S+).*: (\d+ of \d+ wrong)/m.exec(printedText) ?? [];
  return { isRefused, drift: `drift: ${verdict}: ${act}: ${wrong}` };
}
