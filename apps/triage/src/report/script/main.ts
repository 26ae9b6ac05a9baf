// The script of the report's page, bundled for the browser.
import { type ListFacts, mailItem } from "../mail-item.ts";
import { type MailRow, pickOf } from "../mail-row.ts";

/** The data that the page gives to its script. */
interface PageFacts extends ListFacts {
  readonly packSize: number;
  readonly sections: readonly { readonly title: string; readonly count: number }[];
}

const PAGE_SIZE = 50;

function get<TElement extends HTMLElement>(id: string): TElement {
  return document.querySelector<TElement>(`#${id}`) as TElement;
}

const facts = JSON.parse(get("facts").textContent) as PageFacts;
const [search, section] = [get<HTMLInputElement>("search"), get<HTMLSelectElement>("section")];
const onlyNew = document.querySelector<HTMLInputElement>("#only-new");
const [found, list, sections] = [get("found"), get("found-mails"), get("sections")];
const [previous, next] = [get<HTMLButtonElement>("previous"), get<HTMLButtonElement>("next")];
const [count, status] = [get("found-count"), get("found-status")];

function print(number: number): string {
  return number.toLocaleString("en");
}

/** Opens the packs of mails in the page on demand. */
class Packs {
  readonly #elements = [...document.querySelectorAll<HTMLElement>(".pack")];
  readonly #size = facts.packSize;
  readonly #opened = new Map<number, Promise<MailRow[]>>();

  /** Returns the mails at some indices of the whole list. */
  async rowsAt(indices: readonly number[]): Promise<MailRow[]> {
    const rows = indices.map(async (index) => {
      const pack = await this.#open(Math.floor(index / this.#size));
      return pack[index % this.#size];
    });
    return (await Promise.all(rows)).filter((row) => row !== undefined);
  }

  /** Returns every mail with its index, pack by pack, so that the page stays responsive. */
  async *all(): AsyncGenerator<{ readonly index: number; readonly row: MailRow }> {
    for (const at of this.#elements.keys()) {
      const rows = await this.#open(at);
      for (const [offset, row] of rows.entries()) yield { index: at * this.#size + offset, row };
    }
  }

  #open(at: number): Promise<MailRow[]> {
    const opened = this.#opened.get(at) ?? unpack(this.#elements[at]?.textContent ?? "");
    this.#opened.set(at, opened);
    return opened;
  }
}

async function unpack(base64: string): Promise<MailRow[]> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text()) as MailRow[];
}

const packs = new Packs();

/** Which mails a reader wants to see, and in which order. */
interface ListQuery {
  /** The range of the section's mails in the whole list; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly isWhole: boolean;
  /** The option that a question's answer must pick; null for any. */
  readonly kind: { readonly at: number; readonly pick: number } | null;
  /** Words that sender, subject or snippet must contain, in lower case. */
  readonly words: readonly string[];
  readonly onlyNew: boolean;
  readonly order: "urgent" | "newest" | "sender";
}

/** Returns the indices of the mails that a query finds, in its order. */
async function findMails(query: ListQuery): Promise<readonly number[]> {
  const { from, to, isWhole, kind, words, onlyNew, order } = query;
  // A section is sorted by urgency already, so nothing is opened for it.
  if (!isWhole && order === "urgent" && words.length === 0 && !onlyNew) {
    return Array.from({ length: to - from }, (_, at) => from + at);
  }
  const found: { index: number; key: string | number; day: string }[] = [];
  for await (const { index, row } of packs.all()) {
    if (index < from || index >= to || (onlyNew && !row.isNew) || !hasWords(row, words)) continue;
    if (!isOfKind(row, kind)) continue;
    const keys = { urgent: urgencyOf(row), newest: 0, sender: row.sender.toLowerCase() };
    found.push({ index, key: keys[order], day: row.day });
  }
  // Within a section the indices are in the order of urgency.
  if (!isWhole && order === "urgent") return found.map(({ index }) => index);
  const compare = (one: (typeof found)[number], other: (typeof found)[number]) =>
    (one.key < other.key ? -1 : Number(one.key > other.key)) ||
    (one.day > other.day ? -1 : Number(one.day < other.day)) ||
    one.index - other.index;
  return found.toSorted(compare).map(({ index }) => index);
}

