/** The threads that were put away on this page. */
export const away = new Set<string>();

/** Sends each choice about a mail when it is made, by a button or a key. */
export function keepChoices(): void {
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
  const { id, until, right } = Object.fromEntries(new FormData(form)) as Record<string, string>;
  const body = new URLSearchParams({ id, until, right, choice: value } as Record<string, string>);
  const answer = await fetch("choices", { method: "POST", body }).catch(() => null);
  const text = answer === null ? "Not saved: the program has ended." : await answer.text();
  document.querySelector("#saved")?.replaceChildren(text);
  if (answer?.ok !== true || value === "wrong") return;
  const thread = form.dataset["thread"] ?? "";
  if (value === "open") away.delete(thread);
  else away.add(thread);
  // The focused field is hidden now.
  if (form.contains(document.activeElement)) press(value === "open" ? "Escape" : "j");
  form.closest(".mail")?.classList.toggle("is-away", away.has(thread));
}

const moves: Readonly<Record<string, number>> = { j: 1, k: -1, e: 1, u: 0, Escape: 0 };
const clicked: Readonly<Record<string, string>> = { e: "[value=done]", u: "[value=open]" };
const focused: Readonly<Record<string, string>> = { s: "[name=until]", w: "[name=right]" };

/** Does what a key is for; returns whether it is for anything. */
function press(key: string): boolean {
  const all = [...document.querySelectorAll(".mail")].filter((mail) => mail.checkVisibility());
  const focusedMail = all.find((mail) => mail.contains(document.activeElement));
  const isLast = key === "u" && focusedMail?.matches(".is-away") !== true;
  const last = document.querySelector(`.mail:has([data-thread="${[...away].at(-1) ?? ""}"])`);
  const mail = isLast ? last : focusedMail;
  const at = all.findIndex((one) => one === mail);
  const find = (selector = "none") => mail?.querySelector<HTMLElement>(selector);
  find(clicked[key])?.click();
  if (key in focused) find("details")?.setAttribute("open", "");
  find(focused[key])?.focus();
  if (key in moves) all[Math.max(0, at + (moves[key] ?? 0))]?.querySelector("summary")?.focus();
  if (key === "/") document.querySelector<HTMLElement>("#search")?.focus();
  return key === "/" || key in moves || key in clicked || key in focused;
}
