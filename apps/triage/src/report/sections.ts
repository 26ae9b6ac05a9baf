import type { Question, Questions } from "evaluator-client";
import { toPrintable } from "evaluator-kit";
import { type AskedQuestion, askedQuestions } from "evaluator-runs/source";
import { doubtRule, listDoubts, type ShownAnswer, type ShownQuestion, YES } from "./mail-row.ts";

type Answers = readonly ShownAnswer[];

interface Section {
  readonly id: string;
  readonly title: string;
  /** Describes the rule that puts a mail in it. */
  readonly about: string;
}

interface Rule extends Section {
  readonly takes: (answers: Answers) => boolean;
  /** The index of the question that sorts, the highest value first. @default the importance */
  readonly weight?: number;
}

/** The id of the question whose yes warns of a mail. */
const WARNING = "scam";

/** The sections of a list of mails; a mail belongs to the first section whose rule takes it. */
export type Sections = ReturnType<typeof toSections>;

/** Returns the sections of a list of mails about which some questions were asked. */
export function toSections(currentAskedQuestions: Questions) {
  const questions = askedQuestions(currentAskedQuestions).map((one) =>
    toShown(one, currentAskedQuestions[one.id] as Question),
  );
  const score = computeIndex(questions, "number", "importance");
  const choice = computeIndex(questions, "option", "category");
  const yesRules = (isWanted: (id: string) => boolean) =>
    questions.flatMap((question, at) =>
      question.form === "probability" && isWanted(question.id) ? [yesRule(question, at)] : [],
    );
  const scams = yesRules((id) => id === WARNING);
  const others = yesRules((id) => id !== WARNING);
  const needs = questions[score] === undefined ? [] : [needsRule(questions[score], score)];
  const rest = restRules(questions[choice], choice);
  const unsure: Rule = {
    id: "unsure",
    title: "Unsure",
    about: `Of the others, those with ${doubtRule}.`,
    takes: (answers) => listDoubts(answers, questions).length > 0,
  };
  const shownRules = [...needs, ...scams, ...others, ...rest, unsure];
  const triedRules = [...scams, ...needs, ...others, unsure, ...rest];
  return {
    /** In the order in which they are shown. */
    sections: [...shownRules, withoutAnswer] satisfies Section[] as readonly Section[],
    questions,
    /** The index of the question about importance; -1 without one. */
    score,
    /** The index of the question whose options sort the rest; -1 without one. */
    choice,
    /** Returns the section of a mail and its weight there; `answers` is null without an answer. */
    rankOf(answers: Answers | null) {
      const rule = answers === null ? undefined : triedRules.find(({ takes }) => takes(answers));
      if (rule === undefined) return { section: shownRules.length, weight: 0, isScam: false };
      const weight = answers?.[rule.weight ?? score]?.value ?? 0;
      return { section: shownRules.indexOf(rule), weight, isScam: scams.includes(rule) };
    },
  };
}

// The contract's question, else the first of its form.
function computeIndex(
  all: readonly ShownQuestion[],
  form: ShownQuestion["form"],
  id: string,
): number {
  const namedIndex = all.findIndex((question) => question.id === id && question.form === form);
  return namedIndex === -1 ? all.findIndex((question) => question.form === form) : namedIndex;
}

function needsRule({ title, names }: ShownQuestion, at: number): Rule {
  const most = names.length - 1;
  const middle = most / 2;
  return {
    id: "needs-you",
    title: "Needs you",
    about: `${title} above the middle of its levels: a mean above ${middle} of ${most}; the most urgent first.`,
    takes: (answers) => (answers[at]?.value ?? 0) > middle,
  };
}

function yesRule({ id, title }: ShownQuestion, at: number): Rule {
  const isWarning = id === WARNING;
  const advice = isWarning ? "; open and answer nothing in them" : "";
  return {
    id: `yes-${at}`,
    title: isWarning ? "Scams: do not touch" : id === "brand_deal" ? "Deals" : title,
    about: `${title} at ${YES} or more, the surest first${advice}.`,
    takes: (answers) => (answers[at]?.value ?? 0) >= YES,
    weight: at,
  };
}

function restRules(question: ShownQuestion | undefined, at: number): Rule[] {
  if (question === undefined) {
    return [{ id: "rest", title: "The rest", about: "All others.", takes: () => true }];
  }
  return question.names.map((name, option) => ({
    id: `rest-${option}`,
    title: toTitle(name),
    about: `Of the others, those with this ${question.title.toLowerCase()}.`,
    takes: (answers) => answers[at]?.value === option,
  }));
}

const withoutAnswer: Section = {
  id: "no-answer",
  title: "Without an answer",
  about: "The same command again asks for missing answers, but not for mails refused as too long.",
};

function toShown({ id, short }: AskedQuestion, { type, criteria = {} }: Question): ShownQuestion {
  const { form } = short;
  const names = {
    option: Object.keys(criteria),
    number: Object.values(criteria).map((level) => toLabel(toText(level))),
    probability: [],
  };
  return { id, title: toTitle(id), type, form, names: names[form].map(toPrintable) };
}

// A level is a label and a situation, `high: needs action`, or one sentence.
function toLabel(level: string): string {
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
