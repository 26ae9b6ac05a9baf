import { printCount } from "../amounts.ts";
import { plainMessage } from "../text/plain-message.ts";
import { MESSAGE_BYTES } from "./parse-message.ts";

const NAMED = 10;

/** What became of the mails of an export. */
export class ImportCounts {
  kept = 0;
  /** Left out, since they carry only a sent label. */
  sent = 0;
  /** Left out, since they cannot be read. */
  broken = 0;
  /** Kept, with only their start read. */
  cut = 0;
  readonly #named: string[] = [];

  /** Counts what cannot be read, and names the first of it by place and reason. */
  addBroken(place: string, reason: string): void {
    this.broken += 1;
    if (this.#named.length < NAMED) this.#named.push(plainMessage`Broken: ${place}: ${reason}\n`);
  }

  /** Says it all, in lines. */
  describe(outputPath: string): string {
    const { kept, sent, broken, cut } = this;
    const more = broken - this.#named.length;
    const cutNote = `Of ${printCount(cut)} larger than ${MESSAGE_BYTES / 1024 ** 2} MB only the start was read.\n`;
    return [
      ...this.#named,
      more > 0 ? `Broken: ${printCount(more)} more\n` : "",
      plainMessage`Wrote ${printCount(kept)} records to ${outputPath}; left out ${printCount(sent)} `,
      `with only the sent label and ${printCount(broken)} broken.\n`,
      cut > 0 ? cutNote : "",
    ].join("");
  }
}
