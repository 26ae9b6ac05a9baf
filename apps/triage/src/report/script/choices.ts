const saved = document.querySelector("#saved");
/** The threads that are put away on this page. */
export const away = new Set<string>();

/** Sends each choice about a mail when it is made, by a button or a key. */
export function keepChoices(): void {
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(event.target as HTMLFormElement, event.submitter as HTMLButtonElement);
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = (event.target as HTMLElement).matches("input, select");
    const act =
      event.ctrlKey || event.metaKey || event.altKey || isTyping ? undefined : keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    const all = [...document.querySelectorAll(".mail")].filter((mail) => mail.checkVisibility());
    const at = all.findIndex((mail) => mail.contains(document.activeElement));
    act(all[at], (by) => all[Math.max(0, at + by)]?.querySelector("summary")?.focus());
  });
}

async function send(form: HTMLFormElement, button: HTMLButtonElement): Promise<void> {
  const fields = [...new FormData(form, button)].filter(
    (field): field is [string, string] => typeof field[1] === "string",
  );
  const body = new URLSearchParams(fields);
  const answer = await fetch("choices", { method: "POST", body }).catch(() => null);
  const text = answer === null ? "Not saved: the program has ended." : await answer.text();
  if (saved !== null) saved.textContent = text;
  const thread = form.dataset["thread"] ?? "";
  if (answer?.ok !== true || button.value === "wrong") return;
  if (button.value === "open") away.delete(thread);
  else away.add(thread);
  form.closest(".mail")?.classList.toggle("is-away", away.has(thread));
}

type Act = (mail: Element | undefined, move: (by: number) => void) => void;
const click =
  (selector: string): Act =>
  (mail) =>
    mail?.querySelector<HTMLElement>(selector)?.click();
const open =
  (selector: string): Act =>
  (mail) => {
    mail?.querySelector("details")?.setAttribute("open", "");
    mail?.querySelector<HTMLElement>(selector)?.focus();
  };
const keys: Readonly<Record<string, Act>> = {
  j: (_, move) => move(1),
  k: (_, move) => move(-1),
  e(mail, move) {
    click("[value=done]")(mail, move);
    move(1);
  },
  u: click("[value=open]"),
  s: open("[name=until]"),
  w: open("[name=right]"),
  "/": () => document.querySelector<HTMLElement>("#search")?.focus(),
};
