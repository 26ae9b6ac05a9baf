import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DockerfileParser } from "dockerfile-ast";

const root = dirname(import.meta.dirname);

/** Returns the arguments of an image's instructions with one keyword, without flags such as `--mount`. */
export function argumentsOf(folder: string, keyword: string): string[] {
  const file = DockerfileParser.parse(readFileSync(join(root, folder, "Dockerfile"), "utf8"));
  return file
    .getInstructions()
    .filter((instruction) => instruction.getKeyword() === keyword)
    .map((instruction) => (instruction.getArgumentsContent() ?? "").replace(/^(?:--\S+ )+/, ""));
}

/** Returns the shell command of an instruction in its JSON form. */
export function commandOf(folder: string, keyword: string): string {
  const [words = ""] = argumentsOf(folder, keyword);
  const parts = JSON.parse(words.slice(words.indexOf("["))) as string[];
  return parts.map((part) => JSON.stringify(part)).join(" ");
}

/** Returns the emulator's start command with an address of this machine and a free port. */
export function emulatorCommand(): string {
  return commandOf("packages/evaluator-emulator", "ENTRYPOINT")
    .replace('"0.0.0.0"', "127.0.0.1")
    .replace('"8787"', "0");
}
