import { CliError, parseJson, printable, readTextFile, withRest } from "evaluator-kit";
import { printCounted } from "evaluator-runs/commands";
import { z } from "zod";

const actions = ["archive", "junk", "move", "keyword", "flag", "read"] as const;
const actionWords = "archive, junk, move FOLDER, keyword NAME, flag or read";
// An atom of IMAP (RFC 9051) without a backslash, so that it is no system flag.
const keywordForm = /^(?:(?![(){%*"\\\]])[!-~]){1,100}$/;

/** Returns the action of a rule with its folder or keyword, or the problem with it. */
export function parseAction(actionText: string) {
  const [actionWord, ...nameWords] = actionText.split(" ");
  const targetName = nameWords.join(" ");
  const action = actions.find((knownAction) => knownAction === actionWord);
  const hasName = action === "move" || action === "keyword";
  if (action === undefined || hasName !== (targetName !== "")) {
    return printable`"${actionText}" is not an action; use ${actionWords}`;
  }
  if (action === "keyword" && !keywordForm.test(targetName)) {
    return printable`"${targetName}" is not a keyword; use letters, digits, -, _ and $`;
  }
  return { action, target: hasName ? targetName : null };
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
  const noteLines = Array.from(
    Map.groupBy(notes, ({ why }) => why),
    ([why, groupNotes]) => {
      const mailIds = groupNotes.map(({ id }) => id);
      const idList = withRest(mailIds, IDS_SHOWN).join(", ");
      return (
        printable`Note on ${printCounted(groupNotes.length, "mail")}: ${why}: ${idList}` + "\n"
      );
    },
  );
  return noteLines.join("");
}

/** Reads a plan. @throws CliError that names the first broken line and its problem. */
export async function readPlan(planPath: string): Promise<PlanLine[]> {
  const planText = await readTextFile(
    planPath,
    "Make one: evaluator-triage plan FILE --rules RULES",
  );
  const planLines = new Map<string, PlanLine>();
  for (const [lineIndex, lineJson] of planText.split("\n").entries()) {
    if (lineJson.trim() === "") continue;
    const { data, error } = lineSchema.safeParse(parseJson(lineJson));
    const problem = data === undefined ? describeIssue(error) : problemIn(data, planLines);
    if (data !== undefined && problem === null) planLines.set(toMailKey(data), data);
    else {
      const linePlace = printable`Line ${String(lineIndex + 1)} of ${planPath} cannot be used: ${problem ?? ""}`;
      throw new CliError(`${linePlace}. Remove the line or plan again.`);
    }
  }
  return [...planLines.values()];
}

function describeIssue({ issues: [firstIssue] }: z.ZodError): string {
  const [fieldName] = firstIssue?.path ?? [];
  if (fieldName === undefined) return "it is not a JSON object";
  return `its field ${String(fieldName)} is missing or wrong`;
}

function problemIn(planLine: PlanLine, earlierLines: ReadonlyMap<string, PlanLine>): string | null {
  const { action, target, account } = planLine;
  const parsedAction = parseAction(target === null ? action : `${action} ${target}`);
  const [firstLine = planLine] = earlierLines.values();
  if (typeof parsedAction === "string") return parsedAction;
  if (account !== firstLine.account) return `its account ${account} is not ${firstLine.account}`;
  return earlierLines.has(toMailKey(planLine)) ? "an earlier line has this mail" : null;
}

/** Returns a text that no two mails of an account share. */
export function toMailKey({ folder, uidvalidity, uid }: Omit<Place, "account">): string {
  return `${uidvalidity}:${uid}:${folder}`;
}
