import { byId, partOf } from "./elements.ts";
import { exchange } from "./exchange.ts";
import { createTotals } from "./totals.ts";

const composer = byId("composer") as HTMLFormElement;
const message = byId("message") as HTMLTextAreaElement;
const send = partOf(composer, ".send");
const stop = partOf(composer, ".stop");
const totals = createTotals();
let running: AbortController | null = null;

composer.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = message.value;
  if (running !== null || text.trim() === "") return;
  message.value = "";
  void run(text);
});

async function run(text: string): Promise<void> {
  running = new AbortController();
  updateButtons();
  await exchange(text, { signal: running.signal, totals });
  running = null;
  if (document.activeElement === stop) message.focus(); // it is about to go
  updateButtons();
}

message.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  composer.requestSubmit();
});
message.addEventListener("input", updateButtons);

stop.addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
});

for (const example of document.querySelectorAll(".examples button")) {
  example.addEventListener("click", () => {
    message.value = example.textContent;
    message.focus();
    updateButtons();
  });
}

function updateButtons(): void {
  const canSend = running === null && message.value.trim() !== "";
  send.setAttribute("aria-disabled", String(!canSend));
  stop.hidden = running === null;
}

updateButtons();
