import {
  doubtsOf,
  type MailRow,
  pickOf,
  type ShownAnswer,
  type ShownQuestion,
  YES,
} from "./mail-row.ts";

/** An element of the page, which Node writes as text and a browser creates in the document. */
export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (Element | string)[];
}

/** What all mails of a page have in common. */
export interface ListFacts {
  readonly questions: readonly ShownQuestion[];
  /** The index of the question about importance; -1 without one. */
  readonly score: number;
  /** The index of the question whose options sort the mails; -1 without one. */
  readonly choice: number;
  /** The action of each rule. */
  readonly actions: readonly string[];
  /** The command that explains a mail: the words before and after its id. */
  readonly explain: readonly [before: string, after: string];
}

/** Returns a mail as an item of the list: its head, and the details that open below it. */
export function mailItem(row: MailRow, facts: ListFacts): Element {
  return element("li", { class: row.isNew ? "mail is-new" : "mail" }, [
    element("details", {}, [
      element("summary", {}, [levelOf(row, facts), headOf(row, facts), barsOf(row, facts)]),
      element("div", { class: "more" }, moreOf(row, facts)),
    ]),
  ]);
}

function element(
  tag: string,
  attributes: Element["attributes"],
  children: Element["children"],
): Element {
  return { tag, attributes, children };
}

function span(name: string, text: string): Element {
  return element("span", { class: name }, [text]);
}

function levelOf({ answers }: MailRow, { score, questions }: ListFacts): Element {
  const [question, answer] = [questions[score], answers?.[score]];
  if (question === undefined || answer === undefined) {
    return span("level level-none", answers === null ? "?" : "");
  }
  const shade = shadeOf("number", answer.value, question.names.length);
  return element("span", { class: `level level-${shade}` }, [
    element("b", {}, [answer.value.toFixed(1)]),
    span("level-name", question.names[pickOf(question, answer.value)] ?? ""),
  ]);
}

function headOf(row: MailRow, facts: ListFacts): Element {
  const marks = [
    row.isNew ? [span("mark mark-new", "new")] : [],
    row.isMasked ? [span("mark mark-warn", "the name shows another address")] : [],
    row.dated === "" ? [] : [span("mark mark-warn", row.dated)],
    row.rule === -1 ? [] : [span("mark mark-act", `→ ${facts.actions[row.rule] ?? ""}`)],
  ].flat();
  const address = row.address === "" ? [] : [" ", span("address", row.address)];
  return element("span", { class: "head" }, [
    element("span", { class: "line" }, [
      element("span", { class: "from" }, [element("b", {}, [row.sender]), ...address]),
      " ",
      element("time", { datetime: row.day }, [row.day]),
    ]),
    element("span", { class: "subject" }, [
      row.subject || "(no subject)",
      ...marks.flatMap((mark) => [" ", mark]),
    ]),
    span("snippet", row.snippet),
    span("why", row.answers === null ? row.error : whyOf(row.answers, facts)),
  ]);
}

/** Explains the rank of a mail: its category, and its doubtful answers. */
function whyOf(answers: readonly ShownAnswer[], { questions, choice }: ListFacts): string {
  const [question, answer] = [questions[choice], answers[choice]];
  const parts: string[] = [];
  if (question !== undefined && answer !== undefined) {
    const { value, shares } = answer;
    parts.push(`${question.names[value] ?? ""} ${(shares[value] ?? 0).toFixed(2)}`);
  }
  const doubts = doubtsOf(answers, questions);
  if (doubts.length > 0) parts.push(`in doubt: ${doubts.join(", ")}`);
  return parts.join(" · ");
}

/** Returns the options or levels with their shares, the likeliest first, without those printed as 0. */
function likeliest({ shares }: ShownAnswer, { names }: ShownQuestion): string[] {
  return shares
    .map((share, at) => ({ share, name: names[at] ?? "" }))
    .filter(({ share }) => share >= 0.005)
    .toSorted((one, other) => other.share - one.share)
    .map(({ share, name }) => `${name} ${share.toFixed(2)}`);
}

