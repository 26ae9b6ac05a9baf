import { EvaluatorError } from "../errors.ts";
import type { Evaluator } from "../evaluator.ts";
import { quietly } from "../logger.ts";
import { checkOptions, optionsNamed, rejectOption } from "../options.ts";
import { quoteName } from "../questions/json.ts";
import { type Answer, type Question, questionKinds, type Questions } from "../questions/kinds.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import {
  type Bound,
  type Bounds,
  parseBounds,
  type PromiseArtifact,
  listShares,
} from "./bounds.ts";
import { evaluateSettled, type SettledAnswer } from "./evaluate-settled.ts";

/** What an answer has to be: `yes`, `no`, an option, the index of a level, or one of several. */
export type Requirement = { readonly is: string | readonly string[] } & (
  | { /** The least probability, 0 to 1. */ readonly atLeast: number }
  | { /** An artifact whose promise the answer has to keep. */ readonly promise: PromiseArtifact }
);

/** Options of {@link gate}. */
export interface GateOptions<TQuestions extends Questions> {
  readonly questions: TQuestions;
  /** The requirement of each question; all have to hold. */
  readonly approve: { readonly [TId in keyof TQuestions]: Requirement };
  /** The longest wait for the answers, in milliseconds. @default 10000 */
  readonly deadlineMs?: number | undefined;
  /** Receives one line for each tool call, without its input. @default none */
  readonly log?: ((logLine: string) => void) | undefined;
}

/** A call of a tool, as `ai`, MCP and agents have it. */
export interface ToolCall {
  /** The name of the tool. */
  readonly tool: string;
  /** The arguments, a JSON value; the model reads them. */
  readonly input: unknown;
  /** What else the model should know, such as the user's task or the time. */
  readonly context?: unknown;
}

/** Whether a tool call may run. */
export interface GateVerdict {
  /** Whether it may run: all requirements hold. */
  readonly approved: boolean;
  /** `denied`: an answer is surely another one. `undecided`: unsure, refused, failed or late; ask a person. */
  readonly status: "approved" | "denied" | "undecided";
  /** The reason, without the input. */
  readonly reason: string;
  /** US dollars, or null if unknown. */
  readonly costUsd: number | null;
}

/**
 * Makes a function that asks whether a tool call may run. It is closed by default and never throws: after a
 * failure, a refusal or its deadline, and if an answer is unsure, the call is not approved.
 *
 * @throws {ConfigurationError} when an option is wrong.
 * @example
 * ```ts
 * const mayRun = gate(evaluator, {
 *   questions: { harmless: boolean("Is this tool call harmless and part of the task?") },
 *   approve: { harmless: { is: "yes", atLeast: 0.95 } },
 *   log: console.error,
 * });
 * const { approved, reason } = await mayRun({ tool: "shell", input: { command: "ls" } });
 * ```
 */
export function gate<const TQuestions extends Questions>(
  evaluator: Pick<Evaluator, "evaluate">,
  options: GateOptions<TQuestions>,
): (call: ToolCall, options?: { readonly signal?: AbortSignal }) => Promise<GateVerdict> {
  checkOptions(optionsNamed("questions", "approve", "deadlineMs", "log"), options);
  const { deadlineMs = 10_000, log } = options;
  const questions: Questions = options.questions;
  const requirements: Readonly<Record<string, Requirement>> = { ...options.approve };
  const bounds = listBounds(requirements, questions);
  const decideCall = async (
    call: ToolCall,
    signal: AbortSignal | undefined,
  ): Promise<Omit<GateVerdict, "approved">> => {
    try {
      const { tool, input, context } = call;
      const state = { tool, input, ...(context !== undefined && { context }) } as object;
      const request = { state, questions } as EvaluationRequest;
      const settledEvaluation = await evaluateSettled(evaluator, request, {
        bounds,
        deadlineMs,
        signal,
      });
      const { costUsd } = settledEvaluation;
      const findings = Object.entries(questions).map(([questionId, question]) => {
        const requirement = requirements[questionId] as Requirement;
        return toFinding(
          questionId,
          { question, requirement },
          settledEvaluation.answers[questionId] as SettledAnswer<Answer>,
        );
      });
      const deniedFinding = findings.find(({ status }) => status === "denied");
      const undecidedFinding = findings.find(({ status }) => status === "undecided");
      const { status } = deniedFinding ?? undecidedFinding ?? { status: "approved" as const };
      const telling = findings.filter((finding) => finding.status === status);
      return { status, reason: telling.map(({ reason }) => reason).join("; "), costUsd };
    } catch (evaluationError) {
      return { status: "undecided", reason: errorName(evaluationError), costUsd: null };
    }
  };
  return async (call, { signal } = {}) => {
    const verdict = await decideCall(call, signal);
    const { status, reason, costUsd } = verdict;
    const priceText = costUsd === null ? "" : `, $${costUsd.toPrecision(2)}`;
    const { tool } = Object(call) as Partial<ToolCall>;
    quietly({ log }, "log", `gate: ${quoteName(`${tool}`)} ${status}: ${reason}${priceText}`);
    return { approved: status === "approved", ...verdict };
  };
}

