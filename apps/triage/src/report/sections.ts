import type { Question, Questions } from "evaluator-client";
import { toPrintable } from "evaluator-kit";
import { type AskedQuestion, askedQuestions } from "evaluator-runs/source";
import { doubtRule, doubtsOf, type ShownAnswer, type ShownQuestion, YES } from "./mail-row.ts";

/** A part of the list. */
interface Section {
  readonly id: string;
  readonly title: string;
  /** Describes the rule that puts a mail in it. */
  readonly about: string;
}

interface Rule extends Section {
  /** Returns the weight of a mail, the highest first; null if it belongs to another section. */
  readonly weigh: (answers: readonly ShownAnswer[]) => number | null;
}

/** The id of the question whose yes warns of a mail. */
const WARNING = "scam";

/** The sections of a list of mails; a mail belongs to the first section whose rule it meets. */
export class Sections {
  /** In the order in which they are shown. */
  readonly all: readonly Section[];
  readonly questions: readonly ShownQuestion[];
  /** The index of the question about importance; -1 without one. */
  readonly score: number;
  /** The index of the question whose options sort the rest; -1 without one. */
  readonly choice: number;
  /** In the order in which they are tried. */
  readonly #rules: readonly Rule[];

  constructor(asked: Questions) {
    this.questions = askedQuestions(asked).map((one) => toShown(one, asked[one.id] as Question));
    this.score = this.#find("number", "importance");
    this.choice = this.#find("option", "category");
    const yes = this.questions.flatMap(({ form }, at) => (form === "probability" ? [at] : []));
    const warnings = yes.filter((at) => this.questions[at]?.id === WARNING);
    const scams = warnings.map((at) => this.#yesRule(at));
    const others = yes.filter((at) => !warnings.includes(at)).map((at) => this.#yesRule(at));
    const needs = this.score === -1 ? [] : [this.#needsRule()];
    const deadlines = this.#deadlineRule(Object.values(asked));
    const rest = this.#restRules();
    const unsure = this.#unsureRule();
    this.all = [...needs, ...scams, ...others, ...deadlines, ...rest, unsure, withoutAnswer];
    this.#rules = [...scams, ...needs, ...others, ...deadlines, unsure, ...rest];
  }

  /** Returns the section of a mail and its weight there; `answers` is null without an answer. */
  rankOf(answers: readonly ShownAnswer[] | null) {
    const last = { section: this.all.length - 1, weight: 0 };
    if (answers === null) return last;
    for (const rule of this.#rules) {
      const weight = rule.weigh(answers);
      if (weight !== null) return { section: this.all.indexOf(rule), weight };
    }
    return last;
  }

  // The contract's question, else the first of its form.
  #find(form: ShownQuestion["form"], id: string): number {
    const named = this.questions.findIndex((question) => question.id === id);
    if (this.questions[named]?.form === form) return named;
    return this.questions.findIndex((question) => question.form === form);
  }

  #levelOf(answers: readonly ShownAnswer[]): number {
    return answers[this.score]?.value ?? 0;
  }

  #needsRule(): Rule {
    const question = this.questions[this.score];
    const most = (question?.names.length ?? 1) - 1;
    const middle = most / 2;
    return {
      id: "needs-you",
      title: "Needs you",
      about: `${question?.title} above the middle of its levels: a mean above ${middle} of ${most}; the most urgent first.`,
      weigh: (answers) => (this.#levelOf(answers) > middle ? this.#levelOf(answers) : null),
    };
  }

  #yesRule(at: number): Rule {
    const { id = "", title = "" } = this.questions[at] ?? {};
    const isWarning = id === WARNING;
    const shown = isWarning ? "Scams: do not touch" : id === "brand_deal" ? "Deals" : title;
    const advice = isWarning ? "; open and answer nothing in them" : "";
    return {
      id: `yes-${at}`,
      title: shown,
      about: `${title} at ${YES} or more, the surest first${advice}.`,
      weigh: (answers) => {
        const yes = answers[at]?.value ?? 0;
        return yes >= YES ? yes : null;
      },
    };
  }

