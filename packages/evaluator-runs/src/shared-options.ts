import { priceProblem } from "evaluator-client/token-price";
import {
  collect,
  decimal,
  InvalidArgumentError,
  Option,
  portNumber,
  parseShare,
  wholeNumber,
} from "evaluator-kit";
import type { RecordSource } from "./input/record-source.ts";

/** The formats of results. */
export const outputFormats = ["json", "ndjson", "csv"] as const;
/** See {@link outputFormats}. */
export type OutputFormat = (typeof outputFormats)[number];

/** Parses a whole number from 1 up. */
export const count = wholeNumber({ minimum: 1 });
/** Parses US dollars. */
const usd = decimal({ what: "US dollars" });

/** Parses the price of a million tokens, in US dollars. */
export function tokenPrice(text: string): number {
  const price = usd(text);
  const problem = priceProblem(price);
  if (problem === null) return price;
  throw new InvalidArgumentError(`It ${problem}.`);
}

/** Parses a day of the calendar, such as `2026-11-02`. */
export function day(text: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
  if (isDay) return text;
  throw new InvalidArgumentError("Use a day: 2026-11-02.");
}

/** Describes the input of a command that can also find the only journal of the folder. */
export const optionalFile = "input of the run (default: the folder's only journal)";

/** The form of a file of questions. */
export const questionsForm = "a JSON object of id to { type, instructions, criteria }";

/** Returns an option that takes all unless typed. */
const firstOption = <const TFlags extends string>(flags: TFlags, help: string) =>
  new Option(flags, help).argParser(count).default(Number.POSITIVE_INFINITY, "all");

/** Returns an option that may be given again. */
function repeatedOption<const TFlags extends string>(flags: TFlags, help: string) {
  return new Option(flags, help).argParser(collect);
}

/** Options that several commands have, or several programs. */
export const sharedOptions = {
  journal: ({ suffix, journalVariable: variable }: RecordSource) =>
    new Option(
      "--journal <journal>",
      `NAME.${suffix}.sqlite or a PostgreSQL URL, which machines share; ${variable} keeps a password out of ps (default: that, else beside the input)`,
    ),
  run: new Option("--run <n>", "number of a run (default: all or the newest)").argParser(count),
  limit: firstOption("--limit <n>", "only the first N records"),
  top: firstOption("--top <n>", "print only the first N rows of the table"),
  maxCost: new Option("--max-cost <usd>", "stop before the run costs more")
    .argParser(usd)
    .default(Number.POSITIVE_INFINITY, "no limit"),
  offline: new Option("--offline", "let the local emulator answer; needs no key").conflicts([
    "engine",
    "then",
  ]),
  again: new Option("--then <engine>", "engine to ask again if an answer is unsure"),
  unsure: repeatedOption(
    "--unsure <bound>",
    "bound of unsure: 0.8, 0.2..0.8 or a calibration.json (default: --calibration); one question: refund=0.8",
  ),
  thenUnsure: repeatedOption("--then-unsure <bound>", "the same for answers of --then"),
  artifact: repeatedOption(
    "--artifact <calibration.json>",
    "promises that calibrate wrote; repeat it for --then",
  ).makeOptionMandatory(),
  concurrency: new Option(
    "--concurrency <n>",
    "requests at once (default: the key's limit, else 8)",
  ).argParser(count),
  price: new Option(
    "--price <usd>",
    "price of a million input tokens, if no list has it",
  ).argParser(tokenPrice),
  thenPrice: new Option("--then-price <usd>", "the same for --then").argParser(tokenPrice),
  rate: new Option(
    "--rate <n>",
    "requests a minute that the key allows, on all machines together",
  ).argParser(count),
  calibration: new Option(
    "--calibration <file>",
    "recalibrate with a calibration.json; keeps printed values (scamPrinted)",
  ),
  onePer: (word: string, column = "a column") =>
    new Option(
      "--one-per <column>",
      `${word} of each value of ${column}, such as thread: its labels are not independent`,
    ),
  exactlyThese: (word: string) =>
    new Option(
      "--exactly-these",
      `with --for-promise: promise it of these ${word}s only, such as a backlog of a few hundred`,
    ),
  require: new Option(
    "--require <share>",
    "with --for-promise: highest risk (default: 5%)",
  ).argParser(parseShare),
  confidence: new Option(
    "--confidence <share>",
    "with --for-promise: confidence (default: 95%)",
  ).argParser(parseShare),
  port: new Option("--port <n>", "port of the page; 0: any free one")
    .argParser(portNumber)
    .default(0),
  format: new Option("--format <format>", "format of the results")
    .choices(outputFormats)
    .default("json" as const),
  since: new Option("--since <day>", "show only records since that day").argParser(day),
  only: new Option(
    "--only <conditions>",
    'show only some, as in "category = receipt, importance >= 3" or "new"',
  ),
  rules: new Option(
    "--rules <file>",
    "rules, one a line, such as scam >= 0.9 -> junk; the first that fits counts; nothing is done",
  ),
};
