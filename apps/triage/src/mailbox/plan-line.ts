import { CliError, parseJson, printable, readTextFile, withRest } from "evaluator-kit";
import { printCounted } from "evaluator-runs/commands";
import { z } from "zod";

const actions = ["archive", "junk", "move", "keyword", "flag", "read"] as const;
const words = "archive, junk, move FOLDER, keyword NAME, flag or read";
// An atom of IMAP (RFC 9051) without a backslash, so that it is no system flag.
const keywordForm = /^(?:(?![(){%*"\\\]])[!-~]){1,100}$/;

/** Returns the action of a rule with its folder or keyword, or the problem with it. */
export function parseAction(text: string) {
  const [word, ...rest] = text.split(" ");
  const name = rest.join(" ");
  const action = actions.find((one) => one === word);
  const hasName = action === "move" || action === "keyword";
  if (action === undefined || hasName !== (name !== "")) {
    return printable`a plan has no action "${text}"; use ${words}`;
  }
  if (action === "keyword" && !keywordForm.test(name)) {
    return printable`"${name}" is not a keyword; use letters, digits, -, _ and $`;
  }
  return { action, target: hasName ? name : null };
}

/** The place of a mail. */
export const placeSchema = z.object({
  /** The URL of the account, without a folder. */
  account: z.string(),
  folder: z.string().min(1),
  uidvalidity: z.int().min(1),
  uid: z.int().min(1),
});

export type Place = Readonly<z.infer<typeof placeSchema>>;

const lineSchema = placeSchema.extend({
  id: z.string(),
  modseq: z.string().nullable(),
  /** Without angle brackets. */
  messageId: z.string().nullable(),
  from: z.string(),
  subject: z.string(),
  action: z.enum(actions),
  target: z.string().nullable(),
  rule: z.string(),
  /** The promise of the act; null if there is none. */
  evidence: z.looseObject({}).nullable(),
});
/** One line of a plan: the action for one mail. */
export type PlanLine = z.infer<typeof lineSchema>;

/** Why a mail, given by its id, is left alone or keeps a change. */
export type Note = Readonly<Record<"id" | "why", string>>;

const IDS_SHOWN = 20;

/** Returns a line for each reason, with the ids of its mails. */
export function describeNotes(notes: readonly Note[]): string {
  const lines = Array.from(
    Map.groupBy(notes, ({ why }) => why),
    ([why, mails]) => {
      const ids = mails.map(({ id }) => id);
      const idList = withRest(ids, IDS_SHOWN).join(", ");
      return printable`Note on ${printCounted(mails.length, "mail")}: ${why}: ${idList}` + "\n";
    },
  );
  return lines.join("");
}

/** Reads a plan. @throws CliError that names the first broken line and its problem. */
export async function readPlan(path: string): Promise<PlanLine[]> {
  const text = await readTextFile(path, "To make one: evaluator-triage plan FILE --rules RULES");
  const lines = new Map<string, PlanLine>();
  for (const [index, json] of text.split("\n").entries()) {
    if (json.trim() === "") continue;
    const { data: line, error } = lineSchema.safeParse(parseJson(json));
    const problem = line === undefined ? describeIssue(error) : problemIn(line, lines);
    if (line !== undefined && problem === null) lines.set(toKey(line), line);
    else {
      const place = printable`Line ${String(index + 1)} of ${path} cannot be used: ${problem ?? ""}`;
      throw new CliError(`${place}. Remove the line, or make the plan again.`);
    }
  }
  return [...lines.values()];
}

function describeIssue({ issues: [issue] }: z.ZodError): string {
  const [field] = issue?.path ?? [];
  if (field === undefined) return "it is not JSON of one mail";
  return `its field ${String(field)} is missing or wrong`;
}

function problemIn(line: PlanLine, lines: ReadonlyMap<string, PlanLine>): string | null {
  const { action, target, account } = line;
  const parsedAction = parseAction(target === null ? action : `${action} ${target}`);
  const [first = line] = lines.values();
  if (typeof parsedAction === "string") return parsedAction;
  if (account !== first.account) return `its account ${account} is not ${first.account}`;
  return lines.has(toKey(line)) ? "a line before is about the same mail" : null;
}

/** Returns a text that no two mails of an account share. */
export function toKey({ folder, uidvalidity, uid }: Omit<Place, "account">): string {
  return `${uidvalidity}:${uid}:${folder}`;
}
