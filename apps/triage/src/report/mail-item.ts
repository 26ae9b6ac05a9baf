import { html, type Html } from "evaluator-kit/html";
import {
  listDoubts,
  type ListedRow,
  computePick,
  type ShownAnswer,
  type ShownQuestion,
  YES,
} from "./mail-row.ts";
import type { Sections } from "./sections.ts";

const DAY_MS = 86_400_000;

/** What all mails of a page have in common. */
export interface ListFacts extends Pick<Sections, "questions" | "score" | "choice"> {
  /** The action of each rule. */
  readonly actions: readonly string[];
  /** The day after today, on a page that keeps choices; null on one that does not. */
  readonly tomorrow: string | null;
}

/** Returns a mail as an item of the list: its head, and the details that open below it; `isAway` if it is done or snoozed. */
export function mailItem(row: ListedRow, facts: ListFacts, { isAway = false } = {}): Html {
  // Without the script the style sorts by day.
  const day = Math.round(Date.parse(row.day) / DAY_MS) || 0;
  const classes = ["mail", ...(row.isNew ? ["is-new"] : []), ...(isAway ? ["is-away"] : [])];
  return html`<li class="${classes.join(" ")}" style="--day:${-day}">
    <details>
      <summary>${toLevel(row, facts)} ${toHead(row, facts)} ${listBars(row, facts)}</summary>
      <div class="more">${describeMore(row, facts)}</div>
    </details>
    ${facts.tomorrow === null ? null : listChoices(row, facts)}
  </li>`;
}

/** Returns the choices about a mail; Enter in the day presses the first button. */
function listChoices({ id, thread }: ListedRow, { questions, tomorrow }: ListFacts): Html {
  const answers = questions.map(({ id: question, title, form, names }) => {
    const right = form === "probability" ? ["yes", "no"] : names;
    const options = right.map(
      (name, at) => html`<option value="${question}:${at}">${name}</option>`,
    );
    return html`<optgroup label="${title}">${options}</optgroup>`;
  });
  return html`<form class="choices" method="post" action="choices" data-thread="${thread}">
    <input type="hidden" name="id" value="${id}" />
    <button class="button" name="choice" value="snooze">Snooze until</button>
    <input
      class="field"
      type="date"
      name="until"
      value="${tomorrow}"
      min="${tomorrow}"
      aria-label="Snooze until"
    />
    <button class="button" name="choice" value="done">Done</button>
    <button class="button" name="choice" value="open">Undo</button>
    <select class="field" name="right" aria-label="The right answer">
      <option value="">the right answer…</option>
      ${answers}
    </select>
    <button class="button" name="choice" value="wrong">Answer was wrong</button>
  </form>`;
}

function toLevel({ answers }: ListedRow, { score, questions }: ListFacts): Html {
  const [question, answer] = [questions[score], answers?.[score]];
  if (question === undefined || answer === undefined) {
    return html`<span class="level level-none">${answers === null ? "?" : ""}</span>`;
  }
  const shade = computeShade("number", answer.value, question.names.length);
  const name = question.names[computePick(question, answer.value)] ?? "";
  return html`<span class="level level-${shade}"
    ><b>${answer.value.toFixed(1)}</b><span class="level-name">${name}</span></span
  >`;
}

function toHead(row: ListedRow, facts: ListFacts): Html {
  const tags = [
    row.isNew && toTag("new", "new"),
    row.isMasked && toTag("warn", "the name shows another address"),
    row.dated !== "" && toTag("warn", row.dated),
    row.mails > 1 && toTag("act", `${row.mails} mails`),
    row.waiting !== "" &&
      toTag(row.waiting === "you" ? "new" : "act", `waiting for ${row.waiting}`),
    row.rule !== -1 && toTag("act", `→ ${facts.actions[row.rule] ?? ""}`),
  ].filter((tag) => tag !== false);
  const address = row.address === "" ? null : html` <span class="address">${row.address}</span>`;
  return html`<span class="head">
    <span class="line">
      <span class="from"><b>${row.sender}</b>${address}</span>
      <time datetime="${row.day}">${row.day}</time>
    </span>
    <span class="subject">${row.subject || "(no subject)"}${tags}</span>
    <span class="snippet">${row.snippet}</span>
    <span class="why">${row.answers === null ? row.error : toReason(row.answers, facts)}</span>
  </span>`;
}

function toTag(look: "new" | "warn" | "act", text: string): Html {
  return html` <span class="tag tag-${look}">${text}</span>`;
}

