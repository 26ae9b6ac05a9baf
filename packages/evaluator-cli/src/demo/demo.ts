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

const about = "Demo: a simulated model answers 400 invented tickets. Nothing leaves this machine.";

const questions = {
  refund: { type: "boolean", instructions: "Does the customer want the money back?" },
} as const;

/** The command of each step for the files of the reader. */
const stepCommands = {
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
  if (existsSync(folder) && !(await isDemoFolder(folder))) {
    const problem = printable`${out} exists, and no demo made it.`;
    throw new CliError(`${problem} Choose another --out.`);
  }
  await makeFolder(out, context);
  const workFolder = await makeFolder(join(out, WORK), context);
  try {
    await playDemo({ options, folder, tickets: inventTickets(seed), context, run });
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

/** Whether a demo made a folder, which a full disk may have left empty. */
async function isDemoFolder(folder: string): Promise<boolean> {
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
  const logStep = (stepName: keyof typeof stepCommands, ...resultLines: readonly string[]) => {
    const stepLines = [...resultLines, `your files: npx evaluator-cli ${stepCommands[stepName]}`];
    const stepTitle = `${log.length + 1} ${stepName}`;
    const stepText = `${stepTitle.padEnd(11)}${stepLines.join(`\n${" ".repeat(11)}`)}\n`;
    context.stdout.write(paintVerdicts(stepText, context));
    log.push([stepTitle, ...stepLines]);
  };
  const begin = () => {
    context.stdout.write(`${about}\n`);
    logStep("run", `${answeredCount} of ${tickets.length} answered by simulated/agent-1`);
  };
  const promise = async () => {
    logStep("label", await labelRest(sheet, labels, demoSetting));
    const promisedText = await promiseThreshold(demoSetting);
    context.exitCode = promisedText === null ? exitCodes.notEnoughEvidence : exitCodes.done;
    logStep("promise", promisedText ?? 'act on "yes": no threshold can be promised');
    if (promisedText !== null) logStep("act", await actOnTickets(demoSetting));
    return promisedText;
  };
  const release = async () => {
    const { isRefused, drift } = await shipRelease(demoSetting);
    context.exitCode = isRefused ? exitCodes.done : exitCodes.failed;
    const verdictText = `${isRefused ? "" : "not "}refused: the thresholds were learnt from simulated/agent-1`;
    logStep("release", `simulated/agent-2 answers the same records; ${verdictText}`, drift);
  };
  const toState = async (ticketId: string) =>
    Array.from(readAnswers(journalPath)).find((entry) => entry.id === ticketId)?.state ?? null;
  const pageSteps = { about, labeler: PERSON, log, begin, promise, release };
  if (page) await serveDemo({ sheet, labels, stateOf: toState, port, context, ...pageSteps });
  else {
    begin();
    if ((await promise()) !== null) await release();
  }
  if (context.stdout.isTTY !== true) return;
  const filesNote = printable`The files of the demo are in ${options.out}.`;
  const nextStep = `For your tickets, see the commands after "your files" and docs/tickets.md.`;
  context.stderr.write(`${filesNote} ${nextStep}\n`);
}

/** Writes the records, and removes the results of an earlier demo; the labels of a person stay. */
async function writeInputs(demoSetting: Demo): Promise<void> {
  const { tickets, folder, options } = demoSetting;
  const { skill, seed, count } = options;
  const settingsJson = JSON.stringify({ simulated: true, skill, seed, count });
  const labelLines = (await readText(folder, "labels.ndjson")).split("\n");
  const ownLines = labelLines.filter(
    (labelLine) => labelLine !== "" && !labelLine.includes(`"labeler":"${SIMULATION}"`),
  );
  if (ownLines.length > 0 && (await readText(folder, "demo.json")) !== settingsJson) {
    const problem = printable`${options.out} has ${printCounted(ownLines.length, "label")} by hand of another demo`;
    throw new CliError(`${problem}. Choose another --out.`);
  }
  for (const fileName of ["calibration.json", "acts.ndjson", "after.ndjson"])
    await rm(join(folder, fileName), { force: true });
  // The first, as it shows that a demo made the folder, also after a full disk.
  await writeText("demo.json", settingsJson, demoSetting);
  await writeText(
    "labels.ndjson",
    ownLines.map((labelLine) => `${labelLine}\n`).join(""),
    demoSetting,
  );
  await writeText("questions.json", JSON.stringify(questions, null, 2), demoSetting);
  const ticketRows = tickets.map(({ id, subject, body }) => `${id},${subject},"${body}"\n`);
  await writeText("records.csv", `id,subject,body\n${ticketRows.join("")}`, demoSetting);
  await writeText(
    "truth.ndjson",
    toJsonLines(tickets.map(({ id, truth }) => ({ id, truth }))),
    demoSetting,
  );
}

async function readText(folder: string, fileName: string): Promise<string> {
  const filePath = join(folder, fileName);
  return existsSync(filePath) ? await readTextFile(filePath) : "";
}

async function writeText(fileName: string, fileText: string, { folder }: Demo): Promise<void> {
  await writeWholeFile(join(folder, fileName), fileText);
}

function toJsonLines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Runs a command in the folder, without the settings of other runs, and returns its output. */
async function typeCommand(
  commandWords: string,
  { run, context, folder }: Demo,
  extraContext?: Partial<ProgramContext>,
) {
  let printedText = "";
  const stdout = { write: (fileText: string) => (printedText += fileText) };
  const quietContext = { env: {}, stdout, stderr: { write() {} }, confirm: null };
  await run(commandWords.split(" "), { ...context, ...quietContext, cwd: folder, ...extraContext });
  return printedText;
}

/** Lets a model answer all tickets; returns its journal and the count of its answers. */
async function answerTickets(agent: 1 | 2, demoSetting: Demo) {
  const { folder, tickets, options } = demoSetting;
  const journalName = join(WORK, `agent-${agent}`);
  const transport = simulatedTransport(tickets, { ...options, agent });
  await copyFile(join(folder, "records.csv"), join(folder, `${journalName}.csv`));
  await typeCommand(
    `run ${journalName}.csv --questions questions.json --concurrency 64`,
    demoSetting,
    {
      openTransport: async () => transport,
      openCatalog: async () => null,
      mayCost: async () => false,
    },
  );
  const journalPath = join(folder, `${journalName}.evaluator.sqlite`);
  const answerRecords = Array.from(readAnswers(journalPath), ({ id, evaluation }) =>
    toAnswerRecord(id, evaluation, questions),
  );
  await writeText(
    agent === 1 ? "before.ndjson" : "after.ndjson",
    toJsonLines(answerRecords),
    demoSetting,
  );
  return { journalPath, answered: answerRecords.length };
}

/** Labels the tickets that the person left, each with its truth. */
async function labelRest(
  sheet: Parameters<typeof savedLabels>[0],
  labels: LabelFile,
  { tickets }: Demo,
) {
  const truthById = new Map(tickets.map(({ id, truth }) => [id, truth]));
  const sheetLabels = savedLabels(sheet, labels, PERSON);
  const openRecords = sheet.records.filter((_, index) => sheetLabels[index] === undefined);
  for (const { id } of openRecords) {
    const truth = truthById.get(id) ?? null;
    await labels.save({ id, question: sheet.id, truth, labeler: SIMULATION });
  }
  const byHandCount = sheetLabels.length - openRecords.length;
  return `${printCounted(sheetLabels.length, "label")}: ${byHandCount} by hand, ${openRecords.length} by the simulation`;
}

/** Returns the sentence of the promise that the labels make; null for none. */
async function promiseThreshold(demoSetting: Demo): Promise<string | null> {
  const commandWords = "calibrate labels.ndjson --answers before.ndjson --action refund=yes";
  const printedText = await typeCommand(`${commandWords} --out ${WORK}`, demoSetting);
  const [promiseText = null] = /act on "yes" at .*? confidence/.exec(printedText) ?? [];
  const artifactPath = join(demoSetting.folder, WORK, "calibration.json");
  if (promiseText !== null)
    await copyFile(artifactPath, join(demoSetting.folder, "calibration.json"));
  return promiseText;
}

async function actOnTickets(demoSetting: Demo): Promise<string> {
  const actLines = await typeCommand("act before.ndjson --artifact calibration.json", demoSetting);
  await writeText("acts.ndjson", actLines, demoSetting);
  const actCount = actLines.match(/"act":"/g)?.length ?? 0;
  return `${actCount} of ${demoSetting.tickets.length} acted on, ${demoSetting.tickets.length - actCount} left to you`;
}

/** Lets another model answer; returns whether `act` refuses its answers, and what `drift` finds. */
async function shipRelease(demoSetting: Demo) {
  await answerTickets(2, demoSetting);
  const isRefused = await typeCommand(
    "act after.ndjson --artifact calibration.json",
    demoSetting,
  ).then(
    () => false,
    (error: Error) => {
      if (error.cause instanceof CalibrationMismatchError) return true;
      throw error;
    },
  );
  const fileOptions = "--before before.ndjson --after after.ndjson --labels labels.ndjson";
  const printedText = await typeCommand(
    `drift ${fileOptions} --calibration calibration.json`,
    demoSetting,
  );
  const [, verdictText, actText, wrongText] =
    /^ {2}(\S.*?) {2,}refund: (act on "yes" at \S+).*: (\d+ of \d+ wrong)/m.exec(printedText) ?? [];
  return { isRefused, drift: `drift: ${verdictText}: ${actText}: ${wrongText}` };
}
