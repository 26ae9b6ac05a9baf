import { printable } from "evaluator-kit";
import { printCount, printCounted } from "evaluator-runs/source";
import type { DateBasis, NotRead } from "./found-mail.ts";
import { MESSAGE_BYTES } from "./parse-message.ts";

const NAMED = 10;

/** What became of the mails of an export. */
export class ImportCounts {
  kept = 0;
  /** Left out, since they carry only a sent label. */
  sent = 0;
  /** Mails kept with only their start read. */
  cut = 0;
  /** Mails kept, by where their day is from. */
  readonly bases: Record<DateBasis, number> = { header: 0, received: 0, separator: 0, file: 0 };
  #broken = 0;
  #noMail = 0;
  readonly #brokenNamed: string[] = [];
  readonly #noMailNamed: string[] = [];
  readonly #all: string[] | null;

  /** @param namesAll - Whether all that is not read is kept by name, and not the first of it. */
  constructor(namesAll: boolean) {
    this.#all = namesAll ? [] : null;
  }

  /** How many mails, or files that may hold some, could not be read. */
  get broken(): number {
    return this.#broken;
  }

  /** Counts and names what is not read. */
  add({ name, reason, isMail }: NotRead): void {
    if (isMail) this.#broken += 1;
    else this.#noMail += 1;
    const line = printable`${name}: ${reason}\n`;
    this.#all?.push(line);
    const named = isMail ? this.#brokenNamed : this.#noMailNamed;
    if (named.length < NAMED) named.push(`${isMail ? "Broken" : "Not read"}: ${line}`);
  }

  /** Returns the name of all that was not read and why, one a line. */
  skipped(): readonly string[] {
    return this.#all ?? [];
  }

  /** Returns lines that name the first of what was not read, mails before what is none. */
  describeNotRead(): string {
    const named = [...this.#brokenNamed, ...this.#noMailNamed];
    const more = this.#broken + this.#noMail - named.length;
    const moreLine = `And ${printCount(more)} more that were not read; --skipped FILE names all.\n`;
    return named.join("") + (more > 0 ? moreLine : "");
  }

  /** Returns all of it in lines. */
  describe(outputPath: string): string {
    const { kept, sent, cut } = this;
    const noMail =
      this.#noMail === 0
        ? ""
        : `; ${printCounted(this.#noMail, "file")} ${this.#noMail === 1 ? "is" : "are"} no mail`;
    const cutNote = `Of ${printCount(cut)} larger than ${MESSAGE_BYTES / 1024 ** 2} MB only the start was read.\n`;
    return [
      this.describeNotRead(),
      printable`Wrote ${printCounted(kept, "record")} to ${outputPath}; left out ${printCount(sent)} `,
      `with only the sent label and ${printCount(this.#broken)} broken${noMail}.\n`,
      cut > 0 ? cutNote : "",
      this.#describeDates(),
    ].join("");
  }

  #describeDates(): string {
    const { received, separator, file } = this.bases;
    const count = received + separator + file;
    const sources = [
      [received, "the last Received"],
      [separator, "the mbox separator"],
      [file, "the file's time"],
    ] as const;
    const parts = sources
      .filter(([number]) => number > 0)
      .map(([number, source]) => `${printCount(number)} from ${source}`);
    return count === 0 ? "" : `Without a usable Date, the day is: ${parts.join(", ")}.\n`;
  }
}
