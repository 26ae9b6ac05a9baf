// The script of the report's page, bundled for the browser.
import { type ListFacts, mailItem } from "../mail-item.ts";
import { type ListedRow, type MailRow, computePick } from "../mail-row.ts";

interface PageFacts extends ListFacts {
  readonly packSize: number;
  /** The number of mails in each section, with all of each thread. */
  readonly counts: readonly number[];
}

const PAGE_SIZE = 50;

/** The threads that were put away on this page. */
const away = new Set<string>();

function get<TElement extends HTMLElement>(id: string): TElement {
  return document.querySelector<TElement>(`#${id}`) as TElement;
}

const facts = JSON.parse(get("facts").textContent) as PageFacts;
const [search, section] = [get<HTMLInputElement>("search"), get<HTMLSelectElement>("section")];
const [results, list, sections] = [get("found"), get("found-mails"), get("sections")];
const [previous, next] = [get<HTMLButtonElement>("previous"), get<HTMLButtonElement>("next")];
const [count, status] = [get("found-count"), get("found-status")];

function print(number: number): string {
  return number.toLocaleString("en");
}

if (facts.tomorrow !== null) keepChoices();
const packs = [...document.querySelectorAll<HTMLElement>(".pack")].map((element) => {
  let rows: Promise<ListedRow[]> | undefined;
  return () => (rows ??= unpack(element.textContent));
});

async function unpack(base64: string): Promise<ListedRow[]> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text()) as ListedRow[];
}

/** Returns the mails in a range of the list, pack by pack, so that the page stays responsive. */
async function* rowsIn(from: number, to: number): AsyncGenerator<ListedRow> {
  const size = facts.packSize;
  for (let start = from - (from % size); start < to; start += size) {
    const rows = await packs[start / size]?.();
    yield* rows?.slice(Math.max(0, from - start), to - start) ?? [];
  }
}

// The most urgent first.
function computeUrgency({ answers }: MailRow): number {
  return facts.score === -1 ? 0 : -(answers?.[facts.score]?.value ?? -1);
}

function picks({ answers }: MailRow, at: number, pick: number): boolean {
  const [question, answer] = [facts.questions[at], answers?.[at]];
  return (
    question !== undefined && answer !== undefined && computePick(question, answer.value) === pick
  );
}

