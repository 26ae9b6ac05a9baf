import type { Content } from "../questions/content.ts";
import type { EvaluationInput, QuestionInput } from "../questions/question.ts";

/** A question as a chat prompt asks it, and how its options share out to labels. */
interface AskedPrompt {
  readonly input: EvaluationInput;
  /** Each label with the options, levels or `yes` and `no` it stands for. */
  readonly labels: readonly { readonly label: string; readonly stands: readonly string[] }[];
}

/** The id under which the one question of a prompt is judged. */
export const promptQuestion = "asked";

const stateStart = "\nSTATE\n";
const stateEnd = "\nEND OF STATE\n";
const proposal = /^Is the answer to this question (yes|no)\?/m;

/** Returns what a prompt of labelled options asks, or null when it is another kind of prompt. */
export function readPrompt(prompt: string): AskedPrompt | null {
  const [, afterStart] = splitOnce(prompt, stateStart);
  const [stateText, asked] = splitOnce(afterStart, stateEnd);
  const [, question] = splitOnce(asked, "Question: ");
  if (question === "") return null;
  const state = readState(stateText);
  const [instructions] = splitOnce(question, "\n\n");
  const proposed = proposal.exec(asked)?.[1];
  if (proposed !== undefined) return booleanPrompt(state, instructions, proposed);
  const lines = [...asked.matchAll(/^(\w{1,3})\) (.*)$/gm)].map(([, label = "", text = ""]) => {
    return { label, text };
  });
  return lines.length === 0 ? null : listPrompt(state, instructions, lines);
}

function booleanPrompt(state: Content, instructions: string, proposed: string): AskedPrompt {
  const criteria = { true: null, false: null };
  const [same, other] = proposed === "yes" ? ["yes", "no"] : ["no", "yes"];
  return {
    input: inputOf(state, { type: "boolean", instructions, criteria }),
    labels: [
      { label: "yes", stands: [same] },
      { label: "no", stands: [other] },
    ],
  };
}

function listPrompt(
  state: Content,
  instructions: string,
  lines: readonly { label: string; text: string }[],
): AskedPrompt {
  const isScore = /^\d$/.test(lines[0]?.label ?? "") && lines.length <= 10;
  if (isScore) {
    const criteria = lines.map(({ text }) => text);
    const labels = lines.map(({ label }, level) => ({ label, stands: [String(level)] }));
    return { input: inputOf(state, { type: "score", instructions, criteria }), labels };
  }
  const options = lines.flatMap(({ text }) => text.split(" | ").map(readOption));
  const isNamed = new Set(options.map(({ name }) => name)).size === options.length;
  const nameOf = (text: string) => (isNamed ? readOption(text).name : text);
  const labels = lines.map(({ label, text }) => ({ label, stands: text.split(" | ").map(nameOf) }));
  const criteria = Object.fromEntries(
    options.map(({ name, text, description }) => (isNamed ? [name, description] : [text, null])),
  );
  return { input: inputOf(state, { type: "choice", instructions, criteria }), labels };
}

/** Splits `name: description`. */
function readOption(text: string) {
  const [name, description] = splitOnce(text, ":");
  return { text, name, description: description.trim() || null };
}

function inputOf(state: Content, question: QuestionInput): EvaluationInput {
  return { state, questions: { [promptQuestion]: question } };
}

function readState(text: string): Content {
  try {
    return JSON.parse(text) as Content;
  } catch {
    return text;
  }
}

function splitOnce(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}
