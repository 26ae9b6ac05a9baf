import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { boolean, choice, createEvaluator, cutText, type Evaluator } from "evaluator-client";

/** The fields of the event `issues: opened` that the action uses. */
interface IssueEvent {
  readonly issue: { readonly number: number; readonly title: string; readonly body: string | null };
  readonly repository: { readonly full_name: string };
}

/** Sets labels on an issue. */
type AddLabels = (path: string, labels: readonly string[]) => Promise<void>;

const questions = {
  kind: choice("What kind of issue is this?", {
    bug: "something does not work as it is documented",
    feature: "asks for something new, or for a change",
    question: "asks how something is done",
    other: "none of the above, or too little is said",
  }),
  reproducible: boolean("Does it say what to do to see the problem?"),
  security: boolean("Does it describe a weakness that an attacker may use?"),
};

/**
 * Reads an issue and sets at most three labels, all from a fixed list: the text is a stranger's, and
 * may try to steer the answer. Nothing is closed, answered or assigned.
 */
export async function triageIssue(
  { issue, repository }: IssueEvent,
  { evaluator, addLabels }: { evaluator: Evaluator; addLabels: AddLabels },
): Promise<readonly string[]> {
  const { title, body } = issue;
  const state = { title: cutText(title, 500), body: cutText(body ?? "", 20_000) };
  const { answers } = await evaluator.evaluate({ state, questions });
  const { choice: kind, probabilities } = answers.kind;
  const labels: string[] = [];
  if (kind !== "other" && probabilities[kind] >= 0.6) labels.push(`kind: ${kind}`);
  if (kind === "bug" && answers.reproducible.probability < 0.5) labels.push("needs: steps");
  // A missed weakness costs more than an unnecessary review.
  if (answers.security.probability > 0.3) labels.push("look: security");
  if (labels.length === 0) labels.push("needs: triage");
  await addLabels(`/repos/${repository.full_name}/issues/${issue.number}/labels`, labels);
  return labels;
}

async function main(): Promise<void> {
  const { GITHUB_EVENT_PATH = "", GITHUB_TOKEN, GITHUB_API_URL } = process.env;
  const event = JSON.parse(await readFile(GITHUB_EVENT_PATH, "utf8")) as IssueEvent;
  const addLabels: AddLabels = async (path, labels) => {
    const response = await fetch(`${GITHUB_API_URL}${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${GITHUB_TOKEN}`, "Content-Type": "application/json" },
      body: JSON.stringify({ labels }),
    });
    if (!response.ok) throw new Error(`Setting the labels failed with ${response.status}.`);
  };
  const labels = await triageIssue(event, { evaluator: createEvaluator(), addLabels });
  process.stdout.write(`${labels.join(", ")}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
