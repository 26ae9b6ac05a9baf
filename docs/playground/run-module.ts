import * as calibration from "evaluator-calibration";
import * as statistics from "evaluator-calibration/statistics";
import * as client from "evaluator-client";
import * as emulator from "evaluator-emulator/fetch";

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
 * @throws {Error} what the code throws, or that it is not a module that can run here.
 */
export async function runModule(source: string, console: object): Promise<void> {
  await new AsyncFunction("importModule", "console", toBody(source))(importModule, console);
}

/** Returns the line of the module at which an error was thrown, or null. */
export function lineOf({ stack = "" }: Error): number | null {
  const line = /<anonymous>:(\d+):\d+/.exec(stack)?.[1];
  // The constructor puts two lines before the body.
  return line === undefined ? null : Number(line) - 2;
}

const staticImport =
  /^[ \t]*import\s*(?:(\{[^}]*\}|\*\s*as\s+[\w$]+)\s*from\s*)?(["'][^"'\n]*["'])/gm;

/** Returns the body of an async function that does what a module does, line by line. */
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