/** Returns the bounds of requirements. @throws ConfigurationError if one is missing or does not fit its question. */
function listBounds(
  requirements: Readonly<Record<string, Requirement>>,
  questions: Questions,
): Bounds {
  const questionIds = Object.keys(questions);
  const isAsked = (questionId: string) => Object.hasOwn(questions, questionId);
  const unknown = Object.keys(requirements).find((id) => !isAsked(id));
  if (unknown !== undefined) rejectOption(`approve.${unknown}`, "is for no question");
  if (questionIds.length === 0)
    rejectOption("questions", "has no question; nothing would be checked");
  const bounds = questionIds.map((questionId): [string, Bound] => {
    const requirement = Object.hasOwn(requirements, questionId)
      ? requirements[questionId]
      : undefined;
    if (requirement === undefined) rejectOption(`approve.${questionId}`, "is missing");
    const answerNames = listNames(questions[questionId] as Question);
    const unknownName = [requirement.is]
      .flat()
      .find((answerName) => !answerNames.includes(answerName));
    if (unknownName !== undefined || [requirement.is].flat().length === 0)
      rejectOption(
        `approve.${questionId}.is`,
        `is none of ${answerNames.map(quoteName).join(", ")}`,
      );
    if ("promise" in requirement) return [questionId, { promise: requirement.promise }];
    return [questionId, { below: requirement.atLeast }];
  });
  return parseBounds(Object.fromEntries(bounds));
}

function listNames(question: Question): readonly string[] {
  const questionKind = questionKinds[question.type];
  const isYesNo = questionKind.values(question).some(({ form }) => form === "probability");
  return isYesNo ? ["yes", "no"] : questionKind.keys(question);
}

interface Finding {
  readonly status: GateVerdict["status"];
  readonly reason: string;
}

function toFinding(
  questionId: string,
  { question, requirement }: { readonly question: Question; readonly requirement: Requirement },
  settledAnswer: SettledAnswer<Answer>,
): Finding {
  const quotedName = quoteName(questionId);
  if (settledAnswer.status === "refused")
    return { status: "undecided", reason: `${quotedName} was refused` };
  const { shares } = listShares(question, settledAnswer.answer);
  const sureness = Math.max(...Object.values(shares));
  const surestActs = Object.keys(shares).filter(
    (candidateAct) => shares[candidateAct] === sureness,
  );
  const answerText = `${quotedName} is ${surestActs.join(" or ")} (${sureness.toFixed(2)})`;
  if (settledAnswer.status === "unsure")
    return { status: "undecided", reason: `${answerText}, which is unsure` };
  const approvedActs = new Set([requirement.is].flat());
  const fitting = surestActs.filter((act) => approvedActs.has(act));
  if (fitting.length === 0) return { status: "denied", reason: answerText };
  if (fitting.length < surestActs.length)
    return { status: "undecided", reason: `${answerText}, a tie` };
  return {
    status: "approved",
    reason: `${answerText}${describePromise(questionId, requirement, surestActs)}`,
  };
}

function describePromise(
  questionId: string,
  requirement: Requirement,
  approvedActs: readonly string[],
): string {
  if (!("promise" in requirement)) return "";
  const promisedThreshold = requirement.promise.thresholds.find(
    ({ question, action, these }) =>
      question === questionId &&
      these === undefined &&
      (action === "top" || approvedActs.includes(action)),
  );
  const { maxRisk, confidence } = promisedThreshold ?? {};
  if (maxRisk === undefined || confidence === undefined) return "";
  // Rounded to the weaker side: the sentence never claims more than was shown.
  const riskPercent = Math.ceil(1e6 * maxRisk - ROUNDING) / 1e4;
  const sureness = Math.floor(1e6 * confidence + ROUNDING) / 1e4;
  return `: at most ${riskPercent} % of such acts are wrong, with ${sureness} % confidence`;
}

/** The error of a product with a decimal fraction is far below. */
const ROUNDING = 1e-6;

/** The text of an error that is not ours may contain the input. */
function errorName(evaluationError: unknown): string {
  const { name = "Error", message } = Object(evaluationError) as Partial<Error>;
  return evaluationError instanceof EvaluatorError ? `${name}: ${message}` : name;
}
