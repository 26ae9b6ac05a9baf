import { type MailRow, type PackedRow, type ShownQuestion, unpackRow } from "../mail-row.ts";

/** Opens the packs of mails that stand in the page, each when it is needed. */
export class Packs {
  readonly #elements: readonly HTMLElement[];
  readonly #size: number;
  readonly #questions: readonly ShownQuestion[];
  readonly #opened = new Map<number, Promise<PackedRow[]>>();

  /** @param facts - With `packSize`: how many mails are in each pack but the last. */
  constructor(
    elements: readonly HTMLElement[],
    { packSize, questions }: { packSize: number; questions: readonly ShownQuestion[] },
  ) {
    this.#elements = elements;
    this.#size = packSize;
    this.#questions = questions;
  }

  /** Returns the mails at some indices of the whole list. */
  async rowsAt(indices: readonly number[]): Promise<MailRow[]> {
    const rows = indices.map(async (index) => {
      const pack = await this.#open(Math.floor(index / this.#size));
      return pack[index % this.#size];
    });
    const found = (await Promise.all(rows)).filter((row) => row !== undefined);
    return found.map((row) => unpackRow(row, this.#questions));
  }

  /** Returns every mail with its index, pack by pack, so that a page stays alive meanwhile. */
  async *all(): AsyncGenerator<{ readonly index: number; readonly row: PackedRow }> {
    for (const at of this.#elements.keys()) {
      const rows = await this.#open(at);
      for (const [offset, row] of rows.entries()) yield { index: at * this.#size + offset, row };
    }
  }

  #open(at: number): Promise<PackedRow[]> {
    const opened = this.#opened.get(at) ?? unpack(this.#elements[at]?.textContent ?? "");
    this.#opened.set(at, opened);
    return opened;
  }
}

async function unpack(base64: string): Promise<PackedRow[]> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text()) as PackedRow[];
}
