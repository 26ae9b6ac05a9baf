import { byId, copyOnClick, partOf } from "./elements.ts";
import { showAnswer, showPast } from "./message-card.ts";
import { createSession } from "./session.ts";
import { showDecider, showTiers } from "./router.ts";

const composer = byId("composer") as HTMLFormElement;
const message = byId("message") as HTMLTextAreaElement;
const send = partOf(composer, ".send");
const stop = partOf(composer, ".stop");
const session = createSession();
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
  await showAnswer(text, { signal: running.signal, session });
  running = null;
  if (document.activeElement === stop) message.focus(); // the button disappears
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
    if (running !== null) return;
    message.value = example.textContent;
    composer.requestSubmit();
  });
}

function updateButtons(): void {
  const canSend = running === null && message.value.trim() !== "";
  send.setAttribute("aria-disabled", String(!canSend));
  stop.hidden = running === null;
}

byId("forget").addEventListener("click", () => {
  session.forget();
  location.reload(); // removes the cards and the sums too
});

const base = `${location.origin}/v1`;
const body = '{"model":"auto","messages":[{"role":"user","content":"hi"}]}';
byId("base").textContent = base;
byId("curl").textContent =
  `curl ${base}/chat/completions -H 'content-type: application/json' -d '${body}'`;
copyOnClick(byId("copy-curl"), () => byId("curl").textContent);
byId("decisions").hidden = !("feedback" in document.body.dataset);

for (const past of session.messages()) showPast(past, session);
void showTiers();
void showDecider();
updateButtons();
