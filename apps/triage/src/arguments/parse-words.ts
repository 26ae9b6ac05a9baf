import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { printable, UsageError } from "evaluator-cli-kit";

/**
 * Splits words into the flags of a command and the rest.
 *
 * @throws UsageError when a flag is unknown, or has no value where it needs one, or the reverse.
 */
export function parseWords<const TOptions extends ParseArgsOptionsConfig>(
  words: readonly string[],
  options: TOptions,
) {
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(toUsageProblem(error.message));
  }
}

// Node's message goes on with advice about dashes; its first sentence names the flag.
function toUsageProblem(message: string): string {
  const flag = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument/.exec(message)?.[1];
  if (flag !== undefined) return `${flag} needs a value`;
  return printable`${message.split(/\.\s/, 1).join("")}`;
}