/** Explains the rank of a mail: its category, and its doubtful answers. */
function toReason(answers: readonly ShownAnswer[], { questions, choice }: ListFacts): string {
  const [question, answer] = [questions[choice], answers[choice]];
  const parts: string[] = [];
  if (question !== undefined && answer !== undefined) {
    const { value, shares } = answer;
    parts.push(`${question.names[value] ?? ""} ${(shares[value] ?? 0).toFixed(2)}`);
  }
  const doubts = listDoubts(answers, questions);
  if (doubts.length > 0) parts.push(`in doubt: ${doubts.join(", ")}`);
  return parts.join(" · ");
}

function listBars({ answers, signs, isFirst }: ListedRow, { questions }: ListFacts): Html {
  const bars = answers?.map((answer, at) => toBar(questions[at] as ShownQuestion, answer));
  const first = isFirst ? [signs.length > 0 ? " · " : "", "first mail of this address"] : [];
  const evidence = html`<span class="signs"><b>${signs.join(" · ")}</b>${first}</span>`;
  return html`<span class="answers">${bars ?? null}${evidence}</span>`;
}

function toBar({ title, form, names }: ShownQuestion, { value, shares }: ShownAnswer): Html {
  const isYes = form === "probability" && value >= YES;
  const text = form === "option" ? (names[value] ?? "") : value.toFixed(2);
  const parts = { probability: [value], option: [shares[value] ?? 0], number: shares }[form];
  const segments = parts.map((share, level) => {
    const shade = computeShade(form, level, parts.length);
    return html`<i class="part-${shade}" style="width:${(100 * share).toFixed(0)}%"></i>`;
  });
  return html`<span class="${isYes ? "answer is-yes" : "answer"}">
    <span class="answer-name">${title}</span>
    <span class="track track-${form}">${segments}</span>
    <span class="answer-value">${text}</span>
  </span>`;
}

// Five shades, however many levels there are.
function computeShade(form: ShownQuestion["form"], level: number, levels: number): number {
  return form === "number" ? Math.round((4 * level) / Math.max(1, levels - 1)) : 4;
}

function describeMore(row: ListedRow, facts: ListFacts): Html {
  const reportedHtmls = row.answers?.map((answer, at) => {
    const question = facts.questions[at] as ShownQuestion;
    return html`<dt>${question.id} (${question.type})</dt>
      <dd>${sayAnswer(question, answer)}</dd>`;
  });
  return html`${reportedHtmls === undefined ? null : html`<dl>${reportedHtmls}</dl>`}
    ${row.checks === "" ? null : html`<p>Sender checks of the receiving host: ${row.checks}.</p>`}
    <p class="way-back">${wayBack(row, facts)}</p>
    <p>Id for explain: <code>${row.id}</code></p>`;
}

/** Returns an answer in the words of `explain`. */
function sayAnswer({ form, names }: ShownQuestion, answer: ShownAnswer): string {
  const { value, confidence, printed: printedValue, shares } = answer;
  const text = {
    option: names[value] ?? "",
    number: String(Number(value.toFixed(4))),
    probability: `yes: ${value.toFixed(2)}`,
  }[form];
  // The likeliest first, without those printed as 0.
  const likeliest = shares
    .map((share, at) => ({ share, name: names[at] ?? "" }))
    .filter(({ share }) => share >= 0.005)
    .toSorted((one, other) => other.share - one.share)
    .map(({ share, name }) => `${name} ${share.toFixed(2)}`);
  const parts = [
    printedValue === null
      ? `answer ${text}`
      : `answer ${printedValue.toFixed(2)}, calibrated ${text}`,
    ...(form === "probability" ? [] : [`confidence ${confidence ?? "not reported"}`]),
    likeliest.join(", "),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

function wayBack({ id, link, location }: ListedRow, { tomorrow }: ListFacts): Html | string {
  if (link === null) {
    const savedHtml = html`<a href="mail.eml?id=${encodeURIComponent(id)}">Save it as .eml</a>`;
    const save = tomorrow === null ? "serve --source PATH saves it as .eml." : savedHtml;
    if (location === "") return "Search for its subject in your mail program.";
    return html`It is in ${location}. ${save}`;
  }
  const place = location === "" ? "" : ` (${location})`;
  const { href, program } = link;
  return html`<a href="${href}" rel="noreferrer" target="_blank">Show it in ${program}</a>${place}`;
}
