import { type Element, type ListFacts, mailItem } from "../mail-item.ts";
import { findMails, type ListOrder } from "./find-mails.ts";
import { Packs } from "./packs.ts";

/** What the page tells its script. */
interface PageFacts extends ListFacts {
  readonly packSize: number;
  readonly sections: readonly { readonly title: string; readonly count: number }[];
}

const PAGE_SIZE = 50;

function get<TElement extends HTMLElement>(id: string): TElement {
  return document.querySelector<TElement>(`#${id}`) as TElement;
}

const facts = JSON.parse(get("facts").textContent) as PageFacts;
const packs = new Packs([...document.querySelectorAll<HTMLElement>(".pack")], facts);
const [search, section] = [get<HTMLInputElement>("search"), get<HTMLSelectElement>("section")];
const onlyNew = document.querySelector<HTMLInputElement>("#only-new");
const [found, list, sections] = [get("found"), get("found-mails"), get("sections")];
const [previous, next] = [get<HTMLButtonElement>("previous"), get<HTMLButtonElement>("next")];
const [count, status] = [get("found-count"), get("found-status")];

function print(number: number): string {
  return number.toLocaleString("en");
}

/** Makes an element of the page; what a mail says becomes text, and nothing else. */
function toDom({ tag, attributes, children }: Element): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map((child) => (typeof child === "string" ? child : toDom(child))));
  return made;
}

let indices: readonly number[] = [];
let start = 0;
let asked = 0;

function orderOf(): ListOrder {
  const checked = document.querySelector<HTMLInputElement>("input[name=order]:checked");
  return (checked?.value ?? "urgent") as ListOrder;
}

async function find(): Promise<void> {
  const words = search.value.toLowerCase().split(/\s+/u).filter(Boolean);
  const order = orderOf();
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
  const result = await findMails(packs, query, facts);
  if (mine !== asked) return; // the reader went on
  indices = result;
  await show(0);
}

async function show(from: number): Promise<void> {
  start = from;
  const mine = asked;
  const rows = await packs.rowsAt(indices.slice(start, start + PAGE_SIZE));
  if (mine !== asked) return;
  list.replaceChildren(...rows.map((row) => toDom(mailItem(row, facts))));
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
void find(); // a browser that comes back has kept what was typed