// The most urgent first.
function urgencyOf({ answers }: MailRow): number {
  return facts.score === -1 ? 0 : -(answers?.[facts.score]?.value ?? -1);
}

function isOfKind({ answers }: MailRow, kind: ListQuery["kind"]): boolean {
  if (kind === null) return true;
  const [question, answer] = [facts.questions[kind.at], answers?.[kind.at]];
  return (
    question !== undefined && answer !== undefined && pickOf(question, answer.value) === kind.pick
  );
}

function hasWords({ sender, address, subject, snippet }: MailRow, words: readonly string[]) {
  if (words.length === 0) return true;
  const text = `${sender} ${address} ${subject} ${snippet}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

let indices: readonly number[] = [];
let start = 0;
let asked = 0;

async function find(): Promise<void> {
  const words = search.value.toLowerCase().split(/\s+/u).filter(Boolean);
  const checked = document.querySelector<HTMLInputElement>("input[name=order]:checked");
  const order = (checked?.value ?? "urgent") as ListQuery["order"];
  const isPlain = words.length === 0 && section.value === "" && !onlyNew?.checked;
  const isAsWritten = isPlain && order === "urgent";
  sections.hidden = !isAsWritten;
  found.hidden = isAsWritten;
  asked += 1;
  if (isAsWritten) return;
  const mine = asked;
  status.textContent = "Looking…";
  // The index of a section, or a question and its option.
  const [chosen = -1, pick] = section.value.split(":").filter(Boolean).map(Number);
  const kind = pick === undefined ? null : { at: chosen, pick };
  const at = kind === null ? chosen : -1;
  const before = facts.sections.slice(0, Math.max(0, at));
  const from = before.reduce((sum, { count }) => sum + count, 0);
  const all = facts.sections.reduce((sum, { count }) => sum + count, 0);
  const to = at === -1 ? all : from + (facts.sections[at]?.count ?? 0);
  const chosenAlso = { kind, words, onlyNew: onlyNew?.checked ?? false, order };
  const query = { from, to, isWhole: at === -1, ...chosenAlso };
  const result = await findMails(query);
  if (mine !== asked) return; // the reader went on
  indices = result;
  await show(0);
}

async function show(from: number): Promise<void> {
  start = from;
  const mine = asked;
  const rows = await packs.rowsAt(indices.slice(start, start + PAGE_SIZE));
  if (mine !== asked) return;
  // Safe: all words of a mail are escaped.
  list.innerHTML = rows.map((row) => mailItem(row, facts)).join("");
  const end = start + rows.length;
  count.textContent = print(indices.length);
  status.textContent =
    indices.length === 0
      ? "Nothing is like that."
      : `${print(start + 1)} to ${print(end)} of ${print(indices.length)}`;
  previous.disabled = start === 0;
  next.disabled = end >= indices.length;
}

function turn(by: number): void {
  void show(start + by).then(() => found.scrollIntoView());
}

let typed: ReturnType<typeof setTimeout> | undefined;
search.addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => void find(), 150);
});
for (const control of document.querySelectorAll("#section, #only-new, input[name=order]")) {
  control.addEventListener("change", () => void find());
}
previous.addEventListener("click", () => turn(-PAGE_SIZE));
next.addEventListener("click", () => turn(PAGE_SIZE));
for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-section]")) {
  button.addEventListener("click", () => {
    section.value = button.dataset["section"] ?? "";
    void find().then(() => found.scrollIntoView());
  });
}
document.documentElement.classList.add("scripted");
void find(); // a browser restores the typed words when a reader returns
