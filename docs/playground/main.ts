import { lineOf, runModule } from "./run-module.ts";

/** The title and the code of each example; the build replaces the name. */
declare const EXAMPLES: readonly (readonly [title: string, code: string])[];

const find = <TElement extends Element>(selector: string) =>
  document.querySelector(selector) as TElement;
const code = find<HTMLTextAreaElement>("textarea");
const result = find<HTMLOutputElement>("output");
const examples = find<HTMLSelectElement>("select");
const link = find<HTMLAnchorElement>("#link");
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

/** Keeps the code in the page's address, where a link carries it. */
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
