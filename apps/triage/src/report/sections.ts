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
  const questions = askedQuestions(currentAskedQuestions).map((askedQuestion) =>
    toShown(askedQuestion, currentAskedQuestions[askedQuestion.id] as Question),
  );
  const score = computeIndex(questions, "number", "importance");
  const choice = computeIndex(questions, "option", "category");
  const yesRules = (isWanted: (questionId: string) => boolean) =>
    questions.flatMap((question, questionIndex) =>
      question.form === "probability" && isWanted(question.id)
        ? [yesRule(question, questionIndex)]
        : [],
    );
  const scamRules = yesRules((questionId) => questionId === WARNING);
  const otherRules = yesRules((questionId) => questionId !== WARNING);
  const needsRules = questions[score] === undefined ? [] : [needsRule(questions[score], score)];
  const lastRules = restRules(questions[choice], choice);
  const unsureRule: Rule = {
    id: "unsure",
    title: "Unsure",
    about: `Others with ${doubtRule}.`,
    takes: (answers) => listDoubts(answers, questions).length > 0,
  };
  const shownRules = [...needsRules, ...scamRules, ...otherRules, ...lastRules, unsureRule];
  const triedRules = [...scamRules, ...needsRules, ...otherRules, unsureRule, ...lastRules];
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
      return { section: shownRules.indexOf(rule), weight, isScam: scamRules.includes(rule) };
    },
  };
}

// The contract's question, else the first of its form.
function computeIndex(
  questions: readonly ShownQuestion[],
  form: ShownQuestion["form"],
  questionId: string,
): number {
  const namedIndex = questions.findIndex(
    (question) => question.id === questionId && question.form === form,
  );
  return namedIndex === -1 ? questions.findIndex((question) => question.form === form) : namedIndex;
}

function needsRule({ title, names }: ShownQuestion, questionIndex: number): Rule {
  const mostLevel = names.length - 1;
  const middleLevel = mostLevel / 2;
  return {
    id: "needs-you",
    title: "Needs you",
    about: `${title}: a mean above ${middleLevel} of ${mostLevel}, the most urgent first.`,
    takes: (answers) => (answers[questionIndex]?.value ?? 0) > middleLevel,
  };
}

function yesRule({ id, title }: ShownQuestion, questionIndex: number): Rule {
  const isWarning = id === WARNING;
  const advice = isWarning ? "; open and answer nothing" : "";
  return {
    id: `yes-${questionIndex}`,
    title: isWarning ? "Scams: do not touch" : id === "brand_deal" ? "Deals" : title,
    about: `${title} at ${YES} or more, the surest first${advice}.`,
    takes: (answers) => (answers[questionIndex]?.value ?? 0) >= YES,
    weight: questionIndex,
  };
}

function restRules(question: ShownQuestion | undefined, questionIndex: number): Rule[] {
  if (question === undefined) {
    return [{ id: "rest", title: "The rest", about: "All others.", takes: () => true }];
  }
  return question.names.map((optionName, optionIndex) => ({
    id: `rest-${optionIndex}`,
    title: toTitle(optionName),
    about: `Others with this ${question.title.toLowerCase()}.`,
    takes: (answers) => answers[questionIndex]?.value === optionIndex,
  }));
}

const withoutAnswer: Section = {
  id: "no-answer",
  title: "Without an answer",
  about: "The same command asks for missing answers, not for mails refused as too long.",
};

function toShown({ id, short }: AskedQuestion, { type, criteria = {} }: Question): ShownQuestion {
  const { form } = short;
  const namesByForm = {
    option: Object.keys(criteria),
    number: Object.values(criteria).map((levelText) => toLabel(toText(levelText))),
    probability: [],
  };
  return { id, title: toTitle(id), type, form, names: namesByForm[form].map(toPrintable) };
}

// A level is a label and a situation, `high: needs action`, or one sentence.
function toLabel(levelText: string): string {
  const [labelText = ""] = levelText.split(":", 1);
  return labelText.length <= 24 ? labelText : `${levelText.slice(0, 23)}…`;
}

function toText(levelValue: unknown): string {
  return typeof levelValue === "string" ? levelValue : JSON.stringify(levelValue);
}

/** Returns a name as a heading: `brand_deal` is "Brand deal". */
function toTitle(rawName: string): string {
  const titleWords = toPrintable(rawName)
    .replaceAll("_", " ")
    .replace(/(?<=[\p{Ll}\d])\p{Lu}/gu, (upperLetter) => ` ${upperLetter.toLowerCase()}`);
  return titleWords.slice(0, 1).toUpperCase() + titleWords.slice(1);
}