function hasWords({ sender, address, subject, snippet }: MailRow, words: readonly string[]) {
  if (words.length === 0) return true;
  const text = `${sender} ${address} ${subject} ${snippet}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

let mails: readonly ListedRow[] = [];
let start = 0;
let searches = 0;

/** Shows the mails that the controls ask for, in their order. */
async function find(): Promise<void> {
  const words = search.value.toLowerCase().split(/\s+/u).filter(Boolean);
  const checkedOrder = document.querySelector<HTMLInputElement>("input[name=order]:checked");
  const isUrgent = checkedOrder?.value !== "newest";
  const isAsWritten = isUrgent && words.length === 0 && section.value === "";
  sections.hidden = !isAsWritten;
  results.hidden = isAsWritten;
  searches += 1;
  if (isAsWritten) return;
  const mine = searches;
  status.textContent = "Looking…";
  // The new mails, the index of a section, or a question and its option.
  const onlyNew = section.value === "new";
  const [sectionAt = -1, pick] = (section.value.match(/\d+/g) ?? []).map(Number);
  const isWhole = sectionAt === -1 || pick !== undefined;
  const from = isWhole ? 0 : mailsIn(facts.counts.slice(0, sectionAt));
  const to = mailsIn(isWhole ? facts.counts : facts.counts.slice(0, sectionAt + 1));
  const result: ListedRow[] = [];
  const threads = new Set<number>();
  for await (const row of rowsIn(from, to)) {
    if (!isWhole && row.place > 1) continue;
    if ((onlyNew && !row.isNew) || !hasWords(row, words)) continue;
    if (pick !== undefined && !picks(row, sectionAt, pick)) continue;
    // The first row of a thread that matches is its highest one.
    if (threads.has(row.thread) || away.has(`${row.thread}`)) continue;
    threads.add(row.thread);
    result.push(row);
  }
  if (mine !== searches) return; // the reader went on
  // The mails of a section are in the order of urgency already.
  if (isWhole || !isUrgent) {
    result.sort((one, other) => {
      const gap = isUrgent ? computeUrgency(one) - computeUrgency(other) : 0;
      return gap || Number(one.day < other.day) - Number(one.day > other.day);
    });
  }
  mails = result;
  show(0);
}

function mailsIn(sections: readonly number[]): number {
  return sections.reduce((sum, count) => sum + count, 0);
}

function show(from: number): void {
  start = from;
  const rows = mails.slice(start, start + PAGE_SIZE);
  const focusedAt = [...list.children].findIndex((mail) => mail.contains(document.activeElement));
  // Safe: all words of a mail are escaped.
  list.innerHTML = rows.map((row) => mailItem(row, facts)).join("");
  // Without this, a search that ends after Escape takes the focus from the list.
  list.children[focusedAt]?.querySelector("summary")?.focus();
  const end = start + rows.length;
  count.textContent = print(mails.length);
  status.textContent =
    mails.length === 0
      ? "No match."
      : `${print(start + 1)} to ${print(end)} of ${print(mails.length)}`;
  previous.disabled = start === 0;
  next.disabled = end >= mails.length;
}

function turn(by: number): void {
  show(start + by);
  results.scrollIntoView();
}

let searchTimer: ReturnType<typeof setTimeout> | undefined;
search.addEventListener("input", () => {
  clearTimeout(searchTimer);
  searchTimer = setTimeout(() => void find(), 150);
});
for (const control of document.querySelectorAll("#section, input[name=order]")) {
  control.addEventListener("change", () => void find());
}
previous.addEventListener("click", () => turn(-PAGE_SIZE));
next.addEventListener("click", () => turn(PAGE_SIZE));
for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-section]")) {
  button.addEventListener("click", () => {
    section.value = button.dataset["section"] ?? "";
    void find().then(() => results.scrollIntoView());
  });
}
document.documentElement.classList.add("scripted");
void find(); // a browser restores the typed words when a reader returns

/** Sends each choice about a mail when it is made, by a button or a key. */
function keepChoices(): void {
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(event.target as HTMLFormElement, event.submitter as HTMLButtonElement);
  });
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    const isTyping = key !== "Escape" && (target as HTMLElement).matches("input, select");
    if (!ctrlKey && !metaKey && !altKey && !isTyping && press(key)) event.preventDefault();
  });
}

async function send(form: HTMLFormElement, { value }: HTMLButtonElement): Promise<void> {
  const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
  body.set("choice", value);
  const answer = await fetch("choices", { method: "POST", body }).catch(() => null);
  const text = answer === null ? "Not saved: the program has ended." : await answer.text();
  document.querySelector("#saved")?.replaceChildren(text);
  if (answer?.ok !== true || value === "wrong") return;
  if (form.matches(".group")) return location.reload();
  const thread = form.dataset["thread"] ?? "";
  if (value === "open") away.delete(thread);
  else away.add(thread);
  // The focused field is hidden now.
  if (form.contains(document.activeElement)) press(value === "open" ? "Escape" : "j");
  form.closest(".mail")?.classList.toggle("is-away", away.has(thread));
}

const moves: Readonly<Record<string, number>> = { j: 1, k: -1, e: 1, u: 0, Escape: 0 };
const clickedControls: Readonly<Record<string, string>> = { e: "[value=done]", u: "[value=open]" };
const focusedControls: Readonly<Record<string, string>> = { s: "[name=until]", w: "[name=right]" };

/** Runs the action of a key; returns false if it has none. */
function press(key: string): boolean {
  const all = [...document.querySelectorAll(".mail")].filter((mail) => mail.checkVisibility());
  const focusedMail = all.find((mail) => mail.contains(document.activeElement));
  const isLast = key === "u" && focusedMail?.matches(".is-away") !== true;
  const last = document.querySelector(`.mail:has([data-thread="${[...away].at(-1) ?? ""}"])`);
  const mail = isLast ? last : focusedMail;
  if (isLast && last === null) document.querySelector<HTMLElement>("#undo-group button")?.click();
  const at = all.findIndex((one) => one === mail);
  const find = (selector = "none") => mail?.querySelector<HTMLElement>(selector);
  find(clickedControls[key])?.click();
  if (key in focusedControls) find("details")?.setAttribute("open", "");
  find(focusedControls[key])?.focus();
  if (key in moves) all[Math.max(0, at + (moves[key] ?? 0))]?.querySelector("summary")?.focus();
  if (key === "/") document.querySelector<HTMLElement>("#search")?.focus();
  return key === "/" || key in moves || key in clickedControls || key in focusedControls;
}
