import { readFile } from "node:fs/promises";
import { TriageError } from "../errors.ts";
import { toFileError } from "../file-error.ts";
import type { Mail } from "./mail.ts";
import { parseMails } from "./parse-mails.ts";
import { plainMessage } from "../text/plain-message.ts";

/**
 * Reads an input file: UTF-8 JSON, with or without a byte order mark.
 *
 * @throws TriageError that names the file and all that is wrong with it, and quotes nothing from it.
 */
export async function readMails(path: string): Promise<Mail[]> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw toFileError(error, `read ${path}`, "Check the path of the input file.");
  });
  try {
    return parseMails(parseJson(decode(bytes)));
  } catch (error) {
    if (!(error instanceof TriageError)) throw error;
    throw new TriageError(
      plainMessage`${path} cannot be used, and nothing was sent:\n  ` + error.message,
    );
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TriageError("it is not UTF-8 text; save it in that encoding");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the text around the mistake; only the place is safe to show.
    const place = /line \d+ column \d+/.exec(String(error))?.[0] ?? "the whole file";
    throw new TriageError(`it is not JSON; check ${place}`);
  }
}