function barsOf({ answers }: MailRow, { questions }: ListFacts): Element {
  const bars = questions.map((question, at) => {
    const answer = answers?.[at];
    return answer === undefined ? "" : barOf(question, answer);
  });
  return element("span", { class: "answers" }, bars);
}

function barOf({ title, form, names }: ShownQuestion, answer: ShownAnswer): Element {
  const { value, shares } = answer;
  const isYes = form === "probability" && value >= YES;
  const text = form === "option" ? (names[value] ?? "") : value.toFixed(2);
  const parts = { probability: [value], option: [shares[value] ?? 0], number: shares }[form];
  const segments = parts.map((share, level) =>
    element(
      "i",
      {
        class: `part part-${shadeOf(form, level, parts.length)}`,
        style: `width:${(100 * share).toFixed(0)}%`,
      },
      [],
    ),
  );
  return element("span", { class: isYes ? "answer is-yes" : "answer" }, [
    span("answer-name", title),
    " ",
    element("span", { class: `track track-${form}` }, segments),
    " ",
    span("answer-value", text),
  ]);
}

// Five shades, however many levels there are.
function shadeOf(form: ShownQuestion["form"], level: number, levels: number): number {
  return form === "number" ? Math.round((4 * level) / Math.max(1, levels - 1)) : 4;
}

function moreOf(row: MailRow, { questions, explain }: ListFacts): Element[] {
  const said = questions.flatMap((question, at) => {
    const answer = row.answers?.[at];
    if (answer === undefined) return [];
    const { id, type } = question;
    return [
      element("dt", {}, [`${id} (${type})`]),
      element("dd", {}, [sayAnswer(question, answer)]),
    ];
  });
  const command = explain[0] + quoted(row.id) + explain[1];
  return [
    ...(said.length === 0 ? [] : [element("dl", {}, said)]),
    element("p", { class: "way-back" }, wayBack(row)),
    element("p", {}, [element("code", {}, [command])]),
  ];
}

/** Returns an answer in the words of `explain`. */
function sayAnswer(question: ShownQuestion, answer: ShownAnswer): string {
  const { value, confidence, printed } = answer;
  const { form, names } = question;
  const texts = {
    option: names[value] ?? "",
    number: String(Number(value.toFixed(4))),
    probability: `yes: ${value.toFixed(2)}`,
  };
  const text = texts[form];
  const parts = [
    printed === null ? `answer ${text}` : `answer ${printed.toFixed(2)}, calibrated ${text}`,
    ...(form === "probability" ? [] : [`confidence ${confidence ?? "not reported"}`]),
    likeliest(answer, question).join(", "),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

function wayBack({ id, isOfGmail, location }: MailRow): Element["children"] {
  const link = isOfGmail ? gmailLink(id) : "";
  if (link !== "") {
    const attributes = { href: link, rel: "noreferrer", target: "_blank" };
    return [
      element("a", attributes, ["Show it in Gmail"]),
      location === "" ? "" : ` (${location})`,
    ];
  }
  return [location === "" ? "Where it stands, its export knows." : `It is in ${location}.`];
}

/** Returns the address at which Gmail shows a mail; empty for an id of another form. */
function gmailLink(id: string): string {
  const base = "https://mail.google.com/mail/";
  if (/^[0-9a-f]{16}$/.test(id)) return `${base}#all/${id}`;
  // A second mail with the same id has a number behind it.
  const messageId = id.replace(/#\d{1,9}$/, "");
  if (!/^[^\s@<>]{1,400}@[^\s@<>]{1,400}$/.test(messageId)) return "";
  return `${base}#search/${encodeURIComponent(`rfc822msgid:${messageId.toWellFormed()}`)}`;
}

/** Quotes an id as one word of a shell. */
export function quoted(id: string): string {
  if (/^[\w.@%+=:,/][\w.@%+=:,/-]*$/.test(id)) return id;
  const word = `'${id.replaceAll("'", String.raw`'\''`)}'`;
  return id.startsWith("-") ? `-- ${word}` : word;
}
