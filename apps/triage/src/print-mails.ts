import { printCounted } from "evaluator-runs/commands";

/** Prints a number of mails: `1 mail`, `12,345 mails`. */
export function printMails(count: number): string {
  return printCounted(count, "mail");
}
