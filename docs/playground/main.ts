import * as calibration from "evaluator-calibration";
import * as statistics from "evaluator-calibration/statistics";
import * as client from "evaluator-client";
import * as emulator from "evaluator-emulator/fetch";

/** The title and the code of each example; the build replaces the name. */
declare const EXAMPLES: readonly (readonly [title: string, code: string])[];

const find = <TElement extends Element>(selector: string) =>
  document.querySelector(selector) as TElement;
const code = find<HTMLTextAreaElement>("textarea");
const result = find<HTMLOutputElement>("output");
const examples = find<HTMLSelectElement>("select");
const link = find<HTMLAnchorElement>("#link");
// The page around a frame has its own links.
find<HTMLElement>("header").hidden = self !== top;
/** Only the last run prints. */
let runs = 0;

async function run(): Promise<void> {
  const number = (runs += 1);
  const print = (...values: unknown[]) => {
    if (number === runs) result.append(`${values.map(toText).join(" ")}\n`);
  };
  result.textContent = "";
  keepState();
  const methods = ["debug", "error", "info", "log", "warn"];
  const console = Object.fromEntries(methods.map((method) => [method, print]));
  await runModule(code.value, console).catch(print);
  if (result.textContent === "") print("Done; the code printed nothing.");
  result.scrollIntoView({ block: "nearest" });
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) {
    const line = lineOf(value);
    return `${value.name}: ${value.message}${line === null ? "" : ` (line ${line})`}`;
  }
  try {
    return JSON.stringify(value, null, 2) ?? String(value);
  } catch {
    return String(value); // it refers to itself, or has a bigint
  }
}

/** Writes the code into the page's address, so that a link contains it. */
function keepState(): void {
  link.href = `#code=${encodeURIComponent(code.value)}`;
  location.replace(link.href);
}

function readState(): void {
  const [, kept] = /^#code=(.*)$/.exec(location.hash) ?? [];
  code.value = kept === undefined ? (EXAMPLES[0]?.[1] ?? "") : decodeURIComponent(kept);
}

examples.append(...EXAMPLES.map(([title, code]) => new Option(title, code)));
examples.addEventListener("change", () => {
  code.value = examples.value;
  void run();
});
find("#run").addEventListener("click", () => void run());
code.addEventListener("change", keepState);
addEventListener("hashchange", readState);
for (const type of ["error", "unhandledrejection"] as const) {
  addEventListener(type, (event) => {
    event.preventDefault(); // it is shown here, not in the browser's console
    result.append(`${toText("error" in event ? event.error : event.reason)}\n`);
  });
}
readState();

const modules: Readonly<Record<string, object>> = {
  "evaluator-client": client,
  "evaluator-emulator": emulator,
  "evaluator-emulator/fetch": emulator,
  "evaluator-calibration": calibration,
  "evaluator-calibration/statistics": statistics,
};

type Runner = (importModule: (name: string) => object, console: object) => Promise<unknown>;
const AsyncFunction = (async () => undefined).constructor as new (...words: string[]) => Runner;

/**
 * Runs the text of a module with the page's packages and the given console.
 *
 * @throws {Error} the code's own error, or one about an import or a syntax that the page does not support.
 */
async function runModule(source: string, console: object): Promise<void> {
  await new AsyncFunction("importModule", "console", toBody(source))(importModule, console);
}

/** Returns the line of the module at which an error was thrown, or null. */
function lineOf({ stack = "" }: Error): number | null {
  const line = /<anonymous>:(\d+):\d+/.exec(stack)?.[1];
  // The constructor puts two lines before the body.
  return line === undefined ? null : Number(line) - 2;
}

const staticImport =
  /^[ \t]*import\s*(?:(\{[^}]*\}|\*\s*as\s+[\w$]+)\s*from\s*)?(["'][^"'\n]*["'])/gm;

/** Rewrites a module as the body of an async function, and keeps its lines. */
function toBody(source: string): string {
  return source
    .replaceAll(staticImport, (_, names: string | undefined, module: string) => {
      const constants = names?.replace(/^\*\s*as/, "").replaceAll(/\bas\b/g, ":");
      return `${constants === undefined ? "" : `const ${constants} = `}await importModule(${module})`;
    })
    .replaceAll(/\bimport(?=\s*\()/g, "importModule");
}

function importModule(name: string): object {
  const module = Object.hasOwn(modules, name) ? modules[name] : undefined;
  if (module === undefined) {
    throw new TypeError(
      `"${name}" is not in this page; it has ${Object.keys(modules).join(", ")}.`,
    );
  }
  return new Proxy(module, {
    get(all, key) {
      if (key === "then" || Reflect.has(all, key)) return Reflect.get(all, key) as unknown;
      throw new SyntaxError(`"${name}" has no export "${String(key)}".`);
    },
  });
}