  /** For answers whose options name a deadline; no rule if no option does. */
  #deadlineRule(asked: readonly Question[]): Rule[] {
    const named = asked.flatMap((question, at) => {
      const shown = this.questions[at] as ShownQuestion;
      const options = deadlinesIn(shown, question);
      return options.length === 0 ? [] : [{ ...shown, at, options }];
    });
    if (named.length === 0) return [];
    const words = named.map(describeDeadlines).join(", or ");
    return [
      {
        id: "deadlines",
        title: "Deadlines",
        about: `Answers whose own words speak of a deadline or a reminder: ${words}, as the likeliest answer or at ${YES} or more.`,
        weigh: (answers) =>
          named.some((question) => isDeadline(answers[question.at], question))
            ? this.#levelOf(answers)
            : null,
      },
    ];
  }

  #unsureRule(): Rule {
    return {
      id: "unsure",
      title: "Unsure",
      about: `Of the others, those with ${doubtRule}.`,
      weigh: (answers) =>
        doubtsOf(answers, this.questions).length > 0 ? this.#levelOf(answers) : null,
    };
  }

  #restRules(): Rule[] {
    const question = this.questions[this.choice];
    if (question === undefined) {
      const weigh = (answers: readonly ShownAnswer[]) => this.#levelOf(answers);
      return [{ id: "rest", title: "The rest", about: "All others.", weigh }];
    }
    return question.names.map((name, option) => ({
      id: `rest-${option}`,
      title: toTitle(name),
      about: `Of the others, those with this ${question.title.toLowerCase()}.`,
      weigh: (answers) => (answers[this.choice]?.value === option ? this.#levelOf(answers) : null),
    }));
  }
}

const withoutAnswer: Section = {
  id: "no-answer",
  title: "Without an answer",
  about: "The same command again asks for what is missing, but not for mails refused as too long.",
};

/** A question, its index, and its options that name a deadline. */
interface DeadlineQuestion extends ShownQuestion {
  readonly at: number;
  readonly options: readonly number[];
}

/** Returns the options that name a deadline; of levels also those above the first that does. */
function deadlinesIn({ form }: ShownQuestion, { criteria = {} }: Question): number[] {
  if (form === "probability") return [];
  const speaks = Object.entries(criteria).map(([name, text]) =>
    speaksOfDeadline(`${form === "option" ? name : ""} ${toText(text)}`.replaceAll("_", " ")),
  );
  const rest = form === "number" && speaks.includes(true) ? speaks.indexOf(true) : speaks.length;
  return [...speaks.keys()].filter((at) => speaks[at] === true || at > rest);
}

function describeDeadlines({ title, form, names, options }: DeadlineQuestion): string {
  const words = options.map((option) => names[option]);
  return `${title.toLowerCase()} ${form === "number" ? `“${words[0]}” or higher` : words.join(", ")}`;
}

function isDeadline(answer: ShownAnswer | undefined, { form, options }: DeadlineQuestion): boolean {
  if (answer === undefined) return false;
  const { value, shares } = answer;
  const likeliest = form === "option" ? value : shares.indexOf(Math.max(...shares));
  const share = options.reduce((sum, option) => sum + (shares[option] ?? 0), 0);
  // As floating-point numbers, some sums of 0.5 are less than 0.5.
  return options.includes(likeliest) || share >= YES - 1e-9;
}

function speaksOfDeadline(text: string): boolean {
  return /\b(?:deadline|reminder|due date)/i.test(text);
}

function toShown({ id, short }: AskedQuestion, { type, criteria = {} }: Question): ShownQuestion {
  const { form } = short;
  if (form === "distribution") throw new TypeError(`The report cannot show ${type} questions.`);
  const names = {
    option: Object.keys(criteria),
    number: Object.values(criteria).map((level) => labelOf(toText(level))),
    probability: [],
  };
  return { id, title: toTitle(id), type, form, names: names[form].map(toPrintable) };
}

// A level is a label and a situation, `high: needs action`, or one sentence.
function labelOf(level: string): string {
  const [label = ""] = level.split(":", 1);
  return label.length <= 24 ? label : `${level.slice(0, 23)}…`;
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns a name as a heading: `brand_deal` is "Brand deal". */
function toTitle(name: string): string {
  const words = toPrintable(name)
    .replaceAll("_", " ")
    .replace(/(?<=[\p{Ll}\d])\p{Lu}/gu, (letter) => ` ${letter.toLowerCase()}`);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
